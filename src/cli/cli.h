/* cli.h - the only floor that prints errors and exits: the command table and what the commands
 * share. */
#ifndef DNN_CLI_CLI_H
#define DNN_CLI_CLI_H

#include "answer/stream/reading.h"
#include "base/json/json.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/commands.h"
#include "config/config.h"

int cli_main(int argc, char **argv);

/* Prints e as the contract says (or dnn.error/1 with --json, in place of the command's own object)
 * and a last line about the files on disk. Frees e->more. Returns the exit code. */
int cli_fail(const struct args *a, const struct err *e, const char *disk_note);
/* dnn.error/1. Allocates nothing that out has room for, but for an e with `more`. */
void cli_error_json(const struct err *e, struct json_out *out);
/* True: rows go to standard output, so that the object of --json belongs on standard error. */
bool cli_rows_out(const struct args *a);
const struct args *cli_running(void); /* of the command at work; NULL: none is */
/* The handler of mem_on_failure: ends the process (ends.c). */
void cli_out_of_memory(size_t bytes);
/* The handler of machine_on_stuck: ends the process (ends.c). */
void cli_stuck(const struct err *why);
/* Writes t to standard output, flushed and checked, and frees it: 0, 74 or 141. */
int cli_print(const struct args *a, struct text *t);
/* The object, last on standard output (standard error when rows went there). Closes and frees o. */
int cli_json(const struct args *a, struct json_out *o, bool to_stderr);
/* The options of compute_options and config_options; sets are a's. */
struct overrides cli_overrides(const struct args *a);
/* The options of reading_options. False: E10. */
bool cli_reading(const struct args *a, struct reading *r, struct err *e);
/* Loads CONFIG, the first positional, with the options of the command line; output: -o's, or NULL.
 * With --json warnings are kept for the object: the caller ends with warnings_drop. config_free.
 * NULL: e, and no warning is kept. */
struct config *cli_config(const struct args *a, const char *output, struct err *e);
int cli_progress(const struct args *a); /* enum progress_style */
/* Appends a file's name with another ending: leads.html of leads.dnn. */
void cli_renamed(const char *path, const char *ending, struct text *out);
/* cli_fail with "X is unchanged" or "nothing was written"; without a note when the output is a pipe
 * or a device, or e says that it is in place. */
int cli_fail_output(const struct args *a, const struct err *e, const char *output);

int version_run(bool json);

/* cmd_check.c: whether a setting is not at its default, and no job's backend that only follows
 * backend.name. */
bool cli_worth_telling(const struct config *c, size_t at);

#endif

/* help.h - the pages of `dnn help`, --help and the man page. */
#ifndef DNN_CLI_HELP_H
#define DNN_CLI_HELP_H

#include "base/text.h"
#include "cli/args.h"

void help_overview(struct text *out);
void help_command(const struct command *c, struct text *out);
/* Appends words, wrapped at 96 columns. indent: of the following lines. column: length of the first
 * line so far. */
void help_wrapped(struct text *out, const char *words, size_t indent, size_t column);
/* "--resume", "-o": true when a command has this option. */
bool help_is_option(const char *word);
/* The page of a command, topic, config key, option or error id. E10 with the nearest names. */
bool help_word(const char *word, struct text *out, struct err *e);

/* Appends a line for each page that has all the words, the best first. false: none has. */
bool help_search(const char *const *words, size_t count, struct text *out);

/* Topics: one page each, src/cli/pages/NAME.txt. */
size_t topic_count(void);
struct topic_name { char text[32]; };
struct topic_name topic_name(size_t i); /* i < topic_count() */
/* The name and the aliases, "drift, unseen"; mem_free. */
char *topic_names(size_t i);
/* The title, ended by a newline. */
const char *topic_title(size_t i);
/* Appends the page with its tables, without name and title. */
void topic_page(size_t i, struct text *out);
/* The number of the topic with this name or alias, in upper or lower case; topic_count(): none. */
size_t topic_find(const char *word);

/* The table that a line of a page stands for; false: it is no such line. */
bool help_table(const char *line, size_t length, struct text *out);
/* The effect of a signal, or (word "signals") of all; false: dnn does not handle it. */
bool help_signals(const char *word, struct text *out);
/* The error ids of a family, 12 for E12xx (-1: of all), a line each; false: it has none. */
bool help_errors(int family, struct text *out);
/* The exit codes (word "exit"), or the one with this number; false: no such code. */
bool help_exit(const char *word, struct text *out);

/* The manual pages dnn.1 and dnn-COMMAND.1 in the man macros. */
void help_man(struct text *out);
void help_man_command(const struct command *c, struct text *out);

#endif

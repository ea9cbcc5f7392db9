/* commands.h - the table of commands. */
#ifndef DNN_CLI_COMMANDS_H
#define DNN_CLI_COMMANDS_H

#include "cli/args.h"

extern const struct command *const commands[]; /* NULL-terminated, in the order of help */
const struct command *command_find(const char *name); /* NULL: there is none */

/* one file a command: cmd_NAME.c */
extern const struct command command_init, command_check, command_train, command_merge, command_cv,
    command_tune,
    command_predict, command_evaluate, command_explain, command_report, command_inspect,
    command_verify,
    command_gpucheck,
    command_bench,
    command_schema, command_completion, command_help;

#endif

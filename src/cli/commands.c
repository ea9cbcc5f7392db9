/* commands.c - the table of commands: one row a command, in the order of help. */
#include "cli/commands.h"

#include <string.h>

const struct command *const commands[] = {&command_init,
                                          &command_check,
                                          &command_train,
                                          &command_merge,
                                          &command_cv,
                                          &command_tune,
                                          &command_predict,
                                          &command_evaluate,
                                          &command_explain,
                                          &command_report,
                                          &command_inspect,
                                          &command_verify,
                                          &command_gpucheck,
                                          &command_bench,
                                          &command_schema,
                                          &command_completion,
                                          &command_help,
                                          NULL};

const struct command *command_find(const char *name)
{
    for (size_t i = 0; commands[i]; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

/* args.h - the command line as tables: one row an option, one row a command. Parser, --help,
 * completion and tests read them. */
#ifndef DNN_CLI_ARGS_H
#define DNN_CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum arg_flag { ARG_MANY = 1, ARG_INT = 2, ARG_SECONDS = 4, ARG_FILE = 8,
                ARG_READ = 16 /* the file is an input */, ARG_EMPTY = 32 /* "" is a value */,
                ARG_MAYBE = 64 /* its value follows "=", or it has none */,
                ARG_BEHIND = 128 /* with ARG_MAYBE: or in the next word, if MODEL and DATA come
                                  * before it, or MODEL does and --part is in the line */ };
struct arg_option {
    const char *name;          /* without "--"; NULL ends a table */
    char letter;               /* 0: none */
    const char *value;         /* "FILE"; NULL: a switch */
    const char *const *words;  /* allowed values, or NULL */
    unsigned flags;
    int64_t low, high;         /* of ARG_INT */
    const char *help;
};

enum command_flag {
    COMMAND_COMPUTES = 1, /* --backend --device --threads --batch-size */
    COMMAND_READS = 2,    /* --delimiter --decimal --encoding --quote */
    COMMAND_CONFIG = 4,   /* --set */
    COMMAND_JSON = 8,     /* --json */
    COMMAND_ROWS = 16     /* answers go to standard output, or to --output */
};
struct args;
struct command {
    const char *name, *usage, *summary, *examples,
        *notes; /* notes: paragraphs below the options, or NULL */
    const struct arg_option *options;                      /* its own */
    unsigned flags;                                        /* enum command_flag */
    struct { size_t least, most; } arguments;              /* the number of positionals */
    int (*run)(struct args *a);
    /* Called when a call to the device never comes back, on another thread than run's: prints the
     * report and returns the exit code. Negative, or NULL: as any failure. */
    int (*stuck)(const struct args *a, const struct err *why);
};

struct args {
    const struct command *command;
    const char **positionals;
    size_t positional_count;
    /* [value_count] the values of an option stand together, in their order */
    const struct arg_option **options;
    const char **values;
    size_t value_count;
    bool json, help;
    const char *output; /* of --output, known before the line is read, as json is */
    void *work;         /* of run, for stuck: a call may hang when all but the machine is done */
};
extern const struct arg_option common_options[], compute_options[], config_options[],
    reading_options[], json_options[];

/* The options of a command, its own ones first; NULL: there are no more. */
const struct arg_option *args_option(const struct command *c, size_t at);
/* The option --name of c, or NULL. */
const struct arg_option *args_find(const struct command *c, const char *name);
/* The value of --name, in a line that may be wrong elsewhere: "" for a switch, NULL when it is not
 * given. The value of another option does not count as --name. */
const char *args_ahead(const struct command *c, int argc, char **argv, const char *name);
/* The option of c that the word gives, or NULL, and the begin of its value in the word, or NULL. Of
 * several letters the last, or the first that takes a value. */
const struct arg_option *args_named(const struct command *c, const char *word, const char **text);
/* argv after the command's name. E10 with the nearest known option. */
bool args_parse(struct args *a, const struct command *c, int argc, char **argv, struct err *e);
/* argv[at] is an option that c does not have. E1003; its help explains the word: an argument, an
 * option of c (the nearest one, or the one that other programs call so), a key of the config (with
 * the whole line as it should be; for data in place of a config first `dnn init`), or another
 * command that has it. Always false. */
bool args_unknown(const struct command *c, int argc, char **argv, int at, struct err *e);
void args_free(struct args *a);
/* The last value given, NULL when not given ("" for a switch that is on). */
const char *args_value(const struct args *a, const char *name);
/* The place of the value of --name among the option's words. */
int args_word(const struct args *a, const char *name, int otherwise);
int64_t args_int(const struct args *a, const char *name, int64_t otherwise);
/* A number: *given is `value`, or NULL without the option. False: E10. */
bool args_number(const struct args *a, const char *name, double *value, const double **given,
                 struct err *e);
double args_seconds(const struct args *a, const char *name, double otherwise);
/* Values of an option that may stand many times; the list is that of a. */
const char **args_list(const struct args *a, const char *name, size_t *count);
/* The place of the word in a list that NULL ends; word NULL, or not in it: otherwise. */
int args_place(const char *const *words, const char *word, int otherwise);
/* True: the word is one of a list with blanks between. */
bool args_listed(const char *list, const char *word);

#endif

/* held_rows.c - see held_rows.h. */
#include "cli/held_rows.h"

#include "base/file/file.h"
#include "base/mem.h"
#include "base/process/shell.h"
#include "base/text.h"
#include "cli/cli.h"

const char *const part_option_words[] = {"train", "valid", "test", NULL};

static bool find_config(const struct args *a, struct config **beside, struct err *e)
{
    struct text path = {0};
    cli_renamed(a->positionals[0], ".json", &path); /* a model holds no path */
    bool good = file_exists(path.data);
    if (!good) {
        err_set(e, ERR_USAGE, "--part takes rows of the training file, and a model does not say "
                              "where that is");
        err_help(e, "name it: dnn %s %s TRAIN.csv --part %s; or keep the config beside the model, "
                    "as \"%s\"", a->command->name, shell_file(a->positionals[0]),
                 args_value(a, "part"), path.data);
    } else {
        *beside = config_load(path.data, NULL, e);
        good = *beside != NULL;
    }
    text_free(&path);
    return good;
}

bool held_rows_read(const struct args *a, bool needs, struct config **beside,
                    struct rows_request *q, struct err *e)
{
    static const char *const reading[] = {"delimiter", "decimal", "encoding", "quote",
                                          "no-header", "columns", "io"};
    q->part = args_value(a, "part");
    q->inputs = (char *const *)(const void *)(a->positionals + 1);
    q->input_count = a->positional_count - 1;
    for (size_t i = 0; q->part && i < sizeof reading / sizeof *reading; i++)
        if (args_value(a, reading[i]))
            return err_set(e, ERR_OPTION_CONFLICT, "--part reads the training file as the training "
                           "did: without --%s", reading[i]);
    if (!cli_reading(a, &q->reading, e))
        return false;
    if (q->input_count || (!q->part && !needs))
        return true;
    if (!q->part) {
        err_set(e, ERR_USAGE, "`dnn %s` needs more arguments", a->command->name);
        return err_expected(e, "dnn %s", a->command->usage);
    }
    if (!find_config(a, beside, e))
        return false;
    q->inputs = (*beside)->data.train.items;
    q->input_count = (*beside)->data.train.count;
    return true;
}

static bool are_there(const struct opt_strings *files, struct text *why)
{
    for (size_t i = 0; i < files->count; i++)
        if (!file_exists(files->items[i]) || file_once(files->items[i])) {
            text_printf(why, "the config beside the model names \"%s\", which %s",
                        text_quote_z(files->items[i]),
                        file_exists(files->items[i]) ? "can be read only once" : "is not there");
            return false;
        }
    return files->count > 0;
}

bool held_rows_default(const struct args *a, struct config **beside, struct rows_request *q,
                       struct text *why)
{
    struct err e = {0};
    struct text path = {0};
    if (q->input_count || q->part)
        return false;
    cli_renamed(a->positionals[0], ".json", &path);
    if (file_exists(path.data))
        *beside = config_load(path.data, NULL, &e);
    else
        text_printf(why, "no config stands beside the model as \"%s\"", text_quote_z(path.data));
    if (!*beside && e.id != ERR_NONE)
        text_printf(why, "\"%s\" cannot be taken as its config: %s", text_quote_z(path.data),
                    e.what);
    mem_free(e.more);
    text_free(&path);
    if (!*beside)
        return false;
    const struct data_options *d = &(*beside)->data;
    const struct opt_strings *files = d->test.count ? &d->test : &d->train;
    if (!are_there(files, why))
        return false;
    q->inputs = files->items;
    q->input_count = files->count;
    q->part = d->test.count ? NULL : part_option_words[2];
    return true;
}

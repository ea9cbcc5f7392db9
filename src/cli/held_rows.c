/* held_rows.c - see part_rows.h. */
#include "cli/held_rows.h"

#include <string.h>

#include "base/file/file.h"
#include "base/mem.h"
#include "base/process/shell.h"
#include "base/text.h"

const char *const part_option_words[] = {"train", "valid", "test", NULL};

/* The config beside the model: its name with the ending .json. A model holds no path. */
static void put_config_path(const struct args *a, struct text *path)
{
    const char *model = a->positionals[0], *slash = strrchr(model, '/'), *dot = strrchr(model, '.');
    size_t stem = dot && (!slash || dot > slash + 1) && dot > model ? (size_t)(dot - model)
                                                                    : strlen(model);
    text_add(path, model, stem);
    text_put(path, ".json");
}

static bool find_config(const struct args *a, struct held_rows *r, struct err *e)
{
    struct text path = {0};
    put_config_path(a, &path);
    bool good = file_exists(path.data);
    if (!good) {
        err_set(e, ERR_USAGE, "--part takes rows of the training file, and a model does not say "
                              "where that is");
        err_help(e, "name it: dnn %s %s TRAIN.csv --part %s; or keep the config beside the model, "
                    "as \"%s\"", a->command->name, shell_file(a->positionals[0]),
                 args_value(a, "part"), path.data);
    } else {
        r->config = config_load(path.data, NULL, e);
        good = r->config != NULL;
    }
    text_free(&path);
    return good;
}

bool held_rows_read(const struct args *a, bool needs, struct held_rows *r, char *const **inputs,
                    size_t *count, const char **part, struct err *e)
{
    static const char *const reading[] = {"delimiter", "decimal", "encoding", "quote",
                                          "no-header", "columns", "io"};
    *part = args_value(a, "part");
    *inputs = (char *const *)(const void *)(a->positionals + 1);
    *count = a->positional_count - 1;
    for (size_t i = 0; *part && i < sizeof reading / sizeof *reading; i++)
        if (args_value(a, reading[i]))
            return err_set(e, ERR_OPTION_CONFLICT, "--part reads the training file as the training "
                           "did: without --%s", reading[i]);
    if (*count || (!*part && !needs))
        return true;
    if (!*part) {
        err_set(e, ERR_USAGE, "`dnn %s` needs more arguments", a->command->name);
        return err_expected(e, "dnn %s", a->command->usage);
    }
    if (!find_config(a, r, e))
        return false;
    *inputs = r->config->data.train.items;
    *count = r->config->data.train.count;
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

bool held_rows_default(const struct args *a, struct held_rows *r, char *const **inputs,
                       size_t *count, const char **part, struct text *why)
{
    struct err e = {0};
    struct text path = {0};
    if (*count || *part)
        return false;
    put_config_path(a, &path);
    if (file_exists(path.data))
        r->config = config_load(path.data, NULL, &e);
    else
        text_printf(why, "no config stands beside the model as \"%s\"", text_quote_z(path.data));
    if (!r->config && e.id != ERR_NONE)
        text_printf(why, "\"%s\" cannot be taken as its config: %s", text_quote_z(path.data),
                    e.what);
    mem_free(e.more);
    text_free(&path);
    if (!r->config)
        return false;
    const struct data_options *d = &r->config->data;
    const struct opt_strings *files = d->test.count ? &d->test : &d->train;
    if (!are_there(files, why))
        return false;
    *inputs = files->items;
    *count = files->count;
    *part = d->test.count ? NULL : part_option_words[2];
    return true;
}

void held_rows_free(struct held_rows *r)
{
    config_free(r->config);
    r->config = NULL;
}

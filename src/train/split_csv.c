/* split_csv.c - see split_csv.h. */
#include "train/split_csv.h"

#include <string.h>

#include "base/file/file.h"
#include "base/file/outfile.h"
#include "base/text.h"
#include "config/output.h"
#include "csv/field.h"
#include "table/encoder/cell.h"

bool split_csv_check(const struct config *c, const char *path, const char *model, struct err *e)
{
    if (file_same(path, model))
        return err_set(e, ERR_SAME_FILE, "the file of --split-csv is the model \"%s\"",
                       text_quote_z(path));
    return output_beside_rows(c, path, "--split-csv", e);
}

struct writing {
    const struct table *t;
    uint64_t row; /* of this list of files */
    struct outfile out;
    struct text text;
    bool opened;
};

static bool begin(void *owner, const struct binding *b, struct err *e)
{
    struct writing *w = owner;
    const struct schema *s = w->t->data->schema;
    (void)b;
    w->row = 0;
    if (w->opened)
        return true;
    w->opened = true;
    text_put(&w->text, "row");
    for (size_t i = 0; i < s->column_count; i++)
        if (s->columns[i].type == COLUMN_ID) {
            text_char(&w->text, ',');
            field_put(&w->text, s->columns[i].name, strlen(s->columns[i].name));
        }
    text_put(&w->text, ",part\n");
    return outfile_text(&w->out, &w->text, e);
}

static bool record(void *owner, const struct cell_where *where, uint64_t row)
{
    struct writing *w = owner;
    const struct schema *s = w->t->data->schema;
    text_printf(&w->text, "%llu", (unsigned long long)++w->row);
    for (size_t i = 0; i < s->column_count; i++) {
        if (s->columns[i].type != COLUMN_ID)
            continue;
        const struct csv_cell *c = cell_at(where->b, where->cells, where->record, i);
        text_char(&w->text, ',');
        if (c)
            field_put(&w->text, c->text, c->length);
    }
    text_printf(&w->text, ",%s\n",
                row == UINT64_MAX
                    ? ""
                    : part_words[w->t->split.part[sample_of(&w->t->data->samples, row)]]);
    return outfile_text(&w->out, &w->text, where->e);
}

bool split_csv_write(const char *path, const struct table *t, const struct data_options *o,
                     struct err *e)
{
    struct writing w = {.t = t};
    const struct dataset_visit visit = {&w, begin, record};
    if (!outfile_open(&w.out, path, e))
        return false;
    const bool good = outfile_end(&w.out, dataset_walk(t->data, o, &visit, e), e);
    text_free(&w.text);
    return good;
}

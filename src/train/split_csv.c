/* split_csv.c - see split_csv.h. */
#include "train/split_csv.h"

#include <string.h>

#include "base/file.h"
#include "base/outfile.h"
#include "base/text.h"
#include "config/output.h"
#include "table/cell.h"

#define WRITE_BYTES 65536

bool split_csv_check(const struct config *c, const char *path, const char *model, struct err *e)
{
    const struct opt_strings *lists[] = {&c->data.train, &c->data.valid};
    if (file_same(path, model))
        return err_set(e, ERR_SAME_FILE, "the file of --split-csv is the model \"%s\"",
                       text_quote_z(path));
    if (!output_apart(c, path, e) || !output_spares(path, e) || !output_probe(path, e))
        return false;
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < lists[k]->count; i++)
            if (!file_lasts(lists[k]->items[i])) {
                err_set(e, ERR_USAGE, "--split-csv reads the data a second time, and \"%s\" comes "
                                      "through a pipe", text_quote_z(lists[k]->items[i]));
                return err_help(e, "write the data to a file first");
            }
    return true;
}

struct writing {
    const struct table *t;
    const struct binding *b;
    uint64_t row; /* of this list of files */
    struct outfile out;
    struct text text;
    bool opened;
};

/* As RFC 4180 has it. */
static void put_cell(struct text *out, const char *text, size_t length)
{
    bool plain = true;
    for (size_t i = 0; plain && i < length; i++)
        plain = !strchr(",\"\r\n", text[i]);
    if (plain) {
        text_add(out, text, length);
        return;
    }
    text_char(out, '"');
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"')
            text_char(out, '"');
        text_char(out, text[i]);
    }
    text_char(out, '"');
}

static bool begin(void *owner, const struct binding *b, struct err *e)
{
    struct writing *w = owner;
    const struct schema *s = w->t->data->schema;
    (void)e;
    w->b = b;
    w->row = 0;
    if (w->opened)
        return true;
    w->opened = true;
    text_put(&w->text, "row");
    for (size_t i = 0; i < s->column_count; i++)
        if (s->columns[i].type == COLUMN_ID) {
            text_char(&w->text, ',');
            put_cell(&w->text, s->columns[i].name, strlen(s->columns[i].name));
        }
    text_put(&w->text, ",part\n");
    return true;
}

static bool flush(struct writing *w, size_t least, struct err *e)
{
    if (!w->text.length || w->text.length < least)
        return true;
    bool good = outfile_write(&w->out, w->text.data, w->text.length, e);
    text_clear(&w->text);
    return good;
}

static bool record(void *owner, const struct csv_cells *cells, size_t number, uint64_t row,
                   struct err *e)
{
    struct writing *w = owner;
    const struct schema *s = w->t->data->schema;
    text_printf(&w->text, "%llu", (unsigned long long)++w->row);
    for (size_t i = 0; i < s->column_count; i++) {
        if (s->columns[i].type != COLUMN_ID)
            continue;
        const struct csv_cell *c = cell_at(w->b, cells, number, i);
        text_char(&w->text, ',');
        if (c)
            put_cell(&w->text, c->text, c->length);
    }
    text_printf(&w->text, ",%s\n",
                row == UINT64_MAX
                    ? ""
                    : part_words[w->t->split.part[sample_of(&w->t->data->samples, row)]]);
    return flush(w, WRITE_BYTES, e);
}

bool split_csv_write(const char *path, const struct table *t, const struct data_options *o,
                     struct err *e)
{
    struct writing w = {.t = t, .out = {.fd = -1}};
    const struct dataset_visit visit = {&w, begin, record};
    if (!outfile_open(&w.out, path, e))
        return false;
    bool good = dataset_walk(t->data, o, &visit, e) && flush(&w, 0, e);
    if (good)
        good = outfile_commit(&w.out, e);
    else
        outfile_abort(&w.out);
    text_free(&w.text);
    return good;
}

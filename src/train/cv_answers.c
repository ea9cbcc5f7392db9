/* cv_answers.c - see cv_answers.h: the files are read again for their ids. */
#include "train/cv_answers.h"

#include <stdio.h>
#include <string.h>

#include "answer/answer_line.h"
#include "base/file.h"
#include "base/outfile.h"
#include "config/output.h"

#define WRITE_BYTES 65536

bool cv_answers_check(const struct config *c, const char *path, struct err *e)
{
    const struct opt_strings *lists[] = {&c->data.train, &c->data.valid};
    if (!output_apart(c, path, e) || !output_spares(path, e) || !output_probe(path, e))
        return false;
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < lists[k]->count; i++)
            if (!file_lasts(lists[k]->items[i])) {
                err_set(e, ERR_USAGE, "-o reads the data a second time, and \"%s\" comes through "
                                      "a pipe", text_quote_z(lists[k]->items[i]));
                return err_help(e, "write the data to a file first");
            }
    return true;
}

struct writing {
    const struct cv_answers *answers;
    const struct schema *schema;
    struct answer_line line;
    struct outfile out;
    struct text text;
    char fold[16];
    bool opened;
};

static bool begin(void *owner, const struct binding *b, struct err *e)
{
    struct writing *w = owner;
    if (w->opened)
        return answer_line_turn(&w->line, b, e);
    w->opened = true;
    if (!answer_line_open(&w->line, w->schema, ANSWER_ALONE, b, NULL, false, NULL, e))
        return false;
    w->line.column = "fold";
    w->line.cell = w->fold;
    for (size_t i = 0; i < w->line.cell_count; i++)
        if (strcmp(w->line.names[i], w->line.column) == 0) {
            err_set(e, ERR_CONFIG_COLUMNS, "the answers repeat the id column \"fold\", and have a "
                                           "column of their own of that name");
            return err_help(e, "rename it in the files, or give it the type \"ignore\"");
        }
    return answer_line_header(&w->line, b, &w->text, e);
}

static bool flush(struct writing *w, size_t least, struct err *e)
{
    bool good = w->text.length < least || !w->text.length ||
                outfile_write(&w->out, w->text.data, w->text.length, e);
    if (w->text.length >= least)
        text_clear(&w->text);
    return good;
}

static bool record(void *owner, const struct csv_cells *cells, size_t number, uint64_t row,
                   struct err *e)
{
    struct writing *w = owner;
    const struct cv_answers *a = w->answers;
    if (a->line && (row == UINT64_MAX || !a->line[row]))
        return true;
    w->fold[0] = '\0';
    if (row == UINT64_MAX || a->fold[row] == CV_NO_FOLD) {
        answer_line_null(&w->line, cells, number, &w->text);
    } else {
        const double *answer = a->answer + row * a->outputs;
        w->line.decision = &a->decision[a->fold[row]];
        snprintf(w->fold, sizeof w->fold, "%u", a->fold[row]);
        answer_line_add(&w->line, cells, number, answer, &w->text);
    }
    return flush(w, WRITE_BYTES, e);
}

bool cv_answers_write(const struct cv_answers *a, const char *path, const struct table *t,
                      const struct schema *s, const struct data_options *o, struct err *e)
{
    struct writing w = {.answers = a, .schema = s};
    const struct dataset_visit visit = {&w, begin, record};
    if (!outfile_open(&w.out, path, e))
        return false;
    bool good = dataset_walk(t->data, o, &visit, e) && flush(&w, 0, e);
    if (good)
        good = outfile_commit(&w.out, e);
    else
        outfile_abort(&w.out);
    answer_line_close(&w.line);
    text_free(&w.text);
    return good;
}

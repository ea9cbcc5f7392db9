/* cv_answers.c - see cv_answers.h: the files are read again for their ids. */
#include "train/cv_answers.h"

#include <stdio.h>
#include <string.h>

#include "answer/stream/answer_line.h"
#include "base/file/outfile.h"
#include "table/encoder/cell.h"

struct writing {
    const struct cv_answers *answers;
    const struct encoder *encoder;
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
    if (!answer_line_open(&w->line, w->encoder, w->answers->region, b, NULL, false, NULL, e))
        return false;
    w->line.column = "fold";
    w->line.cell = w->fold;
    for (size_t i = 0; i < w->line.cell_count; i++)
        if (strcmp(w->line.names[i], w->line.column) == 0) {
            err_set(e, ERR_CONFIG_COLUMNS, "the answers repeat the id column \"fold\", and have a "
                                           "column of their own of that name");
            return err_help(e, "rename it in the files, or give it the type \"ignore\"");
        }
    return answer_line_header(&w->line, b, &w->text, e) && outfile_text(&w->out, &w->text, e);
}

static bool record(void *owner, const struct cell_where *where, uint64_t row)
{
    struct writing *w = owner;
    const struct cv_answers *a = w->answers;
    if (a->line && (row == UINT64_MAX || !a->line[row]))
        return true;
    w->fold[0] = '\0';
    if (row == UINT64_MAX || a->fold[row] == CV_NO_FOLD) {
        answer_line_null(&w->line, where->cells, where->record, &w->text);
    } else {
        const double *answer = a->answer + row * a->outputs;
        w->line.decision = &a->decision[a->fold[row]];
        snprintf(w->fold, sizeof w->fold, "%u", a->fold[row]);
        answer_line_add(&w->line, where->cells, where->record, answer, &w->text);
        if (a->region == ANSWER_INTERVAL)
            answer_line_ends(&w->line, a->ends + 2 * row, &w->text);
        if (a->region == ANSWER_SET)
            answer_line_set(&w->line, &a->conformal[a->fold[row]], answer,
                            decision_label(w->line.decision, answer, a->outputs), &w->text);
    }
    return outfile_text(&w->out, &w->text, where->e);
}

bool cv_answers_write(const struct cv_answers *a, const char *path, const struct table *t,
                      const struct encoder *c, const struct data_options *o, struct err *e)
{
    struct writing w = {.answers = a, .encoder = c};
    const struct dataset_visit visit = {&w, begin, record};
    if (!outfile_open(&w.out, path, e))
        return false;
    const bool good = outfile_end(&w.out, dataset_walk(t->data, o, &visit, e), e);
    answer_line_close(&w.line);
    text_free(&w.text);
    return good;
}

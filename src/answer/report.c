/* report.c - see report.h. */
#include "answer/report.h"

#include <string.h>

#include "base/file/file.h"
#include "base/mem.h"
#include "base/file/tensorfile.h"

static bool reads_again(const struct report_request *q)
{
    bool again = true;
    for (size_t i = 0; i < q->rows.input_count; i++)
        again = again && !file_once(q->rows.inputs[i]);
    return again;
}

/* The rows, another time. */
static struct rows_request again(const struct report_request *q)
{
    struct rows_request rows = q->rows;
    rows.again = rows.strict = true;
    return rows;
}

static bool show_effects(const struct report_request *q, struct report *r, struct err *e)
{
    const char *only[REPORT_EFFECTS];
    const uint32_t all = r->columns.column_count;
    struct effects_request want = {.rows = again(q),
                                   .only = only,
                                   .only_count = all < REPORT_EFFECTS ? all : REPORT_EFFECTS,
                                   .quick = true};
    want.rows.part = NULL;
    for (size_t i = 0; i < want.only_count; i++)
        only[i] = r->columns.columns[i].unit->name;
    return effects_run(&want, &r->effects, e);
}

static bool explain(const struct report_request *q, struct report *r, struct err *e)
{
    const uint64_t columns = r->file->schema->column_count;
    const struct explain_request want = {.rows = again(q),
                                         .repeats = REPORT_REPEATS,
                                         .most_rows = REPORT_CELLS_MOST / columns + 1};
    r->explained = reads_again(q);
    return !r->explained || (explain_run(&want, &r->columns, e) && show_effects(q, r, e));
}

/* Columns to group by, as --by takes them. Returns their number. */
static size_t choose_groups(const struct report *r, struct text groups[REPORT_GROUPS])
{
    size_t count = 0;
    for (uint32_t i = 0; i < r->columns.column_count && count < REPORT_GROUPS; i++) {
        const struct importance *p = &r->columns.columns[i];
        const struct column *c = &r->file->schema->columns[p->unit->columns[0]];
        const struct vocab *values = r->file->encoders[0]->columns[p->unit->columns[0]].vocab;
        const bool few = c->type == COLUMN_CATEGORICAL && vocab_count(values) > 1 &&
                         vocab_count(values) <= REPORT_CATEGORIES;
        if (p->unit->count != 1 || !(p->interval.low > 0) || (!few && c->type != COLUMN_NUMERIC))
            continue;
        text_put(&groups[count], c->name);
        if (!few)
            text_printf(&groups[count], ":%d", REPORT_BINS);
        count++;
    }
    return count;
}

/* Measures groups that the request does not name, in one more pass over the rows. An error, e.g. a
 * column that cannot be cut into bins, leaves the section out. */
static bool group(const struct report_request *q, struct report *r, struct err *e)
{
    struct text groups[REPORT_GROUPS] = {{0}};
    char *names[REPORT_GROUPS];
    struct err why = {0};
    r->by = r->value.by;
    r->by_count = r->value.by_count;
    if (r->by_count || !r->explained || r->file->schema->steps || r->file->schema->windows.window)
        return true;
    const size_t count = choose_groups(r, groups);
    for (size_t i = 0; i < count; i++)
        names[i] = groups[i].data;
    const struct evaluate_request want = {
        .rows = again(q), .groups = names, .group_count = count};
    r->regrouped = count > 0;
    if (count && evaluate_run(&want, &r->grouped, &why)) {
        r->by = r->grouped.by;
        r->by_count = r->grouped.by_count;
    }
    for (size_t i = 0; i < REPORT_GROUPS; i++)
        text_free(&groups[i]);
    if (why.id == ERR_OPTION_VALUE || why.id == ERR_NONE)
        return true;
    *e = why;
    return false;
}

/* Hashes of the model's file, and of the files with rows. */
static bool digest(const struct report_request *q, struct report *r, struct err *e)
{
    bool good = tensor_digest(q->rows.model, r->sha256, e);
    if (!q->rows.input_count || !reads_again(q))
        return good;
    r->data_sha256 = mem_zero(q->rows.input_count, sizeof *r->data_sha256);
    for (size_t i = 0; good && i < q->rows.input_count; i++)
        good = tensor_digest(q->rows.inputs[i], r->data_sha256[i], e);
    return good;
}

static struct json_doc *read_stored(const struct modelfile *f)
{
    struct err ignored = {0};
    const char *text = f->metrics_text ? f->metrics_text : "{}";
    return json_parse_own(text, strlen(text), "metrics", &ignored);
}

/* After an evaluation that failed: rows without a target have scores. Forgets the error. */
static bool score(const struct report_request *q, struct report *r, struct err *e)
{
    struct err why = {0};
    const bool lacks = e->id == ERR_MODEL_COLUMN || e->id == ERR_FILE_WIDTH ||
                       e->id == ERR_CSV_LABEL_MISSING;
    if (!lacks || q->rows.part || q->group_count || q->require_count || !reads_again(q))
        return false;
    if (!scored_run(&q->rows, &r->scored, &why)) {
        mem_free(why.more);
        scored_release(&r->scored);
        return false;
    }
    mem_free(e->more);
    err_clear(e);
    evaluate_release(&r->value);
    r->measured = false;
    r->unlabelled = true;
    r->file = r->scored.serve.file;
    r->drift = r->scored.drift;
    r->stored = read_stored(r->file);
    return digest(q, r, e);
}

bool report_make(const struct report_request *q, struct report *r, struct err *e)
{
    *r = (struct report){.measured = q->rows.input_count > 0,
                         .held = q->held || (q->rows.part && strcmp(q->rows.part, "test") == 0)};
    if (!r->measured) {
        r->file = r->own = modelfile_load(q->rows.model, e);
        r->stored = r->file ? read_stored(r->file) : NULL;
        return r->file && digest(q, r, e);
    }
    struct evaluate_request want = {.rows = q->rows,
                                    .groups = q->groups,
                                    .group_count = q->group_count,
                                    .require = q->require,
                                    .require_count = q->require_count,
                                    .keep = &r->answers,
                                    .hard = &r->hard};
    want.rows.strict = true;
    if (!evaluate_run(&want, &r->value, e))
        return score(q, r, e);
    r->file = r->value.serve.file;
    r->drift = r->value.drift;
    r->stored = read_stored(r->file);
    return digest(q, r, e) && explain(q, r, e) && group(q, r, e);
}

void report_release(struct report *r)
{
    if (r->explained) {
        explain_release(&r->columns);
        effects_release(&r->effects);
    }
    if (r->regrouped)
        evaluate_release(&r->grouped);
    if (r->unlabelled)
        scored_release(&r->scored);
    if (r->measured)
        evaluate_release(&r->value);
    answers_free(&r->answers);
    hard_rows_free(&r->hard);
    json_free(r->stored);
    mem_free(r->data_sha256);
    modelfile_free(r->own);
    *r = (struct report){0};
}

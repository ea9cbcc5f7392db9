/* job_carry.c - a note where few columns carry the answers of a finished model: permutation
 * importance over rows that a network did not learn, once a column, within a twentieth of the
 * training's work. */
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"
#include "table/cell_copy.h"
#include "train/job.h"

#define SEED 20260103u
#define WORK 0.02     /* share of the work of the training; with dealing under 5 % */
#define CARRIED 0.95  /* of the sum of the importances */
enum { ROWS_LEAST = 200, ROWS_MOST = 2000, NAMED_MOST = 3, COLUMNS_LEAST = 4 };

struct carry {
    struct score_job score; /* of the copy */
    const struct rowfmt *format;
    unsigned char *whole, *dealt; /* encoded records [rows] */
    double *target;
    uint32_t *index, *from;
    uint64_t rows;
};

static const char *const verbs[] = {"", "carries", "carry", "carry"};

/* The number of validation rows that fit the time. */
static uint64_t rows_for(const struct run *n, uint32_t columns)
{
    const double steps = (double)n->history.epochs * (double)n->list[PART_TRAIN].count;
    const double most = WORK * 3 * steps / (columns + 1); /* a step costs about three answers */
    uint64_t rows = n->list[PART_VALID].count;
    rows = rows < ROWS_MOST ? rows : ROWS_MOST;
    return (double)rows < most ? rows : (uint64_t)most;
}

static void copy_rows(struct carry *x, const struct run *n)
{
    const struct score_job *s = &n->score;
    const struct row_list *list = &s->list[PART_VALID];
    const size_t stride = x->format->stride;
    x->whole = mem_alloc(x->rows, stride);
    x->dealt = mem_alloc(x->rows, stride);
    x->index = mem_alloc(x->rows, sizeof *x->index);
    x->from = mem_alloc(x->rows, sizeof *x->from);
    x->target = s->target ? mem_alloc(x->rows, sizeof *x->target) : NULL;
    for (uint64_t i = 0; i < x->rows; i++) { /* evenly spaced */
        uint32_t row = list->index[i * list->count / x->rows];
        memcpy(x->whole + i * stride, rows_at(&s->rows, row), stride);
        x->index[i] = (uint32_t)i;
        if (x->target)
            x->target[i] = s->target[row];
    }
    x->score = *s;
    x->score.rows = (struct rows){.format = *x->format, .chunks = &x->dealt, .shift = 63,
                                  .count = x->rows};
    x->score.target = x->target;
    x->score.list[PART_VALID] = (struct row_list){.index = x->index, .count = x->rows};
    x->score.groups = NULL;
    x->score.gates = NULL;
    x->score.gate_count = 0;
    x->score.intervals = false;
}

/* The cells of a column from other rows; NULL: none. */
static void deal(struct carry *x, const struct column *c, uint32_t number)
{
    const size_t stride = x->format->stride;
    memcpy(x->dealt, x->whole, x->rows * stride);
    if (!c)
        return;
    for (uint64_t i = 0; i < x->rows; i++)
        x->from[i] = (uint32_t)i;
    for (uint64_t i = x->rows; i-- > 1;) {
        uint64_t k = (uint64_t)rng_bits(SEED, i, number, 0, RNG_SHUFFLE) * (i + 1) >> 32;
        uint32_t other = x->from[k];
        x->from[k] = x->from[i];
        x->from[i] = other;
    }
    for (uint64_t i = 0; i < x->rows; i++)
        cell_copy(x->format, c, x->dealt + i * stride, x->whole + x->from[i] * stride);
}

/* value: of each column how much worse the metric gets, not below 0. */
static bool weigh(struct carry *x, const struct schema *s, double *value, struct err *e)
{
    const struct criterion c = score_criterion(&x->score);
    const struct metric_type *metric = metric_of(&c, s->task);
    double whole, dealt;
    deal(x, NULL, 0);
    if (!score_metric(&x->score, PART_VALID, metric, &whole, e))
        return false;
    for (uint32_t i = 0; i < s->column_count; i++) {
        if (!column_is_input(&s->columns[i]))
            continue;
        deal(x, &s->columns[i], i);
        if (!score_metric(&x->score, PART_VALID, metric, &dealt, e))
            return false;
        value[i] = fmax(metric->higher ? whole - dealt : dealt - whole, 0);
        if (!isfinite(value[i]))
            value[i] = 0;
    }
    return true;
}

static uint32_t inputs(const struct schema *s)
{
    uint32_t columns = 0;
    for (uint32_t i = 0; i < s->column_count; i++)
        columns += column_is_input(&s->columns[i]);
    return columns;
}

double *carry_weigh(const struct run *n, uint64_t *rows)
{
    const struct schema *s = n->schema;
    struct carry x = {.format = &s->format};
    struct err ignored = {0};
    const uint32_t columns = inputs(s);
    *rows = x.rows = rows_for(n, columns);
    /* target statistics would have to be computed anew */
    if (s->steps || s->windows.window || s->statistics || columns < COLUMNS_LEAST ||
        x.rows < ROWS_LEAST || !machine_in_place(n->machine))
        return NULL;
    double *value = mem_zero(s->column_count, sizeof *value);
    copy_rows(&x, n);
    bool good = weigh(&x, s, value, &ignored);
    mem_free(x.whole);
    mem_free(x.dealt);
    mem_free(x.target);
    mem_free(x.index);
    mem_free(x.from);
    if (good)
        return value;
    mem_free(value);
    return NULL;
}

void carry_tell(const struct schema *s, double *value, uint64_t rows)
{
    struct text names = {0};
    const uint32_t columns = inputs(s);
    double carried = 0, sum = 0;
    uint32_t named = 0;
    for (uint32_t i = 0; i < s->column_count; i++)
        sum += value[i];
    while (carried < CARRIED * sum && named < NAMED_MOST) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < s->column_count; i++)
            best = value[i] > value[best] ? i : best;
        text_printf(&names, "%s\"%s\"", named ? ", " : "", text_quote_z(s->columns[best].name));
        carried += value[best];
        value[best] = 0;
        named++;
    }
    if (sum > 0 && carried >= CARRIED * sum && 2 * named < columns)
        log_note("%s %s %.0f %% of what all %u columns tell, by permutation importance on %llu "
                 "validation rows: is that known when rows are answered? `dnn explain` shows all",
                 names.data, verbs[named], floor(100 * carried / sum), columns,
                 (unsigned long long)rows);
    text_free(&names);
}

void job_carry(const struct train_job *j)
{
    uint64_t rows;
    double *value = carry_weigh(&j->run, &rows);
    if (value)
        carry_tell(j->run.schema, value, rows);
    mem_free(value);
}

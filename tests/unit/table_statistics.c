/* table_statistics.c - target statistics: values against plain sums, no row's own target in its
 * value, groups and time, pairs, missing and unseen keys, weights, and the model file's tensors. */
#include <math.h>

#include "base/rng.h"
#include "table/schema/record.h"
#include "table/fit/view.h"
#include "table_help.h"

enum { ROWS = 400, VALUES = 7, NUMBERS = 9 };
#define PRIOR 10.0

struct made {
    struct schema *s;
    struct sheet *t;
    struct dataset d;
    struct encoder *c;
    uint64_t key[ROWS];
    double time[ROWS];
};

static uint32_t drawn(uint32_t i, uint32_t what, uint32_t below)
{
    return rng_bits(7, i, what, 0, RNG_TEST) % below;
}

/* Row i is for training unless i % 4 is 3. The category "v7" is in no training row. */
static int32_t category_of(uint32_t i)
{
    uint32_t v = drawn(i, 1, VALUES + 1);
    return i % 16 == 3 ? VALUES + 1 : (int32_t)v; /* 0: missing */
}

static float number_of(uint32_t i)
{
    uint32_t v = drawn(i, 2, NUMBERS + 1);
    return v == NUMBERS ? NAN : i % 16 == 7 ? 1000.0f : (float)v / 4;
}

/* The target is the category's parity against the number's, with noise: a pair tells most. */
static int32_t label_of(uint32_t i)
{
    float n = number_of(i);
    int32_t odd = n == n ? (int32_t)(n * 4) % 2 : 1;
    return drawn(i, 3, 10) < 2 ? (int32_t)drawn(i, 4, 2) : (category_of(i) % 2) ^ odd;
}

static struct made *make(int task)
{
    struct made *m = mem_zero(1, sizeof *m);
    m->s = schema_need(COLUMNS("\"c\": \"categorical\", \"n\": \"numeric\", \"w\": \"weight\""),
                       task);
    m->s->wanted = (struct statistics_options){.given = true, .prior = PRIOR, .folds = 5,
                                               .counts = true};
    m->s->all_keys = true;
    m->s->file_columns = 4;
    m->t = table_make(m->s, ROWS, 5);
    if (m->s->labels) {
        vocab_add(m->s->labels, "0", 1);
        vocab_add(m->s->labels, "1", 1);
        if (task == TASK_MULTICLASS)
            vocab_add(m->s->labels, "2", 1);
    }
    for (uint32_t i = 0; i < ROWS; i++) {
        char text[8];
        snprintf(text, sizeof text, "v%d", category_of(i) - 1);
        put_category(m->t, i, m->s, 0, category_of(i) ? text : NULL);
        put_number(m->t, i, 0, number_of(i));
        m->t->part[i] = i % 4 == 3 ? PART_VALID : PART_TRAIN;
        if (task == TASK_REGRESSION)
            m->t->target[i] = 3 * label_of(i) + (double)drawn(i, 5, 100) / 50;
        else
            put_int(m->t, i, m->s->raw.at_target,
                    task == TASK_MULTICLASS && drawn(i, 6, 3) == 0 ? 2 : label_of(i));
        m->key[i] = drawn(i, 8, 40) + 1;
        m->time[i] = drawn(i, 9, 60);
    }
    table_index(m->t);
    m->d = (struct dataset){.schema = m->s, .rows = m->t->rows, .target = m->t->target};
    m->d.samples.count = ROWS;
    return m;
}

static void fit(struct made *m)
{
    struct err e = {0};
    encoder_free(m->c);
    m->c = encoder_fit(&m->d, m->t->list[PART_TRAIN].index, m->t->count[PART_TRAIN], &e);
    if (!m->c || !m->c->statistics)
        ok(false, "fitted: %s", e.what);
}

static void drop(struct made *m)
{
    encoder_free(m->c);
    table_drop(m->t);
    schema_free(m->s);
    mem_free(m);
}

static double y_of(const struct made *m, uint32_t i, int32_t k)
{
    return m->d.target ? m->d.target[i]
                       : get_int(m->t, i, m->s->raw.at_target) == k;
}

static double weight_of(const struct made *m, uint32_t i)
{
    return (double)record_float(rows_at(&m->t->rows, i), m->s->raw.at_weight);
}

/* The value of row i by plain sums over training rows with the same category, which `counts`. */
static double plain(const struct made *m, uint32_t i, int32_t k, bool earlier)
{
    double all = 0, mean = 0, rows = 0, sum = 0, n = 0;
    for (uint32_t j = 0; j < ROWS; j++) {
        if (j % 4 == 3)
            continue;
        n++;
        all += weight_of(m, j);
        mean += weight_of(m, j) * y_of(m, j, k);
    }
    mean /= all;
    for (uint32_t j = 0; j < ROWS; j++) {
        if (j % 4 == 3 || category_of(j) != category_of(i) ||
            (earlier && !(m->time[j] < m->time[i])))
            continue;
        rows += weight_of(m, j) * n / all;
        sum += weight_of(m, j) * n / all * y_of(m, j, k);
    }
    double v = (sum + PRIOR * mean) / (rows + PRIOR);
    return m->d.target ? (v - mean) / m->c->coding.scale
                       : log(v / (1 - v)) - log(mean / (1 - mean));
}

/* The number of a view's row, before it was standardised. */
static double seen(const struct made *m, const struct rows *rows, uint32_t i, uint32_t number)
{
    uint32_t slot = m->c->statistics->first + number;
    double v = (double)record_number(rows_at(rows, i), slot);
    return v / m->c->numbers[slot].factor + m->c->numbers[slot].center;
}

static double largest_difference(const struct made *m, const struct rows *rows, int32_t k,
                                 uint32_t number, bool training, bool earlier)
{
    double most = 0;
    for (uint32_t i = 0; i < rows->count; i++)
        if ((i % 4 != 3) == training)
            most = fmax(most, fabs(seen(m, rows, i, number) - plain(m, i, k, earlier)));
    return most;
}

static void check_values(int task, const char *name)
{
    struct made *m = make(task);
    for (uint32_t i = 0; i < ROWS; i++) {
        float w = 0.5f + (float)drawn(i, 11, 5);
        memcpy(rows_at(&m->t->rows, i) + m->s->raw.at_weight, &w, sizeof w);
    }
    fit(m);
    struct view *v = view_make(&m->d, m->c, false);
    uint32_t classes = task == TASK_MULTICLASS ? 3 : 1;
    ok(m->c->statistics->numbers == 2 * classes, "%s: a number a key and class", name);
    for (uint32_t k = 0; k < classes; k++)
        ok(largest_difference(m, &v->rows, classes > 1 ? (int32_t)k : 1, k, false, false) < 1e-5,
           "%s, class %u: other rows take those of all training rows", name, k);
    struct rows first = v->first;
    double most = 0;
    for (uint32_t i = 0; i < first.count; i++)
        most = fmax(most, fabs(seen(m, &first, i, 0) - plain(m, i, classes > 1 ? 0 : 1, false)));
    ok(most < 1e-5, "%s: the first rows as an answer sees them", name);
    view_free(v);
    m->d.time = m->time;
    fit(m);
    v = view_make(&m->d, m->c, false);
    ok(largest_difference(m, &v->rows, classes > 1 ? 0 : 1, 0, true, true) < 1e-5,
       "%s: with times, earlier rows alone", name);
    ok(largest_difference(m, &v->rows, classes > 1 ? 0 : 1, 0, false, false) < 1e-5,
       "%s: with times, other rows take all", name);
    view_free(v);
    m->d.time = NULL;
    drop(m);
}

static void swap_targets(struct made *m, uint32_t a, uint32_t b)
{
    int32_t one = get_int(m->t, a, m->s->raw.at_target);
    put_int(m->t, a, m->s->raw.at_target, get_int(m->t, b, m->s->raw.at_target));
    put_int(m->t, b, m->s->raw.at_target, one);
}

/* The targets of row i, or of a row of its group, and of a row with another category change, so
 * that the mean stays: row i keeps its value, others change. */
static void check_own(bool groups)
{
    struct made *m = make(TASK_BINARY);
    uint32_t kept = 0, changed = 0, tried = 0;
    m->d.key = groups ? m->key : NULL;
    fit(m);
    const uint64_t count = m->c->held_count;
    float *before = mem_copy(m->c->held, count * sizeof *before);
    for (uint32_t place = 0; place < count && tried < 30; place++) {
        uint32_t i = m->t->list[PART_TRAIN].index[place], own = i, other = i;
        for (uint32_t j = 0; groups && j < ROWS; j++)
            if (j % 4 != 3 && j != i && m->key[j] == m->key[i] && category_of(j) == category_of(i))
                own = j;
        int32_t y = get_int(m->t, own, m->s->raw.at_target);
        for (uint32_t j = 0; j < ROWS; j++)
            if (j % 4 != 3 && category_of(j) != category_of(i) &&
                get_int(m->t, j, m->s->raw.at_target) != y)
                other = j;
        if (other == i || (groups && own == i))
            continue;
        tried++;
        swap_targets(m, own, other);
        fit(m);
        kept += m->c->held[place] >= before[place] && m->c->held[place] <= before[place];
        changed += memcmp(m->c->held, before, count * sizeof *before) != 0;
        swap_targets(m, own, other);
    }
    ok(tried > 5 && kept == tried && changed == tried,
       "%s: of %u rows %u keep their value when %s target changes", groups ? "groups" : "rows",
       tried, kept, groups ? "a group's" : "their own");
    mem_free(before);
    m->d.key = NULL;
    drop(m);
}

/* --- pairs, missing, unseen, the file --- */

static void check_pairs(void)
{
    struct made *m = make(TASK_BINARY);
    m->s->wanted.pairs = 4;
    fit(m);
    const struct statistics *t = m->c->statistics;
    ok(t->table_count == 3 && t->tables[2].keys[0] == 0 && t->tables[2].keys[1] == 1,
       "two columns and their pair");
    ok(t->keys[1].number && t->keys[1].count == NUMBERS, "the values of the number are keys");
    struct view *v = view_make(&m->d, m->c, false);
    double right = 0, rows = 0;
    bool zero = true;
    for (uint32_t i = 3; i < ROWS; i += 4) {
        if (category_of(i) == VALUES + 1) {
            zero &= fabs(seen(m, &v->rows, i, 0)) < 1e-6 && fabs(seen(m, &v->rows, i, 2)) < 1e-6;
            continue;
        }
        zero &= i % 16 != 7 || number_of(i) != number_of(i) || fabs(seen(m, &v->rows, i, 1)) < 1e-6;
        right += i % 16 != 7 && (seen(m, &v->rows, i, 2) > 0) == label_of(i);
        rows += i % 16 != 7;
    }
    ok(zero, "an unseen category, number or pair takes the mean");
    ok(right > 0.7 * rows, "the pair tells the target: %g of %g", right, rows);
    struct tensor_writer *w = tensor_writer_new();
    struct encoder_saved *k = encoder_save(m->c, 3, w);
    struct text bytes = {0};
    struct err e = {0};
    tensor_meta(w, "kind", "model");
    struct encoder_saved *all = encoder_save(m->c, 0, w);
    ok(tensor_write_bytes(w, "m", &bytes, &e), "written: %s", e.what);
    struct tensor_file *f = tensor_open_bytes(bytes.data, bytes.length, "m", &e);
    struct encoder *read = encoder_load(f, 3, &e);
    if (ok(read && read->statistics, "read: %s", e.what)) {
        struct encoder of = *read; /* with what it lacks of the rows */
        of.slot_of = m->c->slot_of;
        of.class_of = m->c->class_of;
        of.held = m->c->held;
        of.held_rows = m->c->held_rows;
        of.held_count = m->c->held_count;
        struct view *other = view_make(&m->d, &of, false);
        bool same = true;
        for (uint64_t i = 0; i < ROWS; i++)
            same &= memcmp(rows_at(&v->rows, i), rows_at(&other->rows, i),
                           v->rows.format.stride) == 0;
        ok(same, "what is read encodes alike, as encoder 3");
        view_free(other);
    }
    encoder_free(read);
    tensor_close(f);
    text_free(&bytes);
    encoder_saved_free(k);
    encoder_saved_free(all);
    tensor_writer_free(w);
    view_free(v);
    drop(m);
}

int main(void)
{
    check_values(TASK_BINARY, "binary");
    check_values(TASK_MULTICLASS, "multiclass");
    check_values(TASK_REGRESSION, "regression");
    check_own(false);
    check_own(true);
    check_pairs();
    return done();
}

/* run_judge.c - the rows that judge a run under a time limit. Validation rows choose the epoch and
 * the calibration, test rows measure: each answer takes time, and a large network would answer for
 * minutes after its limit. The first answers tell the pace. If all of them would take more than
 * half of the time that is left, a sample that takes a quarter of it stands for them: from then on,
 * for every use. A larger sample holds the smaller ones, so that runs of an ensemble share rows. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "measure/conform.h"
#include "train/run/run.h"

enum { ROWS_LEAST = 512 };     /* least rows that judge */
enum { PIECE = 64, GROWS = 4 }; /* rows that tell the pace, in pieces that grow */
static const double PIECE_SECONDS = 0.05;
static const double MOST = 0.5, SHARE = 0.25; /* of the time that is left */
static const double GRACE_SECONDS = 0.5, GRACE = 0.02; /* a limit is passed by so much, if at all */
static const uint32_t ORDER = 0x4a554447; /* the stream of rng_permute */

void judged_free(struct judged *j)
{
    mem_free(j->at);
    mem_free(j->list.index);
    mem_free(j->list.windows);
    mem_free(j->list.begins);
    *j = (struct judged){0};
}

/* --- the sample --- */

/* Answers to window w of a list, whose first one would be answer `first`. */
static uint64_t answers_of(const struct row_list *l, uint64_t w, uint64_t first)
{
    uint64_t found = 0;
    if (!l->each)
        return 1;
    for (uint32_t i = 0; i < l->window; i++)
        found += row_list_answers(l, w * l->window + i, first + found);
    return found;
}

/* Finds the units that are drawn whole: a row; a window; all windows between which state passes.
 * Returns their number; first and window [count + 1]: the first answer and the first window of
 * each, NULL for a list of rows. mem_free both. */
static uint64_t find_units(const struct row_list *l, uint64_t **first, uint64_t **window)
{
    uint64_t count = 0, at = 0;
    *first = *window = NULL;
    if (!l->windows)
        return l->count;
    *first = mem_alloc(l->window_count + 1, sizeof **first);
    *window = mem_alloc(l->window_count + 1, sizeof **window);
    for (uint64_t w = 0; w < l->window_count; w++) {
        if (!w || !l->begins || l->begins[w]) {
            (*first)[count] = at;
            (*window)[count++] = w;
        }
        at += answers_of(l, w, at);
    }
    (*first)[count] = at;
    (*window)[count] = l->window_count;
    return count;
}

/* Adds the windows from .. to - 1 of a list. */
static void add_windows(struct judged *j, const struct row_list *l, uint64_t from, uint64_t to)
{
    struct row_list *own = &j->list;
    memcpy(own->windows + own->window_count * l->window, l->windows + from * l->window,
           (to - from) * l->window * sizeof *l->windows);
    if (l->begins)
        memcpy(own->begins + own->window_count, l->begins + from, (to - from) * sizeof *l->begins);
    own->window_count += to - from;
}

void judged_draw(struct judged *j, const struct row_list *l, uint64_t rows, uint64_t seed)
{
    uint64_t *first, *window, got = 0;
    const uint64_t units = find_units(l, &first, &window);
    bool *taken = mem_zero(units + 1, sizeof *taken);
    for (uint32_t k = 0; k < units && got < rows; k++) {
        const uint32_t u = rng_permute(seed, 0, ORDER, (uint32_t)units, k);
        taken[u] = true;
        got += first ? first[u + 1] - first[u] : 1;
    }
    *j = (struct judged){.of = l->count, .at = mem_alloc(got + 1, sizeof *j->at), .list = *l};
    struct row_list *own = &j->list;
    own->index = mem_alloc(got + 1, sizeof *own->index);
    own->windows = l->windows ? mem_alloc(l->window_count * l->window + 1, sizeof *own->windows)
                              : NULL;
    own->begins = l->begins ? mem_alloc(l->window_count + 1, sizeof *own->begins) : NULL;
    own->count = own->window_count = 0;
    for (uint64_t u = 0; u < units; u++) {
        if (!taken[u])
            continue;
        for (uint64_t i = first ? first[u] : u; i < (first ? first[u + 1] : u + 1); i++) {
            own->index[own->count] = l->index[i];
            j->at[own->count++] = i;
        }
        if (window)
            add_windows(j, l, window[u], window[u + 1]);
    }
    mem_free(taken);
    mem_free(first);
    mem_free(window);
}

/* --- the time --- */

/* Measured for 2 and for 500 classes: metrics with their intervals, calibration, blending. */
double run_pass_seconds(uint32_t outputs)
{
    return 1e-6 + 1.5e-7 * outputs;
}

static double seconds_a_row(const struct run *r)
{
    const double valid = (double)r->list[PART_VALID].count;
    return fmax(r->row_seconds, valid > 0 ? r->pace.validation / valid : 0);
}

/* Validation rows are answered for their calibration, for their metrics, and for the threshold that
 * a rule chooses; test rows once. */
double run_judge_seconds(const struct run *r)
{
    const double valid = (double)r->list[PART_VALID].count, test = (double)r->list[PART_TEST].count;
    const double times = threshold_is_chosen(&r->config->cut) ? 3 : 2;
    return seconds_a_row(r) * (times * valid + test) +
           run_pass_seconds(r->features->outputs) *
               (r->passes[PART_VALID] * valid + r->passes[PART_TEST] * test);
}

double run_judge_from(const struct run *r, bool again)
{
    const double limit = r->config->train.time_limit_s;
    const double valid = again ? (double)r->list[PART_VALID].count : 0;
    const double need = run_judge_seconds(r) + seconds_a_row(r) * valid;
    return limit - fmin(need, limit / 2);
}

/* The first piece is slow: it makes the routines. */
static bool measure_pace(struct run *r, struct err *e)
{
    const enum part part = r->list[PART_VALID].count ? PART_VALID : PART_TEST;
    const uint64_t all = r->list[part].count;
    double took = 0;
    for (uint64_t rows = PIECE; took < PIECE_SECONDS; rows *= GROWS) {
        struct judged piece;
        struct score_job score = r->score;
        struct metrics m;
        judged_draw(&piece, &r->list[part], rows, r->config->data.split.seed);
        score.list[part] = piece.list;
        const double began = clock_now();
        const bool good = score_all(&score, part, &metric_loss, &m, e);
        took = rows > PIECE ? clock_now() - began : 0;
        r->row_seconds = took / (double)piece.list.count;
        judged_free(&piece);
        if (!good)
            return false;
        if (rows > PIECE && rows >= all)
            break;
    }
    return true;
}

/* --- the choice --- */

/* Makes `rows` answers judge a part, drawn anew from all of its rows. */
static void use(struct run *r, enum part part, double rows)
{
    struct judged *j = &r->judged[part];
    const struct row_list whole = j->at ? j->whole : r->list[part];
    judged_free(j);
    r->list[part] = whole;
    if (rows < (double)whole.count) {
        judged_draw(j, &whole, (uint64_t)rows, r->config->data.split.seed);
        j->whole = whole;
        r->list[part] = j->list;
    }
    r->score.list[part] = r->list[part];
}

/* Intervals and sets are fitted on halves of the rows that judge. */
static double rows_least(const struct run *r)
{
    const double level = config_region(r->config);
    return fmax(ROWS_LEAST, level > 0 ? 2 * (double)conform_least(level) : 0);
}

/* A share of the answers of each part, but enough of them for the metric to have a value: as many
 * as until now, where it has none on fewer. */
static void shrink(struct run *r, double share)
{
    for (enum part part = PART_VALID; part <= PART_TEST; part++) {
        const double all = (double)r->list[part].count;
        const struct metric_type *metric = r->history.metric;
        struct err ignored = {0};
        if (part == PART_TEST && r->whole_test)
            continue;
        if (metric && !score_defined(&r->score, part, metric, &ignored))
            metric = NULL; /* on no rows */
        for (double rows = fmax(share * all, rows_least(r)); rows < all; rows *= 2) {
            use(r, part, rows);
            if (!metric || score_defined(&r->score, part, metric, &ignored))
                break;
            use(r, part, all);
        }
    }
}

/* Both parts are judged whole, whatever the time. */
static bool is_little(const struct run *r)
{
    const double least = rows_least(r);
    return (double)r->list[PART_VALID].count <= least &&
           (r->whole_test || (double)r->list[PART_TEST].count <= least);
}

bool run_judge_begin(struct run *r, struct err *e)
{
    const double limit = r->config->train.time_limit_s;
    if (!(limit > 0) || r->row_seconds > 0 ||
        !(r->list[PART_VALID].count || r->list[PART_TEST].count))
        return true;
    if (!measure_pace(r, e))
        return false;
    const double left = fmax(limit - run_seconds(r), 0), need = run_judge_seconds(r);
    if (need > MOST * left && !is_little(r))
        shrink(r, SHARE * left / need);
    return true;
}

void run_judge_end(struct run *r)
{
    const double limit = r->config->train.time_limit_s, need = run_judge_seconds(r);
    const double left = limit - run_seconds(r) + GRACE_SECONDS + GRACE * limit;
    if (limit > 0 && need > left && !is_little(r))
        shrink(r, fmax(left, 0) / need);
}

/* score.c - see score.h. */
#include "train/run/score.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/process/stop.h"
#include "measure/tally.h"

/* Some 2 MiB of logits, to notice a signal soon; or the rows that a device keeps. */
uint64_t score_block(const struct stepper *s, uint32_t outputs)
{
    uint64_t kept = s ? step_room(s) : 0;
    if (kept)
        return kept;
    uint64_t rows = ((uint64_t)1 << 19) / outputs;
    return rows > SCORE_ROWS ? SCORE_ROWS : rows < 64 ? 64 : rows;
}

/* Rows that the network reads for a block: fewer if a row has several answers. */
static uint64_t block_rows(const struct score_job *j)
{
    uint32_t most = features_answers(j->features);
    uint64_t rows = score_block(j->stepper, j->features->outputs) / most;
    return rows ? rows : 1;
}

static bool weighted(const struct schema *s)
{
    for (uint32_t i = 0; i < s->column_count; i++)
        if (s->columns[i].type == COLUMN_WEIGHT)
            return true;
    return false;
}

/* t: the metric that a device measures; NULL: none. */
static struct source source_of(const struct score_job *j, const struct row_list *list,
                               const struct metric_type *t)
{
    return (struct source){.rows = j->rows,
                           .class_weight = t == &metric_loss ? j->class_weight : NULL,
                           .index = list->windows ? list->windows : list->index,
                           .count = row_list_reads(list),
                           .steps = list->window,
                           .begins = list->begins,
                           .classes = score_classes(j),
                           .features = j->features};
}

/* Labels, targets and weights of a block of rows. */
struct truth {
    int32_t *label;
    double *target;
    float *weight;   /* NULL: all 1 */
    uint64_t *group; /* NULL: none */
};

static struct truth truth_new(const struct score_job *j, uint64_t rows)
{
    struct truth t = {0};
    if (score_classes(j))
        t.label = mem_alloc(rows, sizeof *t.label);
    else
        t.target = mem_alloc(rows, sizeof *t.target);
    if (weighted(j->encoder->schema))
        t.weight = mem_alloc(rows, sizeof *t.weight);
    if (j->groups)
        t.group = mem_alloc(rows, sizeof *t.group);
    return t;
}

static void truth_free(struct truth *t)
{
    mem_free(t->label);
    mem_free(t->target);
    mem_free(t->weight);
    mem_free(t->group);
}

static void truth_read(const struct score_job *j, enum part part, uint64_t from, uint64_t rows,
                       struct truth *t)
{
    const struct rowfmt *f = &j->rows.format;
    for (uint64_t r = 0; r < rows; r++) {
        uint32_t row = j->list[part].index[from + r];
        const unsigned char *record = rows_at(&j->rows, row);
        if (t->label)
            memcpy(&t->label[r], record + f->at_target, sizeof t->label[r]);
        else
            t->target[r] = j->target[row];
        if (t->weight)
            memcpy(&t->weight[r], record + f->at_weight, sizeof t->weight[r]);
        if (t->group)
            t->group[r] = dataset_group(j->groups, row);
    }
}

/* The whole part; truth_free. */
static struct truth truth_of(const struct score_job *j, enum part part)
{
    struct truth t = truth_new(j, j->list[part].count);
    truth_read(j, part, 0, j->list[part].count, &t);
    return t;
}

static struct scores scores_of(const struct score_job *j, uint64_t rows, const struct truth *t)
{
    return (struct scores){.task = j->encoder->schema->task,
                           .rows = rows, .classes = score_classes(j),
                           .label = t->label, .target = t->target,
                           .weight = t->weight, .group = t->group};
}

static void loss_add(const struct score_job *j, uint64_t rows, const real *logits,
                     const struct truth *t, struct criterion_sum *to)
{
    const struct criterion c = score_criterion(j);
    for (uint64_t r = 0; r < rows; r++)
        criterion_add_logits(&c, to, logits + r * j->features->outputs, t->label ? t->label[r] : 0,
                             t->target ? t->target[r] : 0, t->weight ? (double)t->weight[r] : 1);
}

static double loss_mean(const struct score_job *j, const struct criterion_sum *sum)
{
    const struct criterion c = score_criterion(j);
    return criterion_mean(&c, sum);
}

/* --- measured on a device: sums over rows --- */

/* Sets m for a metric that is a sum over rows. False: it is not, or the machine cannot measure
 * it. */
static bool measure_of(const struct score_job *j, const struct metric_type *t, struct answers *m)
{
    const struct loss_options *o = j->loss;
    bool classes = score_classes(j) > 0;
    *m = (struct answers){.measure = classes ? MEASURE_CLASS : MEASURE_VALUE,
                          .kind = classes ? CLASS_CROSS_ENTROPY : VALUE_MSE,
                          .most = INFINITY};
    if (!step_room(j->stepper) || (t == &metric_loss && o->kind == LOSS_SOFT_F1) ||
        loss_values(o) > 1)
        return false;
    if (t == &metric_loss) {
        static const uint32_t kinds[] = {
            [LOSS_FOCAL] = CLASS_FOCAL,  [LOSS_CROSS_ENTROPY] = CLASS_CROSS_ENTROPY,
            [LOSS_MSE] = VALUE_MSE,      [LOSS_MAE] = VALUE_MAE,
            [LOSS_HUBER] = VALUE_HUBER,  [LOSS_QUANTILE] = VALUE_QUANTILE};
        m->kind = kinds[o->kind];
        m->smoothing = o->kind == LOSS_CROSS_ENTROPY ? o->label_smoothing : 0;
        m->gamma = o->gamma;
        m->delta = o->delta;
        m->q = o->q[0];
        return true;
    }
    if (j->encoder->coding.transform) /* they measure in the file's units */
        return false;
    m->measure = t->sum.measure;
    m->kind = t->sum.kind;
    m->most = t->sum.most;
    return m->measure != MEASURE_NONE;
}

/* In the target's units. */
static double measured(const struct score_job *j, const struct metric_type *t,
                       const struct answers *m)
{
    double mean = m->weight > 0 ? m->sum / m->weight : (double)NAN;
    bool in_units = t != &metric_loss && m->measure == MEASURE_VALUE;
    if (t->sum.root)
        mean = sqrt(mean);
    return in_units ? mean * j->encoder->coding.scale : mean;
}

static bool ask(const struct score_job *j, const struct source *from, uint64_t at, uint64_t rows,
                struct answers *what, real *logits, struct err *e)
{
    return step_room(j->stepper) ? step_measure(j->stepper, from, at, rows, what, logits, e)
                                 : step_answer(j->stepper, from, at, rows, logits, e);
}

/* For windows at .. at + rows, if each record has an answer: moves the logits of records in the
 * list together. first: their first answer. Returns their number. */
static uint64_t close_up(const struct row_list *l, uint64_t at, uint64_t rows, uint64_t first,
                         uint32_t outputs, real *logits)
{
    uint64_t found = 0;
    if (!l->windows || !l->each)
        return rows;
    for (uint64_t i = 0; i < rows * l->window; i++) {
        if (!row_list_answers(l, at * l->window + i, first + found))
            continue;
        memmove(logits + found * outputs, logits + i * outputs, outputs * sizeof *logits);
        found++;
    }
    return found;
}

/* --- measured on the host --- */

/* Adds answered rows to a tally, a few at a time. numbers: [2 * SCORE_TALLIED][outputs]. */
static void tally_block(const struct score_job *j, const real *logits, uint64_t rows,
                        const struct truth *t, double *numbers, struct tally *y)
{
    const uint32_t classes = score_classes(j), outputs = j->features->outputs;
    for (uint64_t at = 0; at < rows; at += SCORE_TALLIED) {
        uint64_t now = rows - at < SCORE_TALLIED ? rows - at : SCORE_TALLIED;
        struct scores s = scores_of(j, now, t);
        s.label = t->label ? t->label + at : NULL;
        s.target = t->target ? t->target + at : NULL;
        s.weight = t->weight ? t->weight + at : NULL;
        s.group = t->group ? t->group + at : NULL;
        s.probability = s.value = numbers;
        if (classes)
            answer_probabilities(logits + at * classes, now, classes, numbers);
        if (classes && j->calibration) {
            s.raw = memcpy(numbers + SCORE_TALLIED * (uint64_t)classes, numbers,
                           now * classes * sizeof *numbers);
            calibration_apply(j->calibration, now, numbers);
        }
        if (!classes)
            answer_values(&j->encoder->coding, logits + at * outputs, now, outputs, numbers);
        for (uint64_t i = 0; !classes && j->calibration && i < now * outputs; i++)
            numbers[i] = calibration_limit(j->calibration, numbers[i]);
        double ends[2][SCORE_TALLIED];
        if (!classes && y->conformal)
            answer_intervals(y->conformal, j->calibration, &j->encoder->coding, now, numbers,
                             ends[0], ends[1]);
        s.low = ends[0];
        s.high = ends[1];
        tally_add(y, &s);
    }
}

/* y NULL: no tally; loss NULL: no loss; what NULL: nothing is measured on a device */
static bool gather(const struct score_job *j, enum part part, struct tally *y,
                   struct criterion_sum *loss, const struct metric_type *followed,
                   struct answers *what, struct err *e)
{
    const struct row_list *list = &j->list[part];
    uint64_t count = row_list_reads(list), most = block_rows(j), first = 0;
    uint32_t outputs = j->features->outputs;
    const uint32_t answers = features_answers(j->features);
    struct source from = source_of(j, list, followed);
    struct answers sum = {0};
    if (most > count)
        most = count ? count : 1;
    struct truth t = truth_new(j, most * answers);
    real *logits = mem_alloc(most * answers * outputs, sizeof *logits);
    double *numbers = mem_alloc(2 * SCORE_TALLIED * (uint64_t)outputs, sizeof *numbers);
    bool good = true;
    for (uint64_t at = 0; good && at < count; at += most) {
        uint64_t rows = count - at < most ? count - at : most;
        good = !stop_wanted() && ask(j, &from, at, rows, what, logits, e);
        if (!good)
            break;
        sum.sum += what ? what->sum : 0;
        sum.weight += what ? what->weight : 0;
        uint64_t found = close_up(list, at, rows, first, outputs, logits);
        truth_read(j, part, first, found, &t);
        first += found;
        if (loss)
            loss_add(j, found, logits, &t, loss);
        if (y)
            tally_block(j, logits, found, &t, numbers, y);
    }
    mem_free(logits);
    mem_free(numbers);
    truth_free(&t);
    if (what) {
        what->sum = sum.sum;
        what->weight = sum.weight;
    }
    return good;
}

static struct tally *tally_of(const struct score_job *j, unsigned needs)
{
    struct tally *y = tally_new(j->encoder->schema->task, score_classes(j), needs);
    y->conformal = j->conformal;
    const struct criterion c = score_criterion(j);
    tally_judge_by(y, &c);
    y->decision = decision_in_use(&j->decision);
    return y;
}

bool score_threshold(const struct score_job *j, enum part part, const struct threshold_rule *rule,
                     struct threshold_point *p, bool *reached, struct err *e)
{
    struct tally *y = tally_of(j, TALLY_RANKS);
    bool good = gather(j, part, y, NULL, NULL, NULL, e);
    if (good)
        *reached = threshold_choose(&y->rank, rule, p);
    tally_free(y);
    return good;
}

bool score_metric(const struct score_job *j, enum part part, const struct metric_type *t,
                  double *value, struct err *e)
{
    struct answers what;
    if (measure_of(j, t, &what)) {
        struct source from = source_of(j, &j->list[part], t);
        bool done = !stop_wanted() &&
                    step_measure(j->stepper, &from, 0, from.count, &what, NULL, e);
        *value = measured(j, t, &what);
        return done;
    }
    if (t == &metric_loss) {
        struct criterion_sum loss = {0};
        bool done = gather(j, part, NULL, &loss, NULL, NULL, e);
        *value = loss_mean(j, &loss);
        return done;
    }
    struct tally *y = tally_of(j, t->needs);
    bool good = gather(j, part, y, NULL, NULL, NULL, e);
    if (good)
        *value = t->value(y);
    tally_free(y);
    return good;
}

bool score_all(const struct score_job *j, enum part part, const struct metric_type *followed,
               struct metrics *m, struct err *e)
{
    struct criterion_sum loss = {0};
    struct answers what;
    const bool there = measure_of(j, followed, &what);
    struct tally *y =
        tally_of(j, TALLY_ALL & ~(unsigned)(j->gate_count || j->intervals ? 0 : TALLY_CONFUSED));
    const bool good = gather(j, part, y, &loss, followed, there ? &what : NULL, e);
    if (good)
        metrics_of(y, m);
    if (good && j->intervals)
        metrics_intervals(y, m);
    for (size_t i = 0; good && i < j->gate_count; i++)
        gate_judge(&j->gates[i], m, y);
    tally_free(y);
    if (!good)
        return false;
    if (!m->count || m->m[m->count - 1].type != &metric_loss) {
        m->m[m->count].interval = (struct interval){0};
        m->m[m->count++].type = &metric_loss;
    }
    m->m[m->count - 1].value = loss_mean(j, &loss);
    for (uint32_t i = 0; i < m->count && there; i++)
        if (m->m[i].type == followed)
            m->m[i].value = measured(j, followed, &what);
    return true;
}

bool score_finite(const struct score_job *j, enum part part, struct err *e)
{
    uint64_t count = row_list_reads(&j->list[part]), most = block_rows(j);
    uint32_t outputs = j->features->outputs * features_answers(j->features);
    struct source from = source_of(j, &j->list[part], NULL);
    most = most < count ? most : count ? count : 1;
    real *logits = mem_alloc(most * outputs, sizeof *logits);
    bool finite = true;
    for (uint64_t at = 0; finite && at < count; at += most) {
        uint64_t rows = count - at < most ? count - at : most;
        finite = ask(j, &from, at, rows, NULL, logits, e);
        for (uint64_t i = 0; finite && i < rows * outputs; i++)
            finite = isfinite(logits[i]);
    }
    mem_free(logits);
    return finite;
}

void score_baseline(const struct score_job *j, enum part part, struct metrics *m)
{
    uint32_t classes = score_classes(j);
    uint64_t rows = j->list[part].count;
    double *answer = score_constant_answer(j);
    struct truth t = truth_of(j, part);
    struct scores on = scores_of(j, rows, &t);
    const struct criterion c = score_criterion(j);
    metrics_baseline(j->encoder->schema->task, classes, answer, answer, &on, &c, m);
    truth_free(&t);
    mem_free(answer);
}

/* The sum of the rows' weights in the metric. */
static double part_weight(const struct score_job *j, enum part part, const struct metric_type *t)
{
    uint64_t rows = j->list[part].count;
    const float *of_class = t == &metric_loss ? j->class_weight : NULL;
    if (!of_class && !weighted(j->encoder->schema))
        return (double)rows;
    struct truth truth = truth_of(j, part);
    double sum = 0;
    for (uint64_t r = 0; r < rows; r++)
        sum += (truth.weight ? (double)truth.weight[r] : 1) *
               (of_class && truth.label[r] >= 0 ? (double)of_class[truth.label[r]] : 1);
    truth_free(&truth);
    return sum;
}

bool score_weighs(const struct score_job *j, enum part part)
{
    return part_weight(j, part, NULL) > 0;
}

double score_constant(const struct score_job *j, enum part part)
{
    uint64_t count = j->list[part].count, most = block_rows(j);
    uint32_t outputs = j->features->outputs;
    struct criterion_sum loss = {0};
    most = most < count ? most : count ? count : 1;
    struct truth t = truth_new(j, most);
    real *logits = mem_zero(most * outputs, sizeof *logits);
    double center[QUANTILES_MOST];
    if (score_classes(j))
        score_constant_logits(j, logits);
    else
        score_center_learnt(j, center);
    for (uint32_t k = 0; !score_classes(j) && k < outputs; k++)
        logits[k] = (real)center[k];
    for (uint64_t r = 1; r < most; r++)
        memcpy(logits + r * outputs, logits, outputs * sizeof *logits);
    for (uint64_t at = 0; at < count; at += most) {
        uint64_t rows = count - at < most ? count - at : most;
        truth_read(j, part, at, rows, &t);
        loss_add(j, rows, logits, &t, &loss);
    }
    mem_free(logits);
    truth_free(&t);
    return loss_mean(j, &loss);
}

/* If a constant answer has no value, no answer has one. */
bool score_defined(const struct score_job *j, enum part part, const struct metric_type *t,
                   struct err *e)
{
    struct metrics constant;
    unsigned long long rows = j->list[part].count;
    if (!(part_weight(j, part, t) > 0)) {
        err_set(e, ERR_WEIGHT_SUM, "the weight of each of the %llu %s rows is 0", rows,
                part_names[part]);
        return err_help(e, "no metric has a value on them: let some weigh more, or choose other "
                           "rows (data.%s, data.split)", part == PART_VALID ? "valid" : "test");
    }
    if (t == &metric_loss || (score_classes(j) && !t->rows_needed))
        return true;
    score_baseline(j, part, &constant);
    if (isfinite(metrics_get(&constant, t->defined_by ? t->defined_by : t->name)))
        return true;
    err_set(e, ERR_METRIC_ROWS, "the metric %s has no value on the %llu %s rows: it needs %s",
            t->name, rows, part_names[part],
            t->rows_needed ? t->rows_needed : "answers and targets that are finite");
    return err_help(e, "choose another metric, or other %s rows (data.%s, "
                       "data.split)", part_names[part], part == PART_VALID ? "valid" : "test");
}

bool score_answer(const struct score_job *j, const struct row_list *rows, real *logits,
                  struct err *e)
{
    struct source from = source_of(j, rows, NULL);
    const uint32_t outputs = j->features->outputs;
    const bool each = rows->windows && rows->each;
    uint64_t most = block_rows(j), first = 0;
    real *block = each ? mem_alloc(most * rows->window * outputs, sizeof *block) : NULL;
    bool good = true;
    for (uint64_t at = 0; good && at < from.count; at += most) {
        uint64_t now = from.count - at < most ? from.count - at : most;
        real *to = each ? block : logits + at * outputs;
        good = step_answer(j->stepper, &from, at, now, to, e);
        uint64_t found = good && each ? close_up(rows, at, now, first, outputs, block) : 0;
        if (each)
            memcpy(logits + first * outputs, block, found * outputs * sizeof *block);
        first += found;
    }
    mem_free(block);
    return good;
}

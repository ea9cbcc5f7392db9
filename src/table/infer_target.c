/* infer_target.c - the task of a target, its positive label, and columns that determine it. */
#include "table/infer_survey.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/thread.h"

const char infer_leak_words[] =
    "it alone gives the target away almost completely: leave it out unless it is known before "
    "the target is";

static bool is_missing(const struct infer *i, const char *text)
{
    for (size_t k = 0; k < i->missing.count; k++)
        if (strcmp(i->missing.items[k], text) == 0)
            return true;
    return false;
}

/* Two values: binary. Texts, or few frequent integers: classes. Otherwise regression. */
static int find_task(const struct watch *w, const struct infer_column *c, uint64_t rows)
{
    uint64_t present = rows - c->missing;
    bool whole = !(w->fraction > 0);
    if (c->distinct <= 2)
        return TASK_BINARY;
    if (c->type == COLUMN_CATEGORICAL) /* with a reason: numbers to be corrected */
        return c->reason[0] ? TASK_REGRESSION : TASK_MULTICLASS;
    return whole && c->distinct <= 30 && c->distinct * 4 <= present ? TASK_MULTICLASS
                                                                    : TASK_REGRESSION;
}

/* Orders the labels as the contract says, without missing texts; sets the smallest class's
 * share. */
static struct vocab *find_labels(const struct watch *w, struct infer *i)
{
    struct vocab *labels = vocab_new();
    uint64_t smallest = UINT64_MAX, all = 0;
    for (uint32_t k = 0; k < vocab_count(w->texts); k++) {
        size_t length;
        const char *text = vocab_text(w->texts, k, &length);
        if (is_missing(i, text))
            continue;
        vocab_add(labels, text, length);
        smallest = w->text_counts[k] < smallest ? w->text_counts[k] : smallest;
        all += w->text_counts[k];
    }
    uint32_t count = vocab_count(labels);
    uint32_t *order = mem_alloc((size_t)count + 1, sizeof *order);
    vocab_sort(labels, order);
    mem_free(order);
    i->target_balance = all ? (double)smallest / (double)all : 0;
    return labels;
}

/* --- columns that determine the target, on sampled rows --- */

struct leak_task {
    const struct survey *survey;
    struct infer *infer;
    size_t target;
    struct leak_target of;
    const uint32_t *rows; /* sampled rows with a target */
};

static double of_groups(const struct leak_task *t, const struct watch *w)
{
    uint32_t n = t->of.count;
    int32_t *group = mem_alloc((size_t)n + 1, sizeof *group);
    struct vocab *ids = vocab_new();
    for (uint32_t i = 0; i < n; i++)
        group[i] = (int32_t)vocab_add(ids, (const char *)&w->sample_hash[t->rows[i]],
                                      sizeof *w->sample_hash);
    double explained = leak_of_group(&t->of, group, vocab_count(ids) + 1);
    vocab_free(ids);
    mem_free(group);
    return explained;
}

static double of_numbers(const struct leak_task *t, const struct watch *w)
{
    uint32_t n = t->of.count;
    float *v = mem_alloc((size_t)n + 1, sizeof *v);
    for (uint32_t i = 0; i < n; i++)
        v[i] = w->sample_number[t->rows[i]];
    double explained = leak_of_number(&t->of, v);
    mem_free(v);
    return explained;
}

static void leak_tile(void *context, unsigned tile, unsigned thread)
{
    (void)thread;
    struct leak_task *t = context;
    struct infer_column *c = &t->infer->columns[tile];
    const struct watch *w = &t->survey->watches[tile];
    double explained = 0;
    if (tile == t->target)
        return;
    if (c->type == COLUMN_NUMERIC || c->type == COLUMN_DATETIME)
        explained = of_numbers(t, w);
    else if (c->type == COLUMN_CATEGORICAL)
        explained = of_groups(t, w);
    if (c->type == COLUMN_NUMERIC || c->type == COLUMN_DATETIME || c->type == COLUMN_CATEGORICAL)
        c->alone = explained;
    if (leak_suspect(&t->of, explained))
        snprintf(c->note, sizeof c->note, "%s", infer_leak_words);
}

static void find_leaks(const struct survey *s, size_t target, const struct vocab *labels,
                       struct infer *out)
{
    const struct watch *w = &s->watches[target];
    struct leak_task t = {.survey = s, .infer = out, .target = target};
    int32_t *label = mem_alloc((size_t)s->samples + 1, sizeof *label);
    float *value = mem_alloc((size_t)s->samples + 1, sizeof *value);
    uint32_t *rows = mem_alloc((size_t)s->samples + 1, sizeof *rows);
    struct vocab *known = vocab_new(); /* labels by hash, in order of arrival */
    for (uint32_t i = 0; i < s->samples; i++) {
        label[t.of.count] = (int32_t)vocab_add(known, (const char *)&w->sample_hash[i],
                                               sizeof *w->sample_hash);
        value[t.of.count] = w->sample_number[i];
        if (out->task == TASK_REGRESSION && value[t.of.count] != value[t.of.count])
            continue;
        rows[t.of.count++] = i;
    }
    t.rows = rows;
    t.of.label = label;
    t.of.value = value;
    t.of.classes = out->task == TASK_REGRESSION ? 0 : vocab_count(known);
    /* A missing target counts as a class. A target with thousands of values is not checked. */
    if (t.of.count && t.of.classes != 1 && t.of.classes <= INFER_TEXTS && vocab_count(labels) != 1)
        threads_run_few((unsigned)s->count, leak_tile, &t);
    vocab_free(known);
    mem_free(label);
    mem_free(value);
    mem_free(rows);
}

/* Lists the texts of missing targets, if not just empty. */
static void name_missing(const struct watch *w, struct infer *i, struct infer_column *c)
{
    struct text seen = {0}, kept = {0};
    for (uint32_t k = 0; k < vocab_count(w->texts); k++) {
        const char *text = vocab_text(w->texts, k, NULL);
        if (*text && is_missing(i, text))
            text_printf(&seen, "%s\"%s\"", seen.length ? ", " : "", text_quote_z(text));
    }
    for (size_t k = 0; k < i->missing.count; k++) {
        uint32_t at = vocab_find(w->texts, i->missing.items[k], strlen(i->missing.items[k]));
        if (at == UINT32_MAX || !*i->missing.items[k])
            text_printf(&kept, "%s\"%s\"", kept.length ? ", " : "",
                        text_quote_z(i->missing.items[k]));
    }
    size_t length = strlen(c->note);
    if (seen.length && seen.length + kept.length < 160)
        snprintf(c->note + length, sizeof c->note - length,
                 "; they say %s: if that is a class, --set 'data.missing=[%s]'", seen.data,
                 kept.length ? kept.data : "");
    text_free(&seen);
    text_free(&kept);
}

static void find_answers(const struct vocab *labels, struct infer *out)
{
    static const char prefix[] = "probability_";
    size_t cut = sizeof prefix - 1;
    for (size_t i = 0; i < out->count; i++) {
        const char *name = out->columns[i].name;
        out->columns[i].answers =
            strcmp(name, "prediction") == 0 ||
            (out->task != TASK_REGRESSION && strncmp(name, prefix, cut) == 0 &&
             vocab_find(labels, name + cut, strlen(name + cut)) != UINT32_MAX);
    }
}

void infer_target(const struct survey *s, size_t target, struct infer *out)
{
    const struct watch *w = &s->watches[target];
    struct infer_column *c = &out->columns[target];
    out->task = find_task(w, c, s->rows);
    struct vocab *labels = find_labels(w, out);
    if (out->task == TASK_REGRESSION)
        out->target_balance = 0;
    infer_labels(s, target, labels, out);
    find_leaks(s, target, labels, out);
    find_answers(labels, out);
    vocab_free(labels);
    if (c->missing) {
        snprintf(c->note, sizeof c->note,
                 "%llu of %llu rows have no target: training leaves them out",
                 (unsigned long long)c->missing, (unsigned long long)s->rows);
        name_missing(w, out, c);
    } else if (c->distinct < 2)
        snprintf(c->note, sizeof c->note,
                 "the target has one value only: there is nothing to learn");
    else if (c->reason[0] && !c->form)
        snprintf(c->note, sizeof c->note, "%s: training will stop there; mend the cells",
                 c->reason);
    else if (out->task == TASK_MULTICLASS && c->distinct > 100)
        snprintf(c->note, sizeof c->note, "the target has %llu classes",
                 (unsigned long long)c->distinct);
}

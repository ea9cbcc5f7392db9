/* target.c - finds the task and the labels of a target, and reports faults of the target. */
#include "infer/survey.h"

#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "base/mem.h"
#include "base/process/shell.h"
#include "base/text.h"

/* Two values: binary. Texts, or few frequent integers: classes. Otherwise regression. */
static int find_task(const struct column_profile *w, const struct infer_column *c, char decimal,
                     uint64_t rows)
{
    uint64_t present = rows - c->missing;
    bool whole = !(w->fraction > 0) && !(c->form && w->amounts.cut[decimal == ',']);
    if (c->distinct <= 2)
        return TASK_BINARY;
    if (c->type == COLUMN_CATEGORICAL) /* with a reason: numbers to be corrected */
        return c->reason[0] ? TASK_REGRESSION : TASK_MULTICLASS;
    return whole && c->distinct <= 30 && c->distinct * 4 <= present ? TASK_MULTICLASS
                                                                    : TASK_REGRESSION;
}

/* Orders the labels as the contract says, without missing texts. */
static struct vocab *find_labels(const struct column_profile *w, size_t target,
                                 const struct infer *i)
{
    struct vocab *labels = vocab_new();
    for (uint32_t k = 0; k < vocab_count(w->texts); k++) {
        size_t length;
        const char *text = vocab_text(w->texts, k, &length);
        if (!infer_is_missing(i, target, text, length) && w->text_counts[k])
            vocab_add(labels, text, length); /* a count of 0: infer_join_labels joined it */
    }
    uint32_t count = vocab_count(labels);
    uint32_t *order = mem_alloc((size_t)count + 1, sizeof *order);
    vocab_sort(labels, order);
    mem_free(order);
    return labels;
}

/* Lists the texts of missing targets, if not just empty. */
static void name_missing(const struct column_profile *w, size_t target, struct infer *i)
{
    struct infer_column *c = &i->columns[target];
    struct text seen = {0};
    struct json_out kept = {0};
    json_open(&kept, NULL, '[');
    for (uint32_t k = 0; k < vocab_count(w->texts); k++) {
        const char *text = vocab_text(w->texts, k, NULL);
        if (*text && infer_is_missing(i, target, text, strlen(text)))
            text_printf(&seen, "%s\"%s\"", seen.length ? ", " : "", text_quote_z(text));
    }
    for (size_t k = 0; k < i->missing.count; k++) {
        uint32_t at = vocab_find(w->texts, i->missing.items[k], strlen(i->missing.items[k]));
        if (at == UINT32_MAX || !*i->missing.items[k])
            json_put_string(&kept, NULL, i->missing.items[k]);
    }
    json_close(&kept, ']');
    if (seen.length && seen.length + kept.text.length < 160)
        infer_more(c->note, sizeof c->note, "; they %s %s: if that is a class, --set %s",
                   vocab_find(w->texts, "", 0) == UINT32_MAX ? "say" : "are empty or say",
                   seen.data, shell_word("data.missing=%s", kept.text.data));
    text_free(&seen);
    text_free(&kept.text);
}

/* A label beside two others that may stand for "none". */
static void find_nothing(const char *name, const struct column_profile *w,
                         const struct vocab *labels, struct infer *i)
{
    const char *found = NULL;
    uint32_t count = 0;
    for (uint32_t k = 0; k < vocab_count(labels); k++)
        if (infer_means_nothing(vocab_text(labels, k, NULL)) && !count++)
            found = vocab_text(labels, k, NULL);
    if (!count || i->task == TASK_REGRESSION || vocab_count(labels) - count < 2)
        return;
    const uint64_t rows = w->text_counts[vocab_find(w->texts, found, strlen(found))];
    snprintf(i->nothing_note, sizeof i->nothing_note,
             "is \"%.50s\" (%llu rows) a label? If it means that the label is not known, give "
             "`dnn init` --set %s, which leaves such rows out", text_quote_z(found),
             (unsigned long long)rows,
             shell_word("data.columns.%s={\"type\": \"categorical\", \"missing\": [%s]}",
                        shell_key(name),
                        shell_json(found)));
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

void infer_target(const struct survey *s, struct infer *out)
{
    const size_t target = s->target;
    struct column_profile *w = &s->profiles[target];
    struct infer_column *c = &out->columns[target];
    struct vocab *labels = find_labels(w, target, out);
    const uint32_t joined = infer_join_labels(w, labels, s->samples, out);
    if (joined) {
        vocab_free(labels);
        labels = find_labels(w, target, out);
        c->distinct -= joined;
    }
    out->task = find_task(w, c, out->decimal, s->rows);
    infer_labels(s, labels, out);
    find_nothing(s->names[target], w, labels, out);
    infer_sample(s, out);
    find_answers(labels, out);
    vocab_free(labels);
    if (c->missing) {
        snprintf(c->note, sizeof c->note,
                 "%llu of %llu rows have no target: training leaves them out",
                 (unsigned long long)c->missing, (unsigned long long)s->rows);
        if (!c->far[0] && !w->own && out->task != TASK_REGRESSION)
            name_missing(w, target, out);
    } else if (c->distinct < 2)
        snprintf(c->note, sizeof c->note,
                 "the target has one value only: there is nothing to learn");
    else if (out->task == TASK_MULTICLASS && c->distinct > 100)
        snprintf(c->note, sizeof c->note, "the target has %llu classes",
                 (unsigned long long)c->distinct);
}

/* init_notes.c - the notes of `dnn init` about a file, and the time of a training. */
#include "cli/init/init.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/process/progress.h"
#include "base/text.h"
#include "check/forecast.h"

enum { TOLD_ONE_BY_ONE = 3, TOLD_NAMES = 5, TOLD_CELL = 30 };

/* True: chance splits the rows into parts. */
static bool split_by_chance(const struct overrides *o, const struct infer *found)
{
    const char *given = init_set_value(o, "data.split.method");
    const char *method = given ? given : split_method_names[init_split_method(o, found->task)];
    return !found->series.groups && (strcmp(method, split_method_names[SPLIT_RANDOM]) == 0 ||
                                     strcmp(method, split_method_names[SPLIT_STRATIFIED]) == 0);
}

/* The kind of note about each column's type, NULL for none; mem_free. */
static const char **told_kinds(const struct infer *found, const struct overrides *o)
{
    const char **kinds = mem_zero(found->count + 1, sizeof *kinds);
    for (size_t i = 0; i < found->count; i++) {
        const struct infer_column *c = &found->columns[i];
        if (c->reason[0] && !infer_is_target(found, c) && !init_column_given(o, c->name) &&
            !(c->repeats && !split_by_chance(o, found)))
            kinds[i] = c->kind;
    }
    return kinds;
}

/* True: one note may tell of both columns: the same kind of reason, type and form. */
static bool is_alike(const struct infer_column *a, const struct infer_column *b)
{
    return a->kind == b->kind && a->type == b->type && form_same(a->form, b->form);
}

/* A note a column; columns set aside for one reason share a line when there are many. */
static void tell_types(const struct infer *found, const struct overrides *o)
{
    const char **kinds = told_kinds(found, o);
    for (size_t i = 0; i < found->count; i++) {
        const struct infer_column *c = &found->columns[i];
        const char *kind = kinds[i];
        struct text names = {0};
        size_t all = 0;
        bool equal = true; /* figures may differ from column to column */
        for (size_t k = i; kind && k < found->count; k++) {
            if (!is_alike(&found->columns[k], c) || !kinds[k])
                continue;
            equal &= strcmp(found->columns[k].reason, c->reason) == 0;
            const char *cell = found->columns[k].examples[0];
            if (all++ < TOLD_NAMES)
                text_printf(&names, "%s\"%s\"", all > 1 ? ", " : "",
                            text_quote_z(found->columns[k].name));
            if (all <= TOLD_NAMES && c->unread && cell && strlen(cell) <= TOLD_CELL)
                text_printf(&names, " (%s)", text_quote_z(cell));
        }
        if (all > TOLD_NAMES)
            text_printf(&names, " and %zu more", all - TOLD_NAMES);
        for (size_t k = i; all > TOLD_ONE_BY_ONE && k < found->count; k++)
            if (is_alike(&found->columns[k], c))
                kinds[k] = NULL;
        struct text line = {0};
        if (all > TOLD_ONE_BY_ONE)
            text_printf(&line, "columns %s: %s: %s%s", names.data, column_role_names[c->type],
                        equal ? "" : "the first: ", c->reason);
        else
            text_printf(&line, "column \"%s\": %s: %s", text_quote_z(c->name),
                        column_role_names[c->type], c->reason);
        bool read = c->type == COLUMN_NUMERIC || c->type == COLUMN_DATETIME;
        if (kind && (c->unread || c->repeats || (read && !c->form)))
            log_warning("%s", line.data);
        else if (kind)
            log_note("%s", line.data);
        text_free(&line);
        text_free(&names);
    }
    mem_free(kinds);
}

/* How much of the target one column explains alone, on a sample of the rows: as AUC, or as a share
 * of the errors or the variance. */
static void tell_scores(const struct infer *found, const struct overrides *o)
{
    const bool binary = found->task == TASK_BINARY;
    const char *what = binary                            ? "AUC"
                       : found->task == TASK_REGRESSION ? "R2"
                                                        : "share of the errors avoided";
    struct text best = {0};
    size_t all = 0;
    const struct infer_column *last = NULL;
    for (int told = 0; told < TOLD_NAMES; told++) {
        const struct infer_column *next = NULL;
        for (size_t i = 0; i < found->count; i++) {
            const struct infer_column *c = &found->columns[i];
            bool left = !last || c->alone < last->alone || (c->alone == last->alone && c > last);
            if (left && c->alone == c->alone && !init_column_given(o, c->name) &&
                (!next || c->alone > next->alone))
                next = c;
        }
        if (!next || !(next->alone > 0.01))
            break;
        last = next;
        text_printf(&best, "%s\"%s\" %.2f", told ? ", " : "", text_quote_z(next->name),
                    binary ? 0.5 + next->alone / 2 : next->alone);
    }
    for (size_t i = 0; i < found->count; i++) {
        const struct infer_column *c = &found->columns[i];
        if (c->alone != c->alone || init_column_given(o, c->name))
            continue;
        all++;
        log_info("column \"%s\": %s, as the only predictor %.2f (%s)", text_quote_z(c->name),
                 column_role_names[c->type], binary ? 0.5 + c->alone / 2 : c->alone, what);
    }
    char part[60] = "";
    if (all > TOLD_NAMES)
        snprintf(part, sizeof part, ", the best %d of %zu", TOLD_NAMES, all);
    if (best.length)
        log_note("single columns as predictors of the target (%s, a quick estimate)%s: %s", what,
                 part, best.data);
    text_free(&best);
}

/* Writes the form of the target's numbers, and what is wrong with them. */
static void tell_target(const struct infer *found, const struct overrides *o)
{
    const struct infer_column *c = &found->columns[found->target];
    const char *name = text_quote_z(c->name);
    if (!c->reason[0] || found->task != TASK_REGRESSION || init_column_given(o, c->name))
        return;
    if (c->form)
        (c->unread ? log_warning : log_note)("target \"%s\": %s: %s", name,
                                             column_role_names[c->type], c->reason);
    else if (strstr(c->reason, "--set"))
        log_warning("target \"%s\": training will stop at its cells: %s", name, c->reason);
    else
        log_warning("target \"%s\": %s: training will stop there; mend the cells", name, c->reason);
}

/* True if a note tells that values of a column may stand for "none". */
static bool has_far(const struct infer *found, const struct infer_column *c,
                    const struct overrides *o)
{
    const bool is_target = infer_is_target(found, c);
    return c->far[0] && !init_column_given(o, c->name) &&
           !(is_target && found->task != TASK_REGRESSION);
}

/* Values that may stand for "none": first of the columns that the config changes by them. */
static void tell_far(const struct infer *found, const struct overrides *o)
{
    size_t told = 0;
    for (int changed = 1; changed >= 0; changed--) {
        struct text more = {0};
        for (size_t i = 0; i < found->count; i++) {
            const struct infer_column *c = &found->columns[i];
            const bool is_target = infer_is_target(found, c);
            if ((c->none.count > 0) != (changed > 0) || !has_far(found, c, o))
                continue;
            if (is_target || told++ < TOLD_NAMES) {
                log_warning("%s \"%s\": %s", is_target ? "target" : "column",
                            text_quote_z(c->name), c->far);
                continue;
            }
            text_printf(&more, "%s\"%s\"", more.length ? ", " : "", text_quote_z(c->name));
            for (size_t k = 0; changed && k < c->none.count; k++)
                text_printf(&more, "%s\"%s\"%s", k ? ", " : " (", text_quote_z(c->none.items[k]),
                            k + 1 == c->none.count ? ")" : "");
        }
        if (more.length)
            log_warning(changed ? "so have columns %s: taken as missing, by the \"missing\" of each"
                                : "so have columns %s: nothing is changed there", more.data);
        text_free(&more);
    }
}

/* Equal rows that chance deals to both sides of a split. Training warns at the same share. */
static void tell_copies(const struct infer *found, const struct overrides *o)
{
    if (!found->copies || found->copies * 100 < found->looked || !split_by_chance(o, found))
        return;
    for (size_t i = 0; i < found->count; i++)
        if (init_column_given(o, found->columns[i].name))
            return; /* other columns are used than the compared ones */
    log_warning("%llu of %llu sampled rows are duplicates in all columns used: if they are "
                "copies, metrics of a part that has some are too good; take them out, or split by "
                "a group (`dnn help splits`)", (unsigned long long)found->copies,
                (unsigned long long)found->looked);
}

static void note(const char *text)
{
    if (text[0])
        log_note("%s", text);
}

static void warn(const char *text)
{
    if (text[0])
        log_warning("%s", text);
}

void init_notes(const struct infer *found, const struct overrides *o)
{
    const bool task_given = init_set_value(o, "task") != NULL;
    const bool labels = found->task != TASK_REGRESSION;
    const char *target = found->columns[found->target].name;
    struct text leaks = {0};
    size_t many = 0, twins = 0;
    note(found->note);
    note(found->quote_note);
    warn(found->prime_note);
    note(found->missing_note);
    note(found->encoding_note);
    warn(found->page_note);
    tell_types(found, o);
    tell_target(found, o);
    tell_far(found, o);
    tell_copies(found, o);
    if (!init_set_value(o, "data.split.method") && !init_set_value(o, "data.split") &&
        split_by_chance(o, found))
        note(found->time_note);
    warn(found->footer_note);
    if (labels && found->same_note[0])
        log_note("target \"%s\": labels that are equal as numbers are one: %s",
                 text_quote_z(target), found->same_note);
    if (labels && found->label_note[0])
        log_warning("target \"%s\": %s", text_quote_z(target), found->label_note);
    if (labels && found->nothing_note[0])
        log_warning("target \"%s\": %s", text_quote_z(target), found->nothing_note);
    if (found->positive_note[0] && found->positive && !init_set_value(o, "data.positive"))
        (found->positive_guessed ? log_warning : log_note)("%s", found->positive_note);
    tell_scores(found, o);
    for (size_t i = 0; i < found->count; i++) {
        const struct infer_column *c = &found->columns[i];
        const char *key = c->form ? NULL : strstr(c->reason, "--set");
        if (!task_given && found->task == TASK_MULTICLASS && c->type == COLUMN_NUMERIC &&
            infer_is_target(found, c))
            log_note("column \"%s\": %llu classes; for numbers as such use --set "
                     "task=regression%s%s", text_quote_z(c->name), (unsigned long long)c->distinct,
                     key ? " " : "", key ? key : "");
        if (c->twins && twins++ < TOLD_NAMES)
            log_note("column \"%s\": values differ in the way they are written alone: %s",
                     text_quote_z(c->name), c->twins);
        if (c->note[0] && infer_is_target(found, c))
            log_warning("column \"%s\": %s", text_quote_z(c->name), c->note);
        else if (c->note[0] && many++ < TOLD_NAMES)
            text_printf(&leaks, "%s\"%s\"", many > 1 ? ", " : "", text_quote_z(c->name));
    }
    if (many > TOLD_NAMES)
        text_printf(&leaks, " and %zu more", many - TOLD_NAMES);
    if (many)
        log_warning("column%s %s: %s", many > 1 ? "s" : "", leaks.data,
                    many == 1 ? infer_leak_words
                              : "each alone gives the target away almost completely: leave them "
                                "out unless they are known before the target is");
    text_free(&leaks);
}

/* --- the time --- */

/* "about 35 s", or "2 to 13 s" if early stopping may end it. */
static void put_time(const struct forecast *f, struct text *out)
{
    if (f->least < f->seconds)
        text_printf(out, "%.2g to %.3g s", f->least, f->seconds);
    else
        text_printf(out, "about %.3g s", f->seconds);
    if (f->seconds >= 100)
        text_printf(out, " (%s)", progress_time(f->seconds));
}

void init_time(const struct text *config, const char *name, const char *preset, uint64_t rows)
{
    struct forecast own, fast;
    struct text line = {0};
    if (!forecast_make(config->data, config->length, name, NULL, rows, &own))
        return;
    text_printf(&line, "training on this machine (CPU, %u thread%s): ", own.threads,
                own.threads == 1 ? "" : "s");
    put_time(&own, &line);
    text_printf(&line, " with %s%s", preset ? "preset " : "preset auto",
                preset ? text_quote_z(preset) : "");
    if (!preset && forecast_make(config->data, config->length, name, "mlp", rows, &fast)) {
        text_put(&line, ", ");
        put_time(&fast, &line);
        text_put(&line, " with --set model.preset=mlp");
    }
    log_note("%s", line.data);
    text_free(&line);
}

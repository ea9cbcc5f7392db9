/* train_text.c - see train_text.h. */
#include "cli/text/train_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"

/* A line for each member of an ensemble: its weight, the loss that chose it, and two other metrics,
 * on rows that it did not see. */
static void members(const struct train_result *r)
{
    for (uint32_t i = 0; i < r->member_count; i++) {
        const struct train_member *m = &r->members[i];
        struct text line = {0};
        text_printf(&line, "member   %s: weight %.3g", text_quote_z(m->name), m->weight);
        if (!isnan(metrics_get(&m->valid, r->counts))) {
            const struct interval of = metrics_interval(&m->valid, r->counts);
            text_printf(&line, ", %s %s", r->counts,
                        text_figure(metrics_get(&m->valid, r->counts), 4));
            interval_put(&of, &line);
        }
        for (uint32_t k = 0, shown = 0; k < m->valid.count && shown < 2; k++)
            if (!isnan(m->valid.m[k].value) && strcmp(m->valid.m[k].type->name, r->counts) != 0) {
                text_printf(&line, ", %s %s", m->valid.m[k].type->name,
                            text_figure(m->valid.m[k].value, 4));
                shown++;
            }
        text_printf(&line, " (%u network%s, %.3g s)", m->folds, m->folds == 1 ? "" : "s",
                    m->seconds);
        if (!isnan(m->brings))
            text_printf(&line, "; without it the loss would be %s higher",
                        text_figure(m->brings, 2));
        log_line("%s", line.data);
        text_free(&line);
    }
}

enum { CELL = 30 }; /* columns of a value with its interval, at least */

/* The value with its interval, "-" without a value. */
static void put_cell(const struct metrics *m, const char *name, struct text *cell)
{
    text_clear(cell);
    const double value = metrics_get(m, name);
    const struct interval i = metrics_interval(m, name);
    if (isnan(value)) {
        text_put(cell, "-");
    } else {
        text_put(cell, text_figure(value, 4));
        interval_put(&i, cell);
    }
}

/* The width of a column: of its longest cell. */
static int width_of(const struct metrics *m)
{
    struct text cell = {0};
    size_t width = CELL;
    for (uint32_t k = 0; k < m->count; k++) {
        put_cell(m, m->m[k].type->name, &cell);
        width = cell.length > width ? cell.length : width;
    }
    text_free(&cell);
    return (int)width;
}

/* A row a metric, a column a part and the constant answer; the last has no blanks after it. */
static void metrics_table(const struct metrics *const *all, const char *const *names, size_t count)
{
    struct text line = {0}, cell = {0};
    int width[PARTS] = {0};
    text_printf(&line, "%-13s", "metric");
    for (size_t i = 0; i < count; i++) {
        width[i] = i + 1 < count ? width_of(all[i]) : 0;
        text_printf(&line, " %-*s", width[i], names[i]);
    }
    log_line("%s", line.data);
    for (uint32_t k = 0; k < all[0]->count; k++) {
        const char *name = all[0]->m[k].type->name;
        bool has = false;
        text_clear(&line);
        text_printf(&line, "%-13s", name);
        for (size_t i = 0; i < count; i++) {
            has |= !isnan(metrics_get(all[i], name));
            put_cell(all[i], name, &cell);
            text_printf(&line, " %-*s", width[i], cell.data);
        }
        if (has)
            log_line("%s", line.data);
    }
    for (size_t i = 0; i < count; i++) {
        bool has = false;
        for (uint32_t k = 0; k < all[i]->count; k++)
            has |= !isnan(all[i]->m[k].value);
        if (!has)
            log_line("%s: no metric has a value", names[i]);
    }
    text_free(&line);
    text_free(&cell);
}

/* A table of metrics, and a line of all gates. */
void train_metrics_text(const struct train_result *r)
{
    struct text line = {0};
    const struct metrics *const possible[PARTS] = {r->has_valid ? &r->valid : NULL,
                                              r->has_test ? &r->test : NULL, &r->baseline};
    static const char *const words[] = {"valid", "test", "baseline"};
    const struct metrics *all[PARTS];
    const char *names[PARTS];
    size_t count = 0;
    for (size_t i = 0; i < PARTS; i++)
        if (possible[i] && possible[i]->count) {
            names[count] = words[i];
            all[count++] = possible[i];
        }
    if (count)
        metrics_table(all, names, count);
    text_clear(&line);
    for (size_t i = 0; i < r->gate_count; i++) {
        text_printf(&line, "%s%s: %s (", i ? "; " : "gates    ", text_quote_z(r->gates[i].text),
                    r->gates[i].pass ? "met" : "NOT met");
        gate_put(&r->gates[i], &line);
        text_put(&line, ")");
    }
    if (r->gate_count)
        log_line("%s", line.data);
    text_free(&line);
}

void train_text(const struct train_result *r, const char *output)
{
    train_metrics_text(r);
    if (r->runs) {
        members(r);
        log_line("%u run%s, %lld epochs (%s), %.2f s; %s %s", r->runs, r->runs == 1 ? "" : "s",
                 (long long)r->epochs, strcmp(r->stopped, "time_limit") == 0 ? "time limit" : "all",
                 r->total_s, r->member_count ? "model" : "part", text_quote_z(output));
        return;
    }
    char best[32] = "none";
    if (r->begun)
        snprintf(best, sizeof best, "none: the start");
    if (r->best_epoch)
        snprintf(best, sizeof best, "%lld", (long long)r->best_epoch);
    if (!r->epochs)
        log_line("no whole epoch (time limit), %.2f s; model %s", r->total_s,
                 text_quote_z(output));
    else
        log_line("%lld epoch%s (%s), best epoch %s, %.2f s; model %s", (long long)r->epochs,
                 r->epochs == 1 ? "" : "s",
                 strcmp(r->stopped, "patience") == 0     ? "early stopping"
                 : strcmp(r->stopped, "time_limit") == 0 ? "time limit"
                 : strcmp(r->stopped, "diverged") == 0   ? "diverged"
                                                         : "all",
                 best, r->total_s, text_quote_z(output));
}

/* labels.c - a look at the labels and at the end of the file: labels that are written in two
 * ways, classes of a handful of rows, a footer line. */
#include <stdio.h>
#include <string.h>

#include "base/unicode.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"
#include "infer/survey.h"
#include "table/schema/label.h"
#include "table/schema/label_list.h"
#include "table/schema/twins.h"

enum { FEW = 10, MANY = 1000, NAMED = 4 }; /* rows of a label; labels in a warning */

/* Rows with a label. */
static uint64_t rows_of(const struct column_profile *w, const struct vocab *labels, uint32_t label)
{
    size_t length;
    const char *text = vocab_text(labels, label, &length);
    uint32_t at = vocab_find(w->texts, text, length);
    return at == UINT32_MAX ? 0 : w->text_counts[at];
}

/* --- labels that are equal as numbers --- */

/* Makes the rows of a label another label's: its count, and its cells of the sample. */
static void rename_label(struct column_profile *w, uint32_t samples, const char *from,
                         const char *to)
{
    const uint32_t at = vocab_find(w->texts, from, strlen(from));
    const uint32_t hash = infer_hash32(rng_hash(from, strlen(from), 0)),
                   other = infer_hash32(rng_hash(to, strlen(to), 0));
    w->text_counts[vocab_find(w->texts, to, strlen(to))] += w->text_counts[at];
    w->text_counts[at] = 0;
    for (uint32_t i = 0; w->sample_hash && i < samples; i++)
        if (w->sample_hash[i] == hash)
            w->sample_hash[i] = other;
}

uint32_t infer_join_labels(struct column_profile *w, const struct vocab *labels, uint32_t samples,
                           struct infer *i)
{
    const uint32_t count = vocab_count(labels);
    uint32_t *as = mem_alloc((size_t)count + 1, sizeof *as), named = 0;
    uint64_t *rows = mem_alloc((size_t)count + 1, sizeof *rows);
    struct text list = {0};
    for (uint32_t k = 0; k < count; k++)
        rows[k] = rows_of(w, labels, k);
    const uint32_t joined = label_join(labels, rows, as);
    for (uint32_t k = 0; joined && k < count; k++) {
        const char *from = vocab_text(labels, k, NULL), *to = vocab_text(labels, as[k], NULL);
        if (as[k] == k)
            continue;
        rename_label(w, samples, from, to);
        if (named++ < NAMED)
            text_printf(&list, "%s\"%s\" (%llu rows) is \"%s\"", named > 1 ? ", " : "", from,
                        (unsigned long long)rows[k], to);
    }
    if (named > NAMED)
        text_printf(&list, " and %u more", named - NAMED);
    snprintf(i->same_note, sizeof i->same_note, "%s", joined ? list.data : "");
    text_free(&list);
    mem_free(rows);
    mem_free(as);
    return joined;
}

/* --- labels that look wrong --- */

static void find_twins(const struct vocab *labels, struct text *out)
{
    struct text list = {0};
    if (twins_list(labels, &list))
        text_printf(out, "labels %s differ in the way they are written alone: are they one "
                    "label? Mend the file", list.data);
    text_free(&list);
}

static void find_few(const struct column_profile *w, const struct vocab *labels, struct text *out)
{
    uint64_t most = 0;
    unsigned found = 0;
    for (uint32_t k = 0; k < vocab_count(labels); k++)
        most = rows_of(w, labels, k) > most ? rows_of(w, labels, k) : most;
    for (uint32_t k = 0; most >= MANY && k < vocab_count(labels); k++) {
        uint64_t rows = rows_of(w, labels, k);
        if (rows >= FEW || found++ >= NAMED)
            continue;
        text_printf(out, "%s\"%s\" (%llu row%s)",
                    found > 1 ? ", " : out->length ? "; labels " : "labels ",
                    text_quote_z(vocab_text(labels, k, NULL)), (unsigned long long)rows,
                    rows == 1 ? "" : "s");
    }
    if (found > NAMED)
        text_printf(out, " and %u more", found - NAMED);
    if (found)
        text_printf(out, ": a handful of rows, while another label has %llu: too few to learn; "
                    "typing errors, or classes to be joined?", (unsigned long long)most);
}

void infer_labels(const struct survey *s, const struct vocab *labels, struct infer *i)
{
    const struct column_profile *w = &s->profiles[s->target];
    struct text out = {0};
    uint64_t rows[2] = {0, 0};
    for (uint32_t k = 0; k < vocab_count(labels) && k < 2; k++)
        rows[k] = rows_of(w, labels, k);
    if (i->task == TASK_BINARY && vocab_count(labels))
        infer_positive(labels, rows, i);
    if (i->task == TASK_REGRESSION)
        return;
    const bool lists = label_list_tell(labels, s->names[s->target], &out);
    if (!lists)
        find_twins(labels, &out);
    if (!lists)
        find_few(w, labels, &out);
    snprintf(i->label_note, sizeof i->label_note, "%s", out.length ? out.data : "");
    text_free(&out);
}

/* --- the last line --- */

static bool is_total(const char *text)
{
    static const char *const words[] = {"total", "totals", "grand total", "sum", "summe", "gesamt",
                                        "subtotal", "average", "mean", "totale", "suma", "totaal"};
    char *plain = text_fold(text, true);
    size_t length = strlen(plain);
    if (length && plain[length - 1] == ':')
        plain[length - 1] = '\0';
    bool found = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        found |= strcmp(plain, words[i]) == 0;
    mem_free(plain);
    return found;
}

void infer_footer(const struct survey *s, struct infer *i)
{
    const char *why = NULL, *name = NULL;
    if (s->short_line.id != ERR_NONE) {
        snprintf(i->footer_note, sizeof i->footer_note,
                 "%.150s: the file is cut off, or its last line is a sum: take that line out, for "
                 "training stops there", s->short_line.what);
        return;
    }
    for (size_t c = 0; c < s->count && !why; c++) {
        const struct column_profile *w = &s->profiles[c];
        if (w->others == 1 && w->other.line == s->last_line &&
            infer_all_numbers(w) + w->dates >= 10) {
            why = w->other.text;
            name = s->names[c];
        }
    }
    if (!why && s->rows >= 10 && is_total(s->last_cell)) {
        why = s->last_cell;
        name = s->names[0];
    }
    if (!why)
        return;
    char column[100];
    snprintf(column, sizeof column, "%.90s", text_quote_z(name));
    snprintf(i->footer_note, sizeof i->footer_note,
             "line %lld, the last one, has \"%.60s\" in column \"%s\": if it is a sum and no row, "
             "take it out of the file%s", (long long)s->last_line, text_quote_z(why), column,
             s->last_unlabelled ? "; it has no target, and training leaves it out" : "");
}

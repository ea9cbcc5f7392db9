/* infer_labels.c - a look at the labels and at the end of the file: the positive label, labels that
 * are written in two ways, classes of a handful of rows, a footer line. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "table/infer_survey.h"

enum { FEW = 10, MANY = 1000, NAMED = 4 }; /* rows of a label; labels in a warning */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Without blanks around it and with small letters; mem_free. */
static char *folded(const char *text)
{
    size_t length = strlen(text), from = strspn(text, " \t");
    while (length > from && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    char *out = mem_string_n(text + from, length - from);
    for (char *c = out; *c; c++)
        *c = lower(*c);
    return out;
}

/* Rows with a label. */
static uint64_t rows_of(const struct watch *w, const struct vocab *labels, uint32_t label)
{
    size_t length;
    const char *text = vocab_text(labels, label, &length);
    uint32_t at = vocab_find(w->texts, text, length);
    return at == UINT32_MAX ? 0 : w->text_counts[at];
}

/* --- the positive label --- */

/* The affirmative one of a known pair; -1: it is none. */
static int affirmative(const struct vocab *labels)
{
    static const char *const pairs[][2] = {
        {"0", "1"}, {"no", "yes"}, {"false", "true"}, {"n", "y"}, {"f", "t"}, {"nein", "ja"},
        {"neg", "pos"}, {"negative", "positive"}, {"non", "oui"}, {"off", "on"}, {"-1", "1"},
        {"-1", "+1"}, {"-", "+"}, {"absent", "present"}, {"nej", "ja"}, {"no", "si"},
        {"nee", "ja"}, {"unchecked", "checked"}, {"fail", "pass"}, {"failure", "success"}};
    char *word[2] = {folded(vocab_text(labels, 0, NULL)), folded(vocab_text(labels, 1, NULL))};
    int found = -1;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int k = 0; k < 2; k++)
            if (strcmp(word[!k], pairs[i][0]) == 0 && strcmp(word[k], pairs[i][1]) == 0)
                found = k;
    mem_free(word[0]);
    mem_free(word[1]);
    return found;
}

static void find_positive(const struct watch *w, const struct vocab *labels, struct infer *i)
{
    uint32_t count = vocab_count(labels);
    int known = count == 2 ? affirmative(labels) : -1;
    uint64_t rows[2] = {0, 0};
    for (uint32_t k = 0; k < count && k < 2; k++)
        rows[k] = rows_of(w, labels, k);
    uint32_t at = known >= 0 ? (uint32_t)known : count == 2 && rows[0] < rows[1] ? 0 : count - 1;
    const char *text = vocab_text(labels, at, NULL);
    i->positive = mem_string(text);
    if (count != 2)
        return;
    const char *why = known >= 0 ? "" : rows[0] == rows[1] ? ", the last one" : ", the rarer one";
    char name[80];
    snprintf(name, sizeof name, "%.70s", text_quote_z(text));
    snprintf(i->positive_note, sizeof i->positive_note,
             "the positive label is \"%s\"%s (%llu of %llu rows); for the other one --set "
             "'data.positive=%.70s'", name, why, (unsigned long long)rows[at],
             (unsigned long long)(rows[0] + rows[1]), vocab_text(labels, !at, NULL));
}

/* --- labels that look wrong --- */

static void find_twins(const struct vocab *labels, struct text *out)
{
    struct vocab *seen = vocab_new();
    uint32_t *first = mem_alloc((size_t)vocab_count(labels) + 1, sizeof *first);
    unsigned found = 0;
    for (uint32_t k = 0; k < vocab_count(labels); k++) {
        char *plain = folded(vocab_text(labels, k, NULL));
        uint32_t known = vocab_count(seen), at = vocab_add(seen, plain, strlen(plain));
        if (at == known)
            first[at] = k;
        else if (found++ < NAMED)
            text_printf(out, "%s\"%s\"", found > 1 ? ", " : "labels ",
                        text_quote_z(vocab_text(labels, first[at], NULL))),
                text_printf(out, " and \"%s\"", text_quote_z(vocab_text(labels, k, NULL)));
        mem_free(plain);
    }
    if (found > NAMED)
        text_printf(out, " and %u more", found - NAMED);
    if (found)
        text_put(out, " differ by case or blanks alone: are they one label? Mend the file");
    mem_free(first);
    vocab_free(seen);
}

static void find_few(const struct watch *w, const struct vocab *labels, struct text *out)
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

void infer_labels(const struct survey *s, size_t target, const struct vocab *labels,
                  struct infer *i)
{
    const struct watch *w = &s->watches[target];
    struct text out = {0};
    if (i->task == TASK_BINARY && vocab_count(labels))
        find_positive(w, labels, i);
    if (i->task == TASK_REGRESSION)
        return;
    find_twins(labels, &out);
    find_few(w, labels, &out);
    snprintf(i->label_note, sizeof i->label_note, "%s", out.length ? out.data : "");
    text_free(&out);
}

/* --- the last line --- */

static bool is_total(const char *text)
{
    static const char *const words[] = {"total", "totals", "grand total", "sum", "summe", "gesamt",
                                        "subtotal", "average", "mean", "totale", "suma", "totaal"};
    char *plain = folded(text);
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
        const struct watch *w = &s->watches[c];
        uint64_t numbers = w->whole + w->points + w->commas + w->dates;
        if (w->others == 1 && w->other_line == s->last_line && w->other && numbers >= 10) {
            why = w->other;
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

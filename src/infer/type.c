/* type.c - decides the type of each column from its statistics. */
#include "infer/survey.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/process/shell.h"

#define TEXT_ROUTES                                                                                \
    "hashed n-grams of it are read; \"encode\": \"tokens\" learns its words in order"

static struct infer_counts count_cells(const struct column_profile *w, bool comma)
{
    struct infer_counts c = {.missing = w->given, .comma = comma,
                             .distinct = w->distinct -
                                         (uint64_t)__builtin_popcountll(w->given_seen)};
    for (int i = 0; i < INFER_MISSING; i++) {
        const struct infer_absent *a = &w->absent[i];
        if (!a->cells)
            continue;
        *(a->missing ? &c.missing : &c.texts) += a->cells;
        c.distinct -= a->missing;
        if (!a->missing && (!c.word.text || a->line < c.word.line))
            c.word = (struct infer_first){infer_missing_texts[i], a->line};
    }
    c.present = w->cells - c.missing;
    c.numbers = w->whole + w->signs[comma].cells;
    c.texts += w->others + w->signs[!comma].cells;
    return c;
}

/* --- the type of a column --- */

static bool among(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

bool infer_asked(const struct infer_request *r, const char *name)
{
    return among(r->ids, r->id_count, name) || among(r->ignored, r->ignored_count, name);
}

void infer_set(struct infer_column *c, int type, const char *format, ...)
{
    va_list args;
    c->type = type;
    c->kind = format;
    va_start(args, format);
    vsnprintf(c->reason, sizeof c->reason, format, args);
    va_end(args);
}

void infer_more(char *note, size_t size, const char *format, ...)
{
    const size_t used = strlen(note);
    va_list args;
    va_start(args, format);
    vsnprintf(note + used, size - used, format, args);
    va_end(args);
}

/* True if leading zeros are common: 00501 is a code. */
static bool is_padded(const struct column_profile *w, const struct infer_counts *n)
{
    return w->padded * 200 >= n->present && w->padded;
}

/* True for repeated integers that a float cannot distinguish: codes. */
static bool long_codes(const struct column_profile *w, const struct infer_counts *n)
{
    return w->serials * 2 > n->present && n->distinct * 2 <= n->present;
}

/* The first cell that is not a number: a word, or a number with the other decimal sign. */
static const struct infer_first *first_wrong(const struct column_profile *w,
                                             const struct infer_counts *n)
{
    const struct infer_first *const found[] = {&w->signs[!n->comma].first, &w->other,
                                               &n->word};
    const struct infer_first *first = found[0];
    for (size_t i = 1; i < sizeof found / sizeof *found; i++)
        if (found[i]->text && (!first->text || found[i]->line < first->line))
            first = found[i];
    return first;
}

/* Describes it, for use after a number of cells. */
struct place {
    char text[120];
};

static struct place place_of_wrong(const struct column_profile *w, const struct infer_counts *n)
{
    struct place p = {""};
    const struct infer_first *first = first_wrong(w, n);
    if (first->text)
        snprintf(p.text, sizeof p.text, ", the first \"%.60s\" at line %lld",
                 text_quote_z(first->text), (long long)first->line);
    return p;
}

/* Numbers or dates in 99 % of the cells: the type stays, and training reports the place. */
static bool type_of_most(const struct column_profile *w, const struct infer_counts *n,
                         struct infer_column *c)
{
    bool dates = w->dates > n->numbers;
    uint64_t wrong = n->present - (dates ? w->dates : n->numbers);
    if (wrong * 100 > n->present || is_padded(w, n) ||
        (!dates && n->distinct <= 100 && !(w->fraction > 0)) ||
        (column_name_kind(c->name) == NAME_ID && n->distinct * 2 > n->present))
        return false;
    struct place first = place_of_wrong(w, n);
    infer_set(c, dates ? COLUMN_DATETIME : COLUMN_NUMERIC,
              "%llu of %llu cells %s no %s%s: training will stop there; mend them, or list the "
              "text under data.missing", (unsigned long long)wrong, (unsigned long long)n->present,
              wrong == 1 ? "is" : "are",
              !dates                            ? "number"
              : w->date_forms.unreal == wrong ? "day that exists"
                                                : "date", first.text);
    return true;
}

/* Numbers or dates in a form that dnn does not read, alone or among numbers. */
static bool type_of_forms(const struct column_profile *w, const struct infer_counts *n,
                          struct infer_column *c)
{
    const bool comma = n->comma;
    const uint64_t foreign = w->signs[!comma].cells, odd = w->signs[!comma].odd;
    uint64_t forms[FORMS], all = 0;
    int form = FORM_NONE;
    memcpy(forms, w->forms, sizeof forms);
    forms[!odd ? FORM_GROUPED : comma ? FORM_POINT : FORM_COMMA] += foreign;
    if (w->amounts.proofs[!comma] && !w->amounts.proofs[comma] &&
        w->amounts.read[!comma] == w->amounts.cells) {
        forms[comma ? FORM_POINT : FORM_COMMA] += forms[FORM_CURRENCY] + forms[FORM_PERCENT] +
                                                  forms[FORM_GROUPED];
        forms[FORM_CURRENCY] = forms[FORM_PERCENT] = forms[FORM_GROUPED] = 0;
    }
    for (int i = FORM_NONE + 1; i < FORMS; i++) {
        all += forms[i];
        form = forms[i] > forms[form] || form == FORM_NONE ? i : form;
    }
    uint64_t read = form == FORM_DATE ? w->dates : n->numbers;
    if (!all || all != w->others + foreign || all + read != n->present)
        return false;
    const struct infer_first *first = first_wrong(w, n);
    char reason[200];
    const char *kind = form_reason(form, comma ? ',' : '.', reason, sizeof reason);
    bool few = (form == FORM_DATE || foreign == all) && n->distinct <= 20 &&
               n->distinct * 4 <= n->present;
    infer_set(c, few ? COLUMN_CATEGORICAL : COLUMN_IGNORE, "%s%s", reason,
              few ? "; taken as categories" : "");
    c->unread = !few;
    c->kind = kind;
    if (form == FORM_DATE && !few)
        c->kind = infer_date_reason(&w->date_forms, c->name, c->reason, sizeof c->reason);
    bool named = form == FORM_DATE && !few && w->date_forms.unreal; /* a cell */
    if (first->text && !named && strlen(c->reason) + 60 < sizeof c->reason)
        infer_more(c->reason, sizeof c->reason, " (\"%.40s\" at line %lld)",
                   text_quote_z(first->text), (long long)first->line);
    return true;
}

/* Dates; notes times without a date and months without a day. */
static void type_of_dates(const struct column_profile *w, struct infer_column *c)
{
    c->type = COLUMN_DATETIME;
    if (w->times && w->times < w->dates)
        infer_set(c, COLUMN_DATETIME,
                  "%llu of %llu cells are a time without a date: they count as times of 1970-01-01",
                  (unsigned long long)w->times, (unsigned long long)w->dates);
    else if (w->months && w->months < w->dates)
        infer_set(c, COLUMN_DATETIME,
                  "%llu of %llu cells are a month without a day: they count as its first day",
                  (unsigned long long)w->months, (unsigned long long)w->dates);
}

static bool are_numbers(const struct column_profile *w, const struct infer_counts *n)
{
    return !n->texts && !w->dates && !is_padded(w, n) && !long_codes(w, n);
}

/* Types a column whose cells are all read; false: they are not. */
static bool type_of_read(const struct column_profile *w, const struct infer_counts *n,
                         struct infer_column *c)
{
    if (are_numbers(w, n))
        infer_numbers(w, n, c);
    else if (n->texts || n->numbers)
        return infer_propose(w, n, c) || infer_propose_span(w, n, c);
    else if (!infer_propose_span(w, n, c))
        type_of_dates(w, c);
    return true;
}

/* True: many values, so that classes would have few rows each. */
static bool is_measure(const struct column_profile *w, uint64_t distinct)
{
    return distinct > (w->fraction > 0 ? 10 : 20);
}

/* Types the column without its words, if it is numbers or dates then: the words mean missing. Not
 * if the user lists the missing texts. */
static bool type_without_words(const struct infer_request *r, const struct column_profile *w,
                               const struct infer_counts *n, struct infer_column *c)
{
    struct column_profile plain;
    struct opt_strings words;
    uint64_t cells;
    int64_t line;
    if (r->missing || w->own || n->present < 20 ||
        !infer_without_words(w, &plain, &words, &cells, &line))
        return false;
    struct infer_counts rest = count_cells(&plain, n->comma);
    rest.sure = n->sure;
    rest.target = n->target;
    rest.missing += w->words_only.cells;
    rest.distinct -= w->words_only.count;
    const bool good = rest.distinct > 10 && type_of_read(&plain, &rest, c) &&
                      !c->unread &&
                      (c->type == COLUMN_NUMERIC /* dates may have words in most rows: ongoing */
                           ? is_measure(w, rest.distinct) && cells * 2 <= n->present
                           : c->type == COLUMN_DATETIME && !n->target);
    if (good) {
        for (size_t i = 0; i < words.count; i++)
            opt_strings_add(&c->none, words.items[i]);
        c->missing = rest.missing;
        c->distinct = rest.distinct;
        infer_tell_words(&words, cells, n->present, line, n->target, c);
    } else {
        form_free(c->form);
        c->form = NULL;
        c->reason[0] = '\0';
        c->kind = NULL;
        c->unread = false;
        c->type = COLUMN_CATEGORICAL;
    }
    opt_strings_free(&words);
    return good;
}

/* Numbers in nearly all cells of a target, too many different ones for classes: the task is
 * regression once the others are mended. */
static bool numbers_of_most(const struct column_profile *w, const struct infer_counts *n,
                            struct infer_column *c)
{
    const uint64_t wrong = n->present - n->numbers;
    const bool classes = w->own && !w->own->count; /* says the user */
    if (classes || n->present < 20 || wrong * 10 > n->present || w->dates || is_padded(w, n) ||
        n->distinct <= wrong + 30)
        return false;
    infer_set(c, COLUMN_CATEGORICAL, "%llu of %llu cells %s no number%s",
              (unsigned long long)wrong, (unsigned long long)n->present,
              wrong == 1 ? "is" : "are", place_of_wrong(w, n).text);
    return true;
}

/* A target is never ignored. If its cells are numbers that dnn does not read, its reason says so:
 * the task is then regression, after they are corrected. */
static void type_of_target(const struct infer_request *r, const struct column_profile *w,
                           const struct infer_counts *n, struct infer_column *c)
{
    bool read = !n->texts && !w->dates;
    if (!read && type_without_words(r, w, n, c))
        return;
    bool proposed = !read && !w->forms[FORM_DATE] &&
                    (infer_propose_span(w, n, c) || infer_propose(w, n, c));
    if (proposed && c->type == COLUMN_NUMERIC)
        return; /* and the config says how its numbers are written */
    if (proposed && c->kind == infer_two_readings) {
        c->type = COLUMN_NUMERIC; /* once the user says it */
        return;
    }
    form_free(c->form);
    c->form = NULL;
    if (!read && !(proposed && w->amounts.scaled && n->distinct > 30) &&
        !(n->distinct > 30 && type_of_forms(w, n, c) && w->forms[FORM_DATE] == 0) &&
        !numbers_of_most(w, n, c) &&
        !(n->distinct > 30 && n->distinct * 2 > n->present && infer_is_dressed(w, n->present, c)))
        c->reason[0] = '\0';
    c->kind = NULL;
    c->type = read ? COLUMN_NUMERIC : COLUMN_CATEGORICAL;
}

static void report_wrong(const struct column_profile *w, const struct infer_counts *n,
                         int type, struct infer_column *c)
{
    uint64_t wrong = n->present - n->numbers;
    const char *first = first_wrong(w, n)->text;
    const bool one = first && w->alike * 2 > wrong;
    infer_set(c, type,
              "%llu of %llu cells are numbers, %llu %s not%s: mend %s and run init again, or add a "
              "text that means missing%s%.60s%s to data.missing and make the column numeric; if "
              "they are codes, use categorical",
              (unsigned long long)(n->present - wrong), (unsigned long long)n->present,
              (unsigned long long)wrong, wrong == 1 ? "is" : "are",
              place_of_wrong(w, n).text, wrong == 1 ? "it" : "them",
              one ? " (\"" : "", one ? text_quote_z(first) : "", one ? "\")" : "");
    /* few, or one text: a key reads the column, and it is too good to be lost quietly */
    c->unread = type == COLUMN_IGNORE && (wrong * 10 <= n->present || w->alike * 2 > wrong);
}

static void type_of_texts(const struct column_profile *w, const struct infer_counts *n,
                          struct infer_column *c)
{
    double present = (double)n->present, distinct = (double)n->distinct;
    double words = w->others ? (double)w->words / (double)w->others : 0;
    double bytes = w->others ? (double)w->bytes / (double)w->others : 0;
    bool unique = n->distinct == n->present || w->capped;
    const bool signs = infer_has_patterns(w, false); /* digits and signs: words tell nothing */
    uint64_t wrong = n->present - n->numbers;
    c->type = COLUMN_CATEGORICAL;
    if (is_padded(w, n))
        infer_set(c, COLUMN_CATEGORICAL,
                  "zeros in front, as in \"%.40s\", make codes of its numbers",
                  text_quote_z(w->pad));
    else if (long_codes(w, n))
        infer_set(c, COLUMN_CATEGORICAL, "whole numbers of more than 16 digits are codes");
    bool numbers = wrong && n->numbers * 2 > n->present &&
                   (n->distinct > 100 || (distinct > 0.5 * present && !c->reason[0]));
    if (n->present < 20) {
        if (numbers && wrong == 1)
            report_wrong(w, n, COLUMN_CATEGORICAL, c);
        return;
    }
    if (infer_mostly_dates(w, n->present, c))
        return;
    if (column_name_kind(c->name) == NAME_ID && distinct > 0.5 * present)
        infer_set(c, COLUMN_ID, "its name and its values, %s different, are those of an identifier",
                  unique ? "all" : "most of them");
    else if (words >= 3 && distinct > 0.5 * present && !signs)
        infer_set(c, COLUMN_TEXT, "free text: %.0f words a cell, %.0f %% of the cells different; "
                  TEXT_ROUTES, words, 100 * distinct / present);
    else if (bytes >= 60 && words >= 8 && distinct > 0.2 * present)
        infer_set(c, COLUMN_TEXT, "free text: %.0f words a cell; " TEXT_ROUTES, words);
    else if (unique && column_name_kind(c->name) == NAME_NUMBER)
        infer_set(c, COLUMN_ID, "its name and its values, all different, are those of an "
                                "identifier");
    else if (numbers)
        report_wrong(w, n, COLUMN_IGNORE, c);
    else if ((unique || (distinct > 0.5 * present && n->distinct > 50)) &&
             infer_is_dressed(w, n->present, c))
        return;
    else if (unique && bytes <= 40 && (words < 3 || signs))
        infer_set(c, COLUMN_ID, "every cell is different, as those of an identifier");
    else if (unique)
        infer_set(c, COLUMN_IGNORE, "every cell is different");
    else if (distinct > 0.5 * present && n->distinct > 50 && infer_has_patterns(w, true))
        infer_set(c, COLUMN_IGNORE, "%llu different values in %llu cells, such as \"%.40s\": "
                  "neither numbers nor dates that dnn reads; to learn from a part of them, write "
                  "it into a column of its own", (unsigned long long)n->distinct,
                  (unsigned long long)n->present, text_quote_z(w->dress.first[0]));
    else if (distinct > 0.5 * present && n->distinct > 50)
        infer_set(c, COLUMN_IGNORE, "%llu different values in %llu cells: hardly one is met again",
                  (unsigned long long)n->distinct, (unsigned long long)n->present);
    else if (n->distinct > VOCAB_MOST / 2)
        infer_set(c, COLUMN_IGNORE, "too many values");
    else if (wrong && (wrong == 1 || wrong * 100 <= n->present) && !c->reason[0])
        report_wrong(w, n, COLUMN_CATEGORICAL, c);
    else if (n->distinct > 10 && !c->reason[0] && infer_is_dressed(w, n->present, c)) {
        c->type = COLUMN_CATEGORICAL; /* 4'9" */
        c->unread = false;
        infer_more(c->reason, sizeof c->reason, "; taken as categories");
    }
    if (c->type != COLUMN_TEXT)
        return;
    c->buckets = infer_terms_buckets(&w->terms);
    if (6 * w->syllables > w->bytes) /* most of the text: a syllable has three bytes and more */
        infer_set(c, COLUMN_TEXT, "free text in a script without blanks between words: its "
                  "characters and pairs of them are read; \"encode\": \"tokens\" learns them in "
                  "order");
}

static void type_of(const struct infer_request *r, const struct survey *s,
                    const struct column_profile *w, const struct infer_counts *n,
                    struct infer_column *c)
{
    uint64_t least = s->rows < 40 ? 1 : 10;
    if (n->target)
        type_of_target(r, w, n, c);
    else if (infer_asked(r, c->name))
        c->type = among(r->ids, r->id_count, c->name) ? COLUMN_ID : COLUMN_IGNORE;
    else if (!n->present)
        infer_set(c, COLUMN_IGNORE, "every cell is missing");
    else if (n->missing && n->present < least)
        infer_set(c, COLUMN_IGNORE, "only %llu of %llu rows have a value",
                  (unsigned long long)n->present, (unsigned long long)s->rows);
    else if (n->distinct == 1 && !n->missing)
        infer_set(c, COLUMN_IGNORE, "the same value in every row");
    else if (n->distinct == 1)
        c->type = COLUMN_CATEGORICAL; /* missing or not is its only information */
    else if (!type_of_read(w, n, c) && !type_without_words(r, w, n, c) &&
             !type_of_most(w, n, c) && !type_of_forms(w, n, c))
        type_of_texts(w, n, c);
    const bool asked = infer_asked(r, c->name);
    if (c->type == COLUMN_ID && !asked)
        infer_way_back(c, are_numbers(w, n) && !(w->serials * 2 > n->present));
    c->numbers = are_numbers(w, n) && n->present && !asked && c->type != COLUMN_NUMERIC;
}

void infer_types(const struct infer_request *r, const struct survey *s, struct infer *out)
{
    bool sure;
    out->decimal = infer_decimal(s, &sure);
    if (r->decimal) {
        out->decimal = r->decimal;
        sure = true;
    }
    out->rows = s->rows;
    out->count = s->count;
    out->target = s->target;
    out->columns = mem_zero(s->count, sizeof *out->columns);
    const bool comma = out->decimal == ',';
    infer_missing(r, s, out->decimal, out);
    infer_missing_note(r, s, out->missing_note, sizeof out->missing_note);
    for (size_t i = 0; i < s->count; i++) {
        struct column_profile *w = &s->profiles[i];
        struct infer_column *c = &out->columns[i];
        struct infer_counts n = count_cells(w, comma);
        n.sure = sure;
        n.target = i == s->target;
        if (s->last_unlabelled && w->others == 1 && w->other.line == s->last_line) {
            n.texts--; /* a footer, which training leaves out: infer_footer tells it */
            n.present--;
            n.distinct--;
        }
        c->name = mem_string(s->names[i]);
        c->alone = (double)NAN;
        c->missing = n.missing;
        c->distinct = n.distinct;
        c->distinct_capped = w->capped;
        c->low = infer_low(w, comma);
        c->high = infer_high(w, comma);
        if (!n.numbers)
            c->low = c->high = NAN;
        for (size_t k = 0; k < sizeof w->example / sizeof *w->example; k++) {
            c->examples[k] = w->example[k];
            w->example[k] = NULL;
        }
        type_of(r, s, w, &n, c);
        if (c->type == COLUMN_CATEGORICAL && !c->reason[0] && !r->missing && !w->texts &&
            w->absent[INFER_NA].cells && infer_is_of_codes(w))
            infer_set(c, COLUMN_CATEGORICAL,
                      "\"NA\" is taken as one of its codes of two letters, not as missing; "
                      "data.missing lists what is");
    }
}

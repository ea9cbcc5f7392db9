/* positive.c - which of two labels is the positive one: the affirmative one of a known pair,
 * else the rarer one. */
#include <stdio.h>
#include <string.h>

#include "base/unicode.h"
#include "base/mem.h"
#include "base/process/shell.h"
#include "base/text.h"
#include "infer/survey.h"
#include "table/schema/label.h"

static const char *const pairs[][2] = {
#define PAIR(other, affirmative) {other, affirmative},
#include "table/schema/label_pairs.def"
#undef PAIR
};

static bool is_number(double value, double number)
{
    return value >= number && value <= number;
}

/* 0 and 1, -1 and 1, however they are written. Returns the place of 1; -1: other labels. */
static int of_numbers(const char *const label[2], char decimal)
{
    double v[2];
    for (int i = 0; i < 2; i++)
        if (!label_number(label[i], strlen(label[i]), decimal, &v[i]))
            return -1;
    for (int i = 0; i < 2; i++)
        if (is_number(v[i], 1) && (is_number(v[!i], 0) || is_number(v[!i], -1)))
            return i;
    return -1;
}

static int of_words(char *const word[2])
{
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int k = 0; k < 2; k++)
            if (strcmp(word[!k], pairs[i][0]) == 0 && strcmp(word[k], pairs[i][1]) == 0)
                return k;
    return -1;
}

/* The rest of a word after a negation; NULL: it has none. */
static const char *negated(const char *word)
{
    static const char *const spaced[] = {
        "no", "not", "non", "nicht", "kein", "keine", "nie", "niet", "geen", "ikke", "inte", "sin",
        "sem", "senza", "sans", "pas", "pas de", "nao", "khong", "tidak", "bukan", "bez",
        "не", "нет", "без", "غير", "لا"};
    static const char *const joined[] = {"non", "不", "未", "非", "无", "無",
                                         "没有", "沒有", "미", "비", "불"};
    for (size_t i = 0; i < sizeof spaced / sizeof *spaced; i++) {
        size_t n = strlen(spaced[i]);
        if (strncmp(word, spaced[i], n) == 0 && word[n] && strchr(" -_", word[n]) && word[n + 1])
            return word + n + 1;
    }
    for (size_t i = 0; i < sizeof joined / sizeof *joined; i++) {
        size_t n = strlen(joined[i]);
        if (strncmp(word, joined[i], n) == 0 && word[n])
            return word + n;
    }
    return NULL;
}

/* "churned" and "not churned": the label without the negation. */
static int of_negation(char *const word[2])
{
    for (int k = 0; k < 2; k++) {
        const char *rest = negated(word[!k]);
        if (rest && strcmp(rest, word[k]) == 0)
            return k;
    }
    return -1;
}

int infer_affirmative(const char *one, const char *other)
{
    const char *const label[2] = {one, other};
    int found = of_numbers(label, '.');
    found = found < 0 ? of_numbers(label, ',') : found;
    for (int plain = 0; plain < 2 && found < 0; plain++) { /* "ça" and "ca" may be the labels */
        char *word[2] = {text_fold(one, plain), text_fold(other, plain)};
        found = of_words(word);
        found = found < 0 ? of_negation(word) : found;
        mem_free(word[0]);
        mem_free(word[1]);
    }
    return found;
}

void infer_positive(const struct vocab *labels, const uint64_t *rows, struct infer *i)
{
    const uint32_t count = vocab_count(labels);
    if (count != 2) {
        i->positive = mem_string(vocab_text(labels, count - 1, NULL));
        return;
    }
    int known = infer_affirmative(vocab_text(labels, 0, NULL), vocab_text(labels, 1, NULL));
    const uint32_t at = known >= 0 ? (uint32_t)known : rows[0] < rows[1] ? 0 : 1;
    const char *text = vocab_text(labels, at, NULL), *other = vocab_text(labels, !at, NULL);
    char name[80], rest[80];
    snprintf(name, sizeof name, "%.70s", text_quote_z(text));
    snprintf(rest, sizeof rest, "%.70s", text_quote_z(other));
    i->positive = mem_string(text);
    i->positive_guessed = known < 0;
    if (known >= 0)
        snprintf(i->positive_note, sizeof i->positive_note,
                 "the positive label is \"%s\" (%llu of %llu rows); for the other one --set %s",
                 name, (unsigned long long)rows[at], (unsigned long long)(rows[0] + rows[1]),
                 shell_word("data.positive=%s", other));
    else
        snprintf(i->positive_note, sizeof i->positive_note,
                 "the positive label is \"%s\", %s (%llu rows; \"%s\": %llu), and not by its "
                 "meaning; for the other one --set %s", name,
                 rows[0] == rows[1] ? "the last one of two as frequent" : "the rarer one",
                 (unsigned long long)rows[at], rest, (unsigned long long)rows[!at],
                 shell_word("data.positive=%s", other));
}

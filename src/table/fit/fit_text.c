/* fit_text.c - fits texts: the weights of their buckets, or their vocabulary of tokens, and how
 * many terms or tokens a record holds. */
#include "table/fit/fit.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/sort.h"
#include "table/schema/tokens.h"

/* The texts of a column, one after another; rows without a text are counted. */
struct texts {
    const struct fit *fit;
    const struct vocab *all;
    uint32_t at;
    uint64_t row, missing;
};
static const char *next_text(struct texts *t, size_t *length)
{
    while (t->row < t->fit->count) {
        int32_t id = record_int(rows_at(&t->fit->data->rows, t->fit->rows[t->row++]), t->at);
        if (id)
            return vocab_text(t->all, (uint32_t)id - 2, length);
        t->missing++;
    }
    return NULL;
}

/* --- tokens --- */

struct counted {
    const char *text;
    size_t length;
    uint64_t rows; /* training rows, each repeated by its weight */
};

static int by_count(const void *a, const void *b, const void *context)
{
    const struct counted *x = a, *y = b;
    (void)context;
    if (x->rows != y->rows)
        return x->rows > y->rows ? -1 : 1;
    int order = memcmp(x->text, y->text, x->length < y->length ? x->length : y->length);
    return order ? order : x->length < y->length ? -1 : x->length > y->length;
}

/* The most frequent tokens, of equal ones the first by bytes. */
static void keep_tokens(const struct fit *f, uint32_t most, struct column_fit *fit,
                        const struct vocab *tokens, const uint64_t *counts)
{
    uint32_t count = vocab_count(tokens);
    struct counted *list = mem_alloc((size_t)count + 1, sizeof *list);
    for (uint32_t i = 0; i < count; i++) {
        list[i].text = vocab_text(tokens, i, &list[i].length);
        list[i].rows = counts[i];
    }
    sort_stable(list, count, sizeof *list, by_count, NULL);
    for (uint32_t i = 0; i < count && i < most; i++)
        if (fit->min_count <= 1 ||
            weighed_rows(&f->weighed, list[i].rows) >= (double)fit->min_count)
            vocab_add(fit->vocab, list[i].text, list[i].length);
    mem_free(list);
}

static void fit_tokens(const struct fit *f, const struct column *c, struct column_fit *fit,
                       const struct vocab *all, uint32_t at)
{
    const uint32_t most = c->tokens_most;
    struct vocab *tokens = vocab_new();
    struct terms terms = {0};
    uint64_t *counts = NULL;
    size_t room = 0, longest = 2, read = 0, length; /* a sequence has two places at least */
    struct texts texts = {f, all, at, 0, 0};
    for (const char *text; (text = next_text(&texts, &length));) {
        size_t here = tokens_cut(&terms, c->text.rule, text, length);
        fit->cut += here > most;
        read += here < most ? here : most;
        longest = here > longest ? here : longest;
        for (size_t k = 0; k < here && k < most; k++) {
            const size_t from = terms.starts[k];
            uint32_t token =
                vocab_add(tokens, terms.words.data + from, terms.starts[k + 1] - from);
            if (token >= room) {
                counts = mem_grow(counts, 2 * room + 1024, sizeof *counts);
                memset(counts + room, 0, (room + 1024) * sizeof *counts);
                room = 2 * room + 1024;
            }
            counts[token]++;
        }
    }
    fit->missing = texts.missing;
    fit->slots = longest < most ? (uint32_t)longest : most;
    log_debug("texts as tokens: %zu tokens in %llu places", read,
              (unsigned long long)f->count * fit->slots);
    keep_tokens(f, c->text.buckets, fit, tokens, counts);
    vocab_free(tokens);
    terms_free(&terms);
    mem_free(counts);
}

/* --- terms --- */

void fit_text(const struct fit *f, size_t column, const struct vocab *all, uint32_t at)
{
    const struct column *c = &f->encoder->schema->columns[column];
    struct column_fit *fit = &f->encoder->columns[column];
    if (column_is_tokens(c)) {
        fit_tokens(f, c, fit, all, at);
        return;
    }
    uint32_t *rows_with = mem_zero(c->text.buckets, sizeof *rows_with);
    struct terms terms = {0};
    struct texts texts = {f, all, at, 0, 0};
    size_t length;
    fit->slots = 1;
    for (const char *text; (text = next_text(&texts, &length));) {
        terms_make(&terms, &c->text, text, length, TERM_SLOTS_MOST);
        fit->slots = terms.count > fit->slots ? terms.count : fit->slots;
        for (uint32_t k = 0; k < terms.count; k++)
            rows_with[TERM_BUCKET(terms.items[k])]++;
    }
    fit->missing = texts.missing;
    terms_free(&terms);
    if (c->text.weight == TEXT_TFIDF) {
        fit->bucket_weights = mem_alloc(c->text.buckets, sizeof *fit->bucket_weights);
        for (uint32_t b = 0; b < c->text.buckets; b++)
            fit->bucket_weights[b] =
                (float)(1 + log((1 + weighed_rows(&f->weighed, f->count)) /
                                (1 + weighed_rows(&f->weighed, rows_with[b]))));
    }
    mem_free(rows_with);
}

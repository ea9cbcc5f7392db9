/* encoder_text.c - fits texts: the weights of their buckets, and how many terms a record holds. */
#include "table/encoder_fit.h"

#include <math.h>

#include "base/mem.h"

void fit_text(const struct fit *f, struct column *c, const struct vocab *all, uint32_t at)
{
    uint32_t *rows_with = mem_zero(c->text.buckets, sizeof *rows_with);
    struct terms terms = {0};
    c->missing = 0;
    c->slots = 1;
    for (uint64_t i = 0; i < f->count; i++) {
        int32_t id = record_int(rows_at(&f->data->rows, f->rows[i]), at);
        size_t length;
        c->missing += id == 0;
        if (!id)
            continue;
        const char *text = vocab_text(all, (uint32_t)id - 2, &length);
        terms_make(&terms, &c->text, text, length, TERM_SLOTS_MOST);
        c->slots = terms.count > c->slots ? terms.count : c->slots;
        for (uint32_t k = 0; k < terms.count; k++)
            rows_with[TERM_BUCKET(terms.items[k])]++;
    }
    terms_free(&terms);
    if (c->text.weight == TEXT_TFIDF) {
        c->bucket_weights = mem_alloc(c->text.buckets, sizeof *c->bucket_weights);
        for (uint32_t b = 0; b < c->text.buckets; b++)
            c->bucket_weights[b] =
                (float)(1 + log((1 + (double)f->count) / (1 + (double)rows_with[b])));
    }
    mem_free(rows_with);
}

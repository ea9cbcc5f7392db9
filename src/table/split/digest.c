/* digest.c - the hash of encoder, split and rows. */
#include "table/split/digest.h"

#include <string.h>

#include "base/mem.h"
#include "base/file/sha256.h"

/* --- schema and encoder --- */

static void add_text(struct sha256 *h, const char *text)
{
    if (text)
        sha256_add(h, text, strlen(text));
    sha256_add(h, "", 1);
}

static void add_vocab(struct sha256 *h, const struct vocab *v)
{
    uint32_t count = v ? vocab_count(v) : 0;
    sha256_add(h, &count, sizeof count);
    for (uint32_t i = 0; i < count; i++) {
        size_t length;
        const char *text = vocab_text(v, i, &length);
        sha256_add(h, text, length + 1);
    }
}

/* Hashes all settings that turn a row into the input of the network. */
static void add_encoder(struct sha256 *h, const struct encoder *e)
{
    const struct schema *s = e->schema;
    const int32_t whole[] = {s->task,
                             s->dialect.delimiter,
                             s->dialect.header,
                             s->dialect.encoding,
                             s->decimal,
                             (int32_t)s->target,
                             (int32_t)s->column_count,
                             (int32_t)e->number_count,
                             (int32_t)s->category_count};
    const double target[] = {e->coding.center, e->coding.scale};
    sha256_add(h, whole, sizeof whole);
    sha256_add(h, target, sizeof target);
    if (e->coding.transform)
        add_text(h, target_transform_names[e->coding.transform]);
    if (e->coding.knot_count)
        sha256_add(h, e->coding.knots, e->coding.knot_count * sizeof *e->coding.knots);
    if (s->quantile_count)
        sha256_add(h, s->quantiles, s->quantile_count * sizeof *s->quantiles);
    add_text(h, s->positive);
    for (size_t i = 0; i < s->missing.count; i++)
        add_text(h, s->missing.items[i]);
    for (size_t i = 0; i < s->column_count; i++) {
        const struct column *c = s->columns + i;
        const struct column_fit *fit = e->columns + i;
        const int64_t plain[] = {c->type,      c->scale, c->impute, c->unknown, c->encode,
                                 fit->min_count, c->dim,   c->number, c->category};
        add_text(h, c->name);
        sha256_add(h, plain, sizeof plain);
        add_vocab(h, i == s->target ? s->labels : fit->vocab);
        for (size_t k = 0; k < c->none.count; k++)
            add_text(h, c->none.items[k]);
        if (c->type != COLUMN_TEXT)
            continue;
        sha256_add(h, &c->text, sizeof c->text);
        sha256_add(h, &fit->slots, sizeof fit->slots);
        if (fit->bucket_weights)
            sha256_add(h, fit->bucket_weights, c->text.buckets * sizeof *fit->bucket_weights);
    }
    for (uint32_t i = 0; i < e->number_count; i++) {
        const struct number_slot *n = e->numbers + i;
        const double plain[] = {n->offset, n->center, n->factor,
                                n->least,  n->most,   (double)n->impute};
        const int32_t kind[] = {n->scale, n->indicator, (int32_t)n->quantile_count};
        sha256_add(h, plain, sizeof plain);
        sha256_add(h, kind, sizeof kind);
        if (n->quantile_count)
            sha256_add(h, n->quantiles, n->quantile_count * sizeof *n->quantiles);
        if (n->periodic)
            add_text(h, "periodic");
        if (n->transform || n->edge_count) {
            const int32_t more[] = {n->transform, n->alone, (int32_t)n->edge_count};
            sha256_add(h, more, sizeof more);
            if (n->edge_count)
                sha256_add(h, n->edges, n->edge_count * sizeof *n->edges);
        }
    }
}


/* --- the whole --- */

static void add_weights(struct sha256 *h, const struct dataset *d)
{
    const struct rows *rows = &d->rows;
    float piece[1024];
    for (uint64_t i = 0; i < rows->count;) {
        size_t n = 0;
        for (; n < 1024 && i < rows->count; n++, i++)
            memcpy(&piece[n], rows_at(rows, i) + rows->format.at_weight, sizeof *piece);
        sha256_add(h, piece, n * sizeof *piece);
    }
}

static bool is_weighted(const struct schema *s)
{
    for (size_t i = 0; i < s->column_count; i++)
        if (s->columns[i].type == COLUMN_WEIGHT)
            return true;
    return false;
}

void data_digest(const struct dataset *d, const struct encoder *c, const struct split *split,
                 const uint64_t *hash, char hex[65])
{
    struct sha256 h;
    sha256_init(&h);
    add_encoder(&h, c);
    sha256_add(&h, split->part, d->samples.count);
    sha256_add(&h, hash, d->rows.count * sizeof *hash);
    for (size_t i = 0; i < d->schema->column_count; i++)
        if (d->schema->columns[i].category != UINT32_MAX)
            add_vocab(&h, d->schema->columns[i].values);
    add_vocab(&h, d->schema->labels);
    if (d->target)
        sha256_add(&h, d->target, d->rows.count * sizeof *d->target);
    if (is_weighted(d->schema))
        add_weights(&h, d);
    sha256_hex(&h, hex);
}

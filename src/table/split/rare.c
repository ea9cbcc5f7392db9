/* rare.c - see rare.h. */
#include "table/split/rare.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "table/schema/vocab.h"

struct search {
    const struct dataset *data;
    const uint32_t *samples;
    uint64_t count;
    uint32_t ids;
    uint8_t *met;      /* [ids], 1: in a training sample */
    uint64_t *rows, *first; /* [ids]: for labels that are in none */
};

static uint64_t sample_at(const struct search *s, uint64_t i)
{
    return s->samples ? s->samples[i] : i;
}

/* The label of a record that counts; -1: none. */
static int32_t label_of(const struct dataset *d, uint64_t record)
{
    return dataset_counts(d, record) ? dataset_label(d, record) : -1;
}

/* False: some label is in no training sample. */
static bool all_met(const struct search *s, const uint8_t *trained)
{
    uint32_t left = s->ids;
    for (uint64_t i = 0; i < s->count && left; i++) {
        uint64_t sample = sample_at(s, i), first = sample_first(&s->data->samples, sample);
        uint64_t records = trained[i] ? sample_records(&s->data->samples, sample) : 0;
        for (uint64_t k = 0; k < records; k++) {
            int32_t id = label_of(s->data, first + k);
            if (id >= 0 && !s->met[id]) {
                s->met[id] = 1;
                left--;
            }
        }
    }
    return !left;
}

/* Keeps the samples with a label that is not met. False: no such samples. */
static bool keep_samples(struct search *s, uint8_t *keep)
{
    bool any = false;
    for (uint64_t i = 0; i < s->count; i++) {
        uint64_t sample = sample_at(s, i), first = sample_first(&s->data->samples, sample);
        keep[i] = 0;
        for (uint64_t k = 0; k < sample_records(&s->data->samples, sample); k++) {
            int32_t id = label_of(s->data, first + k);
            if (id < 0 || s->met[id])
                continue;
            s->first[id] = s->rows[id]++ ? s->first[id] : first + k;
            keep[i] = 1;
            any = true;
        }
    }
    return any;
}

/* Samples with the key of a kept one stay too. */
static void keep_groups(const struct search *s, uint8_t *keep)
{
    const struct dataset *d = s->data;
    struct vocab *kept = vocab_new();
    for (uint64_t i = 0; i < s->count; i++)
        if (keep[i])
            vocab_add(kept, (const char *)&d->key[sample_first(&d->samples, sample_at(s, i))],
                      sizeof *d->key);
    for (uint64_t i = 0; i < s->count; i++)
        keep[i] |= vocab_find(kept, (const char *)&d->key[sample_first(&d->samples,
                                                                       sample_at(s, i))],
                              sizeof *d->key) != UINT32_MAX;
    vocab_free(kept);
}

static void list_labels(const struct search *s, struct rare *r)
{
    for (uint32_t id = 0; id < s->ids; id++) {
        bool known = !s->rows[id];
        for (uint64_t k = 0; k < r->labels && k < RARE_NAMED; k++)
            known |= r->named[k].id == id;
        if (known)
            continue;
        if (r->labels < RARE_NAMED)
            r->named[r->labels] = (struct rare_label){id, s->rows[id], s->first[id]};
        r->labels++;
    }
}

bool rare_find(const struct dataset *d, const uint32_t *samples, uint64_t count,
               const uint8_t *trained, uint8_t *keep, struct rare *r)
{
    if (!d->schema->labels)
        return false;
    struct search s = {
        .data = d, .samples = samples, .count = count, .ids = vocab_count(d->schema->labels)};
    s.met = mem_zero((size_t)s.ids + 1, sizeof *s.met);
    s.rows = mem_zero((size_t)s.ids + 1, sizeof *s.rows);
    s.first = mem_zero((size_t)s.ids + 1, sizeof *s.first);
    bool any = !all_met(&s, trained) && keep_samples(&s, keep);
    if (any && d->key)
        keep_groups(&s, keep);
    if (any && r)
        list_labels(&s, r);
    mem_free(s.met);
    mem_free(s.rows);
    mem_free(s.first);
    return any;
}

static uint64_t records_of(const struct dataset *d, uint32_t id)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < d->rows.count; i++)
        count += label_of(d, i) == (int32_t)id;
    return count;
}

void rare_tell(const struct rare *r, const struct dataset *d, const struct data_options *o,
               struct remarks *remarks)
{
    const struct schema *s = d->schema;
    for (uint64_t k = 0; k < r->labels && k < RARE_NAMED; k++) {
        const struct rare_label *l = &r->named[k];
        struct err place = {0};
        struct text line = {0};
        size_t length;
        const char *label = vocab_text(s->labels, l->id, &length);
        dataset_place(d, o, l->first + 1, &place);
        if (place.line)
            text_printf(&line, ", line %lld", (long long)place.line);
        const unsigned long long all = records_of(d, l->id), rows = l->rows;
        struct text of = {0};
        if (all > rows) /* e.g. if one is a test row, and the folds have the other */
            text_printf(&of, "%llu of its ", rows);
        remark_add(remarks,
                   "the label \"%.80s\" of \"%.60s\" is too rare to split (%s%llu row%s%s): %s "
                   "in every training part, and %s",
                   text_quote(label, length), text_quote_z(s->columns[s->target].name),
                   of.data ? of.data : "", all, all == 1 ? "" : "s", line.data ? line.data : "",
                   rows == 1 ? "it stays" : "they stay",
                   all > rows    ? "the other rows alone measure it"
                   : rows == 1 ? "no figure measures it"
                               : "no figure measures them");
        text_free(&of);
        text_free(&line);
    }
    if (r->labels > RARE_NAMED)
        remark_add(remarks, "%llu more labels are too rare to split, and stay in training",
                   (unsigned long long)(r->labels - RARE_NAMED));
}

/* dataset_label.c - joins the labels of the files that are equal as numbers: "1.0" and "1" are one
 * class, whose text is that of most training rows. Tells labels and categories that are twins. */
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "table/dataset/dataset_read.h"
#include "table/schema/label.h"
#include "table/schema/record.h"
#include "table/dataset/record_hash.h"
#include "table/schema/twins.h"

enum { NAMED = 4 }; /* labels in the note */

/* Rows of each label, of the training files, which come first, or of the others. */
static uint64_t *count_rows(const struct dataset *d, uint64_t from, uint64_t to)
{
    uint64_t *rows = mem_zero((size_t)vocab_count(d->schema->labels) + 1, sizeof *rows);
    for (uint64_t i = from; i < to; i++)
        if (dataset_label(d, i) >= 0)
            rows[dataset_label(d, i)]++;
    return rows;
}

static void rewrite_rows(struct dataset *d, const uint32_t *as)
{
    const struct rowfmt *f = &d->rows.format;
    for (uint64_t i = 0; i < d->rows.count; i++) {
        unsigned char *record = rows_at(&d->rows, i);
        int32_t label = record_int(record, f->at_target);
        if (label < 0 || as[label] == (uint32_t)label)
            continue;
        label = (int32_t)as[label];
        memcpy(record + f->at_target, &label, sizeof label);
        if (d->label)
            d->label[i] = label;
        const uint64_t mask = (UINT64_C(1) << d->rows.shift) - 1;
        d->hash[i >> d->rows.shift][i & mask] = record_hash(record, f);
    }
}

static void note_joined(const struct dataset *d, const uint32_t *as, const uint64_t *trained,
                        const uint64_t *others)
{
    const struct schema *s = d->schema;
    struct text list = {0};
    unsigned named = 0;
    for (uint32_t i = 0; i < vocab_count(s->labels); i++) {
        if (as[i] == i || named++ >= NAMED)
            continue;
        text_printf(&list, "%s\"%s\" (%llu rows)", named > 1 ? ", " : "",
                    text_quote_z(vocab_text(s->labels, i, NULL)),
                    (unsigned long long)(trained[i] + others[i]));
        text_printf(&list, " is \"%s\"", text_quote_z(vocab_text(s->labels, as[i], NULL)));
    }
    if (named > NAMED)
        text_printf(&list, " and %u more", named - NAMED);
    log_note("target \"%s\": labels that are equal as numbers are one: %s",
             text_quote_z(s->columns[s->target].name), list.data);
    text_free(&list);
}

bool dataset_join_labels(struct dataset *d)
{
    const struct vocab *labels = d->schema->labels;
    bool joined = false;
    if (!labels)
        return false;
    uint32_t *as = mem_alloc((size_t)vocab_count(labels) + 1, sizeof *as);
    if (label_join(labels, NULL, as)) {
        uint64_t *trained = count_rows(d, 0, d->rows_of[PART_TRAIN]);
        uint64_t *others = count_rows(d, d->rows_of[PART_TRAIN], d->rows.count);
        joined = label_join(labels, trained, as) > 0;
        if (joined) {
            rewrite_rows(d, as);
            note_joined(d, as, trained, others);
        }
        mem_free(trained);
        mem_free(others);
    }
    mem_free(as);
    return joined;
}

void dataset_tell_twins(const struct dataset *d, bool joined)
{
    const struct schema *s = d->schema;
    struct text list = {0};
    unsigned columns = 0;
    if (s->labels && !joined && twins_list(s->labels, &list))
        log_warning("target \"%s\": labels %s differ in the way they are written alone: are they "
                    "one label? Mend the file",
                    text_quote_z(s->columns[s->target].name), list.data);
    for (size_t i = 0; i < s->column_count; i++) {
        const struct column *c = &s->columns[i];
        text_clear(&list);
        if (c->type == COLUMN_CATEGORICAL && twins_list(c->values, &list) && columns++ < NAMED)
            log_note("column \"%s\": values differ in the way they are written alone: %s",
                     text_quote_z(c->name), list.data);
    }
    if (columns > NAMED)
        log_note("%u more columns have values that differ in the way they are written alone",
                 columns - NAMED);
    text_free(&list);
}

/* parts_check.c - counts the labels in one pass and compares the parts. */
#include "table/split/parts_check.h"

#include "base/mem.h"
#include "base/text.h"
#include "base/process/thread.h"
#include "table/schema/record.h"

#define TILE_ROWS UINT64_C(16384)
enum { LABELS_NAMED = 4 }; /* labels named in one warning */

struct counting {
    const struct dataset *data;
    const uint8_t *part;
    uint32_t ids;
    uint64_t *counts; /* [threads][PARTS][ids] */
};

static void count_tile(void *context, unsigned tile, unsigned thread)
{
    const struct counting *k = context;
    const struct rows *rows = &k->data->rows;
    uint64_t *counts = k->counts + (size_t)thread * PARTS * k->ids;
    uint64_t end = (tile + UINT64_C(1)) * TILE_ROWS;
    end = end < rows->count ? end : rows->count;
    for (uint64_t i = tile * TILE_ROWS; i < end; i++) {
        int32_t id = dataset_label(k->data, i);
        if (id >= 0 && dataset_counts(k->data, i))
            counts[k->part[sample_of(&k->data->samples, i)] * k->ids + (uint32_t)id]++;
    }
}

/* Returns the counts [PARTS][ids]; mem_free. */
static uint64_t *count_labels(const struct dataset *d, const struct split *s, uint32_t ids)
{
    unsigned tiles = (unsigned)((d->rows.count + TILE_ROWS - 1) / TILE_ROWS);
    unsigned threads = ids < 4096 ? threads_count() : 1; /* many labels: one copy only */
    size_t size = (size_t)PARTS * ids;
    struct counting k = {d, s->part, ids, mem_zero(threads * size + 1, sizeof *k.counts)};
    if (threads > 1)
        threads_run(tiles, count_tile, &k);
    for (unsigned tile = 0; threads == 1 && tile < tiles; tile++)
        count_tile(&k, tile, 0);
    for (size_t i = size; i < threads * size; i++)
        k.counts[i % size] += k.counts[i];
    return k.counts;
}

static bool report_unseen(const struct dataset *d, uint32_t id, uint64_t rows, uint64_t *row,
                          struct err *e)
{
    const struct schema *s = d->schema;
    size_t length;
    const char *label = vocab_text(s->labels, id, &length);
    for (*row = 1; *row < d->rows.count; ++*row)
        if (dataset_label(d, *row - 1) == (int32_t)id)
            break;
    return err_set(e, ERR_LABEL_UNSEEN,
                   "label \"%s\" of \"%s\" is in %llu validation or test row%s, here first, and in "
                   "no training row", text_quote(label, length),
                   text_quote_z(s->columns[s->target].name), (unsigned long long)rows,
                   rows == 1 ? "" : "s");
}

/* Sets the error of a class that training rows lack: it cannot be learned or scored. */
static bool check_unseen(const struct dataset *d, const uint64_t *counts, uint32_t ids,
                         uint64_t *row, struct err *e)
{
    for (uint32_t i = 0; i < ids; i++) {
        uint64_t others = counts[PART_VALID * ids + i] + counts[PART_TEST * ids + i];
        if (!counts[i] && others) {
            err_clear(e);
            return report_unseen(d, i, others, row, e);
        }
    }
    return true;
}

/* counts: rows of this part, by id. */
static void warn_lacking(const struct encoder *c, uint32_t ids, const uint64_t *counts,
                         enum part part, struct remarks *remarks)
{
    uint32_t classes = vocab_count(c->schema->labels);
    uint8_t *met = mem_zero(classes + 1, sizeof *met);
    struct text list = {0};
    uint32_t lacking = 0;
    uint64_t rows = 0;
    for (uint32_t i = 0; i < ids; i++) {
        rows += counts[i];
        if (c->class_of[i] >= 0)
            met[c->class_of[i]] = counts[i] > 0;
    }
    for (uint32_t i = 0; i < classes && rows; i++) {
        size_t length;
        const char *label = vocab_text(c->schema->labels, i, &length);
        if (!met[i] && lacking++ < LABELS_NAMED)
            text_printf(&list, "%s\"%s\"", lacking > 1 ? ", " : "", text_quote(label, length));
    }
    if (lacking > LABELS_NAMED)
        text_printf(&list, " and %u more", lacking - LABELS_NAMED);
    if (lacking)
        remark_add(remarks, "no %s row has the label %s; metrics are over the classes present",
                   part_names[part], list.data);
    text_free(&list);
    mem_free(met);
}

bool labels_check(const struct encoder *c, const struct dataset *d, const struct split *s,
                  struct remarks *remarks, uint64_t *row, struct err *e)
{
    if (!d->schema->labels)
        return true;
    uint32_t ids = vocab_count(d->schema->labels);
    uint64_t *counts = count_labels(d, s, ids);
    bool good = check_unseen(d, counts, ids, row, e);
    for (int part = PART_VALID; good && c && part < PARTS; part++)
        warn_lacking(c, ids, counts + (size_t)part * ids, (enum part)part, remarks);
    mem_free(counts);
    return good;
}

/* table.c - the training data: read, split, fitted, applied, in this order; see table/stats.h for
 * who does what. */
#include "table/table.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/thread.h"
#include "table/leak.h"
#include "table/split.h"
#include "table/stats.h"
#include "table/table_read.h"

#define TILE_ROWS 8192 /* of the last pass; a power of two, so that no tile lies in two chunks */

/* --- parts --- */

const char *const part_names[PARTS] = {"training", "validation", "test"};
const char *const part_words[PARTS] = {"train", "valid", "test"};

static uint8_t *own_parts(const struct table_raw *raw)
{
    const struct table *t = raw->table;
    if (raw->rows_of[PART_TRAIN] == t->rows.count)
        return NULL;
    uint8_t *fixed = mem_zero(t->rows.count, 1), *at = fixed + raw->rows_of[PART_TRAIN];
    for (int part = PART_VALID; part < PARTS; part++) {
        memset(at, part + 1, raw->rows_of[part]);
        at += raw->rows_of[part];
    }
    return fixed;
}

static int32_t *own_labels(const struct table *t, const struct schema *s,
                           const struct split_options *o)
{
    if (o->method != SPLIT_STRATIFIED || s->task == TASK_REGRESSION)
        return NULL;
    int32_t *labels = mem_alloc(t->rows.count, sizeof *labels);
    for (uint64_t i = 0; i < t->rows.count; i++)
        memcpy(&labels[i], rows_at(&t->rows, i) + s->format.at_target, sizeof *labels);
    return labels;
}

static void index_parts(struct table *t)
{
    for (uint64_t i = 0; i < t->rows.count; i++)
        t->count[t->part[i]]++;
    for (int part = PART_TRAIN; part < PARTS; part++) {
        uint64_t next = 0;
        t->index[part] = mem_alloc(t->count[part] ? t->count[part] : 1, sizeof *t->index[part]);
        for (uint64_t i = 0; i < t->rows.count; i++)
            if (t->part[i] == part)
                t->index[part][next++] = (uint32_t)i;
    }
}

/* What the files say, where their columns say the part. */
static void note_said(const struct table_raw *raw, const struct schema *s,
                      const struct split_options *o)
{
    char column[128];
    if (o->method != SPLIT_COLUMN)
        return;
    snprintf(column, sizeof column, "%s", text_quote_z(s->columns[s->split_columns[0]].name));
    if (raw->left_out)
        log_note("%llu row%s of data.train left out: column \"%s\" says a part that has its own "
                 "file", (unsigned long long)raw->left_out, raw->left_out == 1 ? "" : "s", column);
    if (!raw->table->count[PART_VALID])
        log_note("no row says \"valid\" in column \"%s\": there is nothing to choose the best "
                 "weights by, and the last epoch's are kept", column);
}

/* Rows of a file of its own, which no split keeps apart from the training rows. */
static void warn_shared(struct table *t, const struct split_input *in)
{
    uint64_t shared[PARTS] = {0};
    if (!in->fixed)
        return;
    split_shared(in, t->part, shared);
    for (int part = PART_VALID; part < PARTS; part++)
        if (shared[part])
            stats_warn(t,
                       "%llu of %llu %s rows are of a group that training rows have too: the "
                       "metrics are not those of new groups", (unsigned long long)shared[part],
                       (unsigned long long)t->count[part], part_names[part]);
}

/* A part that what the method keeps together leaves with much less than its share. */
static void warn_short(struct table *t, const struct split_options *o, const uint32_t want[PARTS])
{
    static const char *const reasons[] = {
        [SPLIT_RANDOM] = "there are few rows",
        [SPLIT_STRATIFIED] = "each label keeps a row to train on",
        [SPLIT_GROUP] = "a group stays together, and these are few or large",
        [SPLIT_TIME] = "rows of one time stay together, and the times are few",
        [SPLIT_HASH] = "chance deals, and there are few rows or few keys"};
    uint64_t all = (uint64_t)want[PART_TRAIN] + want[PART_VALID] + want[PART_TEST];
    for (int part = PART_TRAIN; part < PARTS && o->method != SPLIT_COLUMN; part++)
        if ((double)t->count[part] < SPLIT_SHORT * want[part])
            stats_warn(t,
                       "data.split (method %s) leaves %llu of %llu rows for %s, whose share is %u: "
                       "%s; other fractions may fit", split_method_names[o->method],
                       (unsigned long long)t->count[part], (unsigned long long)all,
                       part_names[part], want[part], reasons[o->method]);
}

/* Columns of groups that the split does not go by: they are of no other use. */
static void warn_groups(struct table *t, const struct schema *s, const struct split_options *o)
{
    bool parted = t->count[PART_VALID] || t->count[PART_TEST];
    for (size_t i = 0; parted && i < s->column_count; i++) {
        bool read = s->columns[i].type != COLUMN_GROUP;
        for (size_t k = 0; k < s->split_column_count; k++)
            read |= s->split_columns[k] == i;
        if (!read)
            stats_warn(t,
                       "column \"%s\" of type group has no effect, as data.split.method is %s: "
                       "rows of a group may be in several parts; set the method to \"group\" to "
                       "keep them together", text_quote_z(s->columns[i].name),
                       split_method_names[o->method]);
    }
}

static bool split(struct table_raw *raw, const struct schema *s, const struct split_options *o,
                  uint64_t seed, struct err *e)
{
    struct table *t = raw->table;
    uint8_t *fixed = own_parts(raw), *said = spill_flat(&raw->said);
    int32_t *label = own_labels(t, s, o);
    uint64_t *key = spill_flat(&raw->key);
    double *time = spill_flat(&raw->time);
    struct split_input in = {.rows = t->rows.count,
                             .fixed = fixed,
                             .label = label,
                             .key = key,
                             .time = time,
                             .said = said};
    t->part = mem_zero(t->rows.count, sizeof *t->part);
    uint32_t want[PARTS];
    bool good = split_rows(o, seed, &in, t->part, want, e);
    if (good) {
        index_parts(t);
        note_said(raw, s, o);
        warn_short(t, o, want);
        warn_groups(t, s, o);
        if (o->method == SPLIT_GROUP)
            warn_shared(t, &in);
    }
    mem_free(fixed);
    mem_free(said);
    mem_free(label);
    mem_free(key);
    mem_free(time);
    return good;
}

/* --- applying, and the hash of it all --- */

struct last_pass {
    const struct schema *schema;
    const struct table *table;
    uint64_t tile_rows;
    char (*digests)[65];
};

static void last_tile(void *context, unsigned tile, unsigned thread)
{
    struct last_pass *p = context;
    const struct rows *rows = &p->table->rows;
    uint64_t first = tile * p->tile_rows, count = rows->count - first;
    (void)thread;
    count = count < p->tile_rows ? count : p->tile_rows;
    unsigned char *records = rows_at(rows, first);
    column_apply(p->schema, records, count);
    struct sha256 hash;
    sha256_init(&hash);
    sha256_add(&hash, records, count * rows->format.stride);
    sha256_hex(&hash, p->digests[tile]);
}

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

/* Everything that turns a row into what the network sees; the records themselves come afterwards.
 * */
static void add_schema(struct sha256 *h, const struct schema *s)
{
    const int32_t whole[] = {s->task,
                             s->dialect.delimiter,
                             s->dialect.header,
                             s->dialect.encoding,
                             s->decimal,
                             (int32_t)s->target,
                             (int32_t)s->column_count,
                             (int32_t)s->number_count,
                             (int32_t)s->category_count};
    const double target[] = {s->target_center, s->target_scale};
    sha256_add(h, whole, sizeof whole);
    sha256_add(h, target, sizeof target);
    add_text(h, s->positive);
    for (size_t i = 0; i < s->missing.count; i++)
        add_text(h, s->missing.items[i]);
    for (size_t i = 0; i < s->column_count; i++) {
        const struct column *c = s->columns + i;
        const int64_t plain[] = {c->type,      c->scale, c->impute, c->unknown, c->encode,
                                 c->min_count, c->dim,   c->number, c->category};
        add_text(h, c->name);
        sha256_add(h, plain, sizeof plain);
        add_vocab(h, c->vocab);
    }
    for (uint32_t i = 0; i < s->number_count; i++) {
        const struct number_slot *n = s->numbers + i;
        const double plain[] = {n->offset, n->center, n->factor,
                                n->least,  n->most,   (double)n->impute};
        const int32_t kind[] = {n->scale, n->indicator, (int32_t)n->quantile_count};
        sha256_add(h, plain, sizeof plain);
        sha256_add(h, kind, sizeof kind);
        if (n->quantile_count)
            sha256_add(h, n->quantiles, n->quantile_count * sizeof *n->quantiles);
    }
}

static void apply(const struct schema *s, struct table *t)
{
    struct last_pass p = {.schema = s, .table = t, .tile_rows = TILE_ROWS};
    if (p.tile_rows >> t->rows.shift)
        p.tile_rows = UINT64_C(1) << t->rows.shift;
    unsigned tiles = (unsigned)((t->rows.count + p.tile_rows - 1) / p.tile_rows);
    p.digests = mem_alloc(tiles ? tiles : 1, sizeof *p.digests);
    threads_run(tiles, last_tile, &p);
    struct sha256 hash;
    sha256_init(&hash);
    add_schema(&hash, s);
    sha256_add(&hash, t->part, t->rows.count);
    sha256_add(&hash, p.digests, tiles * sizeof *p.digests);
    sha256_hex(&hash, t->sha256);
    mem_free(p.digests);
}

/* --- the story --- */

static void count_bytes(const struct table_raw *raw)
{
    struct table *t = raw->table;
    uint64_t row = sizeof *t->part + sizeof **t->index + (t->target ? sizeof *t->target : 0);
    t->bytes =
        raw->chunk_count * ((uint64_t)t->rows.format.stride << t->rows.shift) + t->rows.count * row;
}

/* What is wrong with all rows together is wrong with the files: with those of training, or, of a
 * label that training lacks, with all. */
static bool in_files(const struct data_options *o, struct err *e)
{
    const struct opt_strings *lists[PARTS] = {&o->train, &o->valid, &o->test};
    int last = e->id == ERR_LABEL_UNSEEN ? PART_TEST : PART_TRAIN;
    struct text names = {0};
    if (e->id == ERR_NONE || e->file[0])
        return false;
    for (int part = PART_TRAIN; part <= last; part++)
        for (size_t i = 0; i < lists[part]->count && i < 2; i++)
            text_printf(&names, "%s%s", names.length ? ", " : "",
                        i ? "..." : lists[part]->items[0]);
    if (names.length && names.length < sizeof e->file)
        memcpy(e->file, names.data, names.length + 1);
    text_free(&names);
    return false;
}

/* A class that training rows lack: no split can help where a file of its own has it. */
static void unseen_help(const struct table *t, const struct data_options *o, struct err *e)
{
    if (e->id != ERR_LABEL_UNSEEN || !t->blamed)
        return;
    int part = t->part ? t->part[t->blamed - 1] : PART_TRAIN;
    if (part != PART_TRAIN && (part == PART_TEST ? &o->test : &o->valid)->count) {
        const char *key = part == PART_TEST ? "data.test" : "data.valid";
        err_key(e, "%s", key);
        err_help(e, "take these rows out of %s, or give data.train rows of that label", key);
    } else {
        err_key(e, "data.split.method");
        err_help(e, "split.method \"stratified\" keeps every class in the training rows");
    }
}

static bool load(struct table_raw *raw, struct schema *s, const struct data_options *o,
                 uint64_t seed, bool (*stop)(void), struct err *e)
{
    struct table *t = raw->table;
    if (!table_read(raw, s, o, stop, e))
        return false;
    mem_trim();
    t->file_rows = t->rows.count;
    if (t->vanished)
        log_note("%llu number%s too small for float32 and read as 0: scale the column if they "
                 "matter", (unsigned long long)t->vanished, t->vanished == 1 ? " is" : "s are");
    if (!split(raw, s, &o->split, seed, e))
        return in_files(o, e);
    t->target = spill_flat(&raw->target);
    if ((stop && stop()) || !stats_fit(s, t, e)) {
        unseen_help(t, o, e);
        table_place(s, o, t->blamed, e);
        return in_files(o, e);
    }
    mem_trim();
    leak_check(s, t);
    apply(s, t);
    mem_trim();
    count_bytes(raw);
    return true;
}

struct table *table_load(struct schema *s, const struct data_options *o, uint64_t seed,
                         bool (*stop)(void), struct err *e)
{
    struct table *t = mem_zero(1, sizeof *t);
    struct table_raw raw = {.table = t};
    bool good = load(&raw, s, o, seed, stop, e);
    spill_free(&raw.key);
    spill_free(&raw.time);
    spill_free(&raw.said);
    spill_free(&raw.target);
    if (good)
        return t;
    table_free(t);
    return NULL;
}

void table_free(struct table *t)
{
    if (!t)
        return;
    uint64_t in_chunk = UINT64_C(1) << t->rows.shift;
    uint64_t chunks = (t->rows.count + in_chunk - 1) >> t->rows.shift;
    unsigned char **own;
    memcpy(&own, &t->rows.chunks, sizeof own); /* readers see them as const */
    for (uint64_t i = 0; own && i < chunks; i++)
        mem_free(own[i]);
    mem_free(own);
    for (int part = PART_TRAIN; part < PARTS; part++)
        mem_free(t->index[part]);
    mem_free(t->part);
    mem_free(t->target);
    mem_free(t->sample.text);
    mem_free(t->sample.offsets);
    mem_free(t->warnings);
    mem_free(t);
}

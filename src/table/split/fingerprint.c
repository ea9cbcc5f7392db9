/* fingerprint.c - see fingerprint.h. */
#include "table/split/fingerprint.h"

#include <math.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/process/thread.h"
#include "table/dataset/row_key.h"

#define ROWS_MOST ((double)(BLOOM_BYTES * 8) / BLOOM_BITS)
#define HELD_LEAST 100  /* held-out rows that tell the share of twins */
#define TILE_ROWS 4096u

static bool kept(const struct fingerprint *f, uint64_t key)
{
    return key >> 32 < (uint64_t)f->numbers[FINGERPRINT_LIMIT];
}

static bool knows(const struct fingerprint *f, uint64_t key)
{
    bool known = bloom_has(&f->filter, key);
    for (uint64_t i = 0; !known && i < f->starts.count; i++)
        known = bloom_has(&f->starts.filters[i], key);
    return known;
}

/* Sets what follows from the filters. */
static void settle(struct fingerprint *f)
{
    f->errors = bloom_errors(&f->filter);
    f->limit = f->numbers[FINGERPRINT_LIMIT];
    for (uint64_t i = 0; i < f->starts.count; i++) {
        const int64_t limit = f->starts.numbers[2 * i + 1];
        f->errors += (1 - f->errors) * bloom_errors(&f->starts.filters[i]);
        f->limit = limit < f->limit ? limit : f->limit;
    }
}

void fingerprint_look(const struct fingerprint *f, uint64_t key, struct row_lookups *l)
{
    if (key >> 32 >= (uint64_t)f->limit)
        return;
    l->looked++;
    l->known += knows(f, key);
}

/* The share of the `looked` rows that the filter knows, without its errors. */
static double share_known(const struct fingerprint *f, const struct row_lookups *l)
{
    double share = l->looked ? (double)l->known / (double)l->looked : 0;
    return fmax(0, (share - f->errors) / (1 - f->errors));
}

double fingerprint_share(const struct fingerprint *f, const struct row_lookups *l, bool *sure)
{
    const double looked = (double)l->looked, expected = f->errors + (1 - f->errors) * f->twins,
                 spread = sqrt(looked * expected * (1 - expected));
    double share = f->twins < 1 ? (share_known(f, l) - f->twins) / (1 - f->twins) : 0;
    double beyond = (double)l->known - looked * expected;
    *sure = share >= 0.02 && beyond >= 3 && beyond > 4 * spread;
    return share > 0 ? share : 0;
}

/* --- making it --- */

struct keys {
    const struct dataset *d;
    const struct row_keys *keys;
    uint64_t *key;  /* [rows]; 0: no target */
};

static void key_tile(void *context, unsigned tile, unsigned thread)
{
    const struct keys *k = context;
    uint64_t begin = (uint64_t)tile * TILE_ROWS, end = begin + TILE_ROWS;
    (void)thread;
    end = end > k->d->rows.count ? k->d->rows.count : end;
    for (uint64_t i = begin; i < end; i++) {
        if (!row_key_of(k->keys, k->d, i, &k->key[i]))
            k->key[i] = 0;
        else if (!k->key[i])
            k->key[i] = 1;
    }
}

static int by_key(const void *one, const void *other, const void *context)
{
    uint64_t a, b;
    (void)context;
    memcpy(&a, one, sizeof a);
    memcpy(&b, other, sizeof b);
    return a < b ? -1 : a > b;
}

/* The share of the kept training rows that equal another one. */
static double share_doubled(const struct fingerprint *f, const struct split *s,
                            const uint64_t *key)
{
    uint64_t count = 0, doubled = 0;
    uint64_t *list = mem_alloc(s->record_count[PART_TRAIN] + 1, sizeof *list);
    for (uint64_t i = 0; i < s->record_count[PART_TRAIN]; i++) {
        uint64_t own = key[s->records[PART_TRAIN][i]];
        if (own && kept(f, own))
            list[count++] = own;
    }
    sort_stable(list, count, sizeof *list, by_key, NULL);
    for (uint64_t i = 0; i < count; i++)
        doubled += (i && list[i - 1] == list[i]) || (i + 1 < count && list[i + 1] == list[i]);
    mem_free(list);
    return count ? (double)doubled / (double)count : 0;
}

static void look_part(const struct fingerprint *f, const struct split *s, const uint64_t *key,
                      int part, struct row_lookups *l)
{
    for (uint64_t i = 0; i < s->record_count[part]; i++)
        if (key[s->records[part][i]])
            fingerprint_look(f, key[s->records[part][i]], l);
}

static void count_twins(struct fingerprint *f, const struct split *s, const uint64_t *key)
{
    struct row_lookups l = {0};
    for (int part = PART_VALID; part < PARTS; part++)
        look_part(f, s, key, part, &l);
    f->twins = l.looked < HELD_LEAST ? share_doubled(f, s, key) : share_known(f, &l);
}

/* --- a start --- */

/* Looks the rows up in the start: sets f->held. Returns how many held-out rows it was trained on;
 * *covered: the files have all of its training rows. */
static double look_start(struct fingerprint *f, const struct split *s, const uint64_t *key,
                         const struct fingerprint *start, bool *covered)
{
    struct row_lookups all = {0};
    double count = 0, rows = 0;
    bool sure;
    for (int part = PART_TRAIN; part < PARTS; part++) {
        struct row_lookups l = {0};
        look_part(start, s, key, part, &l);
        double share = fingerprint_share(start, &l, &sure);
        f->held[part] = sure ? share : 0;
        count += part == PART_TRAIN ? 0 : f->held[part] * (double)s->record_count[part];
        rows += (double)s->record_count[part];
        all.looked += l.looked;
        all.known += l.known;
    }
    double share = fingerprint_share(start, &all, &sure);
    *covered = sure && share * rows >= 0.99 * (double)start->numbers[FINGERPRINT_ROWS + PART_TRAIN];
    return count;
}

/* Keeps a copy of a filter, if there is room. */
static bool keep_start(struct fingerprint_starts *s, const uint8_t *bits, uint64_t bytes,
                       int64_t limit)
{
    if (s->count == FINGERPRINT_STARTS || s->bytes + bytes > BLOOM_BYTES)
        return false;
    if (!s->bits)
        s->bits = mem_alloc(BLOOM_BYTES, 1);
    s->filters[s->count] = (struct bloom){s->bits + s->bytes, bytes};
    s->numbers[2 * s->count] = (int64_t)bytes;
    s->numbers[2 * s->count++ + 1] = limit;
    memcpy(s->bits + s->bytes, bits, bytes);
    s->bytes += bytes;
    return true;
}

/* Adds the filters of the start, after the rows of this training. */
static void add_start(struct fingerprint *f, const struct split *s, const uint64_t *key,
                      const struct fingerprint *start, bool covered)
{
    for (int part = PART_VALID; part < PARTS; part++)
        for (uint64_t i = 0; f->held[part] > 0 && i < s->record_count[part]; i++) {
            uint64_t own = key[s->records[part][i]];
            if (own && kept(f, own) && knows(start, own))
                bloom_add(&f->filter, own);
            f->numbers[FINGERPRINT_OWN] |= FINGERPRINT_HELD;
        }
    bool room = covered || keep_start(&f->starts, start->filter.bits, start->filter.bytes,
                                      start->numbers[FINGERPRINT_LIMIT]);
    for (uint64_t i = 0; room && i < start->starts.count; i++)
        room = keep_start(&f->starts, start->starts.filters[i].bits, start->starts.filters[i].bytes,
                          start->starts.numbers[2 * i + 1]);
    f->twins = fmax(f->twins, start->twins);
    settle(f);
}

/* --- all of it --- */

/* more: rows that are added later. */
static void fill(struct fingerprint *f, const struct split *s, const uint64_t *key, double more)
{
    uint64_t rows[PARTS] = {0}, sums[PARTS] = {0};
    for (int part = PART_TRAIN; part < PARTS; part++)
        for (uint64_t i = 0; i < s->record_count[part]; i++) {
            rows[part] += key[s->records[part][i]] != 0;
            sums[part] += key[s->records[part][i]];
        }
    const double count = (double)rows[PART_TRAIN] + more,
                 part = count > ROWS_MOST ? ROWS_MOST / count : 1;
    f->filter = bloom_make(count * part);
    f->numbers[FINGERPRINT_LIMIT] = (int64_t)(part * 0x1p32);
    for (int p = PART_TRAIN; p < PARTS; p++) {
        f->numbers[FINGERPRINT_ROWS + p] = (int64_t)rows[p];
        memcpy(&f->numbers[FINGERPRINT_SUMS + p], &sums[p], sizeof sums[p]);
    }
    for (uint64_t i = 0; i < s->record_count[PART_TRAIN]; i++) {
        uint64_t own = key[s->records[PART_TRAIN][i]];
        if (own && kept(f, own))
            bloom_add(&f->filter, own);
    }
    settle(f);
}

struct fingerprint *fingerprint_make(const struct dataset *d, const struct split *s,
                                     const struct fingerprint *start)
{
    struct fingerprint *f = mem_zero(1, sizeof *f);
    struct row_keys *keys = row_keys_of(d);
    struct keys k = {d, keys, mem_alloc(d->rows.count + 1, sizeof *k.key)};
    bool covered = false;
    threads_run((unsigned)((d->rows.count + TILE_ROWS - 1) / TILE_ROWS), key_tile, &k);
    fill(f, s, k.key, start ? look_start(f, s, k.key, start, &covered) : 0);
    for (int part = PART_VALID; part < PARTS; part++)
        f->numbers[FINGERPRINT_OWN] |= (int64_t)(d->rows_of[part] > 0) << part;
    count_twins(f, s, k.key);
    if (start)
        add_start(f, s, k.key, start, covered);
    row_keys_free(keys);
    mem_free(k.key);
    return f;
}

void fingerprint_free(struct fingerprint *f)
{
    if (f) {
        bloom_free(&f->filter);
        bloom_free(&f->pooled);
        mem_free(f->starts.bits);
    }
    mem_free(f);
}

/* --- in a file --- */

#define IN_FILTER "fingerprint.filter"
#define IN_NUMBERS "fingerprint.numbers"
#define IN_POOLED "fingerprint.pooled"
#define IN_TWINS "fingerprint.twins"
#define IN_STARTS "fingerprint.starts"
#define IN_START_NUMBERS "fingerprint.starts.numbers"

void fingerprint_save(const struct fingerprint *f, struct tensor_writer *w)
{
    static const uint64_t numbers = FINGERPRINT_NUMBERS, one = 1;
    const uint64_t pairs[2] = {f->starts.count, 2};
    tensor_add(w, IN_FILTER, DTYPE_U8, 1, &f->filter.bytes, f->filter.bits);
    tensor_add(w, IN_NUMBERS, DTYPE_I64, 1, &numbers, f->numbers);
    tensor_add(w, IN_TWINS, DTYPE_F64, 1, &one, &f->twins);
    if (f->pooled.bytes)
        tensor_add(w, IN_POOLED, DTYPE_U8, 1, &f->pooled.bytes, f->pooled.bits);
    if (f->starts.count) {
        tensor_add(w, IN_STARTS, DTYPE_U8, 1, &f->starts.bytes, f->starts.bits);
        tensor_add(w, IN_START_NUMBERS, DTYPE_I64, 2, pairs, f->starts.numbers);
    }
}

static bool is_filter(const struct tensor *t)
{
    return t->type == DTYPE_U8 && t->count > 0 && t->count <= BLOOM_BYTES;
}

static bool is_limit(int64_t limit)
{
    return limit >= 0 && limit <= INT64_C(1) << 32;
}

static bool load_starts(const struct tensor_file *file, struct fingerprint_starts *s)
{
    const struct tensor *filters = tensor_find(file, IN_STARTS),
                        *numbers = tensor_find(file, IN_START_NUMBERS);
    if (!filters && !numbers)
        return true;
    bool good = filters && numbers && is_filter(filters) && numbers->type == DTYPE_I64 &&
                numbers->count % 2 == 0 && numbers->count <= 2 * FINGERPRINT_STARTS;
    const uint8_t *bits = good ? filters->data : NULL;
    const int64_t *n = good ? numbers->data : NULL;
    for (uint64_t i = 0; good && i < numbers->count; i += 2)
        good = n[i] > 0 && (uint64_t)n[i] <= filters->count - s->bytes && is_limit(n[i + 1]) &&
               keep_start(s, bits + s->bytes, (uint64_t)n[i], n[i + 1]);
    return good && s->bytes == filters->count;
}

bool fingerprint_load(const struct tensor_file *file, struct fingerprint **f, struct err *e)
{
    *f = NULL;
    const struct tensor *filter = tensor_find(file, IN_FILTER),
                        *pooled = tensor_find(file, IN_POOLED);
    if (!filter)
        return true;
    const struct tensor *numbers = tensor_need(file, IN_NUMBERS, DTYPE_I64, FINGERPRINT_NUMBERS, e),
                        *twins = tensor_need(file, IN_TWINS, DTYPE_F64, 1, e);
    if (!numbers || !twins)
        return false;
    const int64_t *n = numbers->data;
    const double *share = twins->data;
    bool good = is_filter(filter) && (!pooled || is_filter(pooled)) &&
                is_limit(n[FINGERPRINT_LIMIT]) && *share >= 0 && *share <= 1 &&
                n[FINGERPRINT_OWN] >= 0 && n[FINGERPRINT_OWN] < 1 << PARTS;
    for (int p = 0; p < PARTS; p++)
        good = good && n[FINGERPRINT_ROWS + p] >= 0;
    struct fingerprint *own = mem_zero(1, sizeof *own);
    if (!good || !load_starts(file, &own->starts)) {
        fingerprint_free(own);
        return err_at(e, ERR_MODEL_TENSOR, tensor_file_path(file), 0, 0,
                      "its fingerprint of the training rows cannot be");
    }
    own->filter = bloom_copy(filter->data, filter->count);
    if (pooled)
        own->pooled = bloom_copy(pooled->data, pooled->count);
    memcpy(own->numbers, n, sizeof own->numbers);
    own->twins = *share;
    settle(own);
    *f = own;
    return true;
}

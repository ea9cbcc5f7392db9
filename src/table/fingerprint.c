/* fingerprint.c - see fingerprint.h. */
#include "table/fingerprint.h"

#include <math.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/thread.h"
#include "table/row_key.h"

#define ROWS_MOST ((double)(BLOOM_BYTES * 8) / BLOOM_BITS)
#define HELD_LEAST 100  /* held-out rows that tell the share of twins */
#define TILE_ROWS 4096u

static bool kept(const struct fingerprint *f, uint64_t key)
{
    return key >> 32 < (uint64_t)f->numbers[FINGERPRINT_LIMIT];
}

void fingerprint_look(const struct fingerprint *f, uint64_t key, struct row_lookups *l)
{
    if (!kept(f, key))
        return;
    l->looked++;
    l->known += bloom_has(&f->filter, key);
}

/* Of `looked` rows, the share that the filter knows and not by error. */
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

static void count_twins(struct fingerprint *f, const struct split *s, const uint64_t *key)
{
    struct row_lookups l = {0};
    for (int part = PART_VALID; part < PARTS; part++)
        for (uint64_t i = 0; i < s->record_count[part]; i++)
            if (key[s->records[part][i]])
                fingerprint_look(f, key[s->records[part][i]], &l);
    f->twins = l.looked < HELD_LEAST ? share_doubled(f, s, key) : share_known(f, &l);
}

static void fill(struct fingerprint *f, const struct split *s, const uint64_t *key)
{
    uint64_t rows[PARTS] = {0}, sums[PARTS] = {0};
    for (int part = PART_TRAIN; part < PARTS; part++)
        for (uint64_t i = 0; i < s->record_count[part]; i++) {
            rows[part] += key[s->records[part][i]] != 0;
            sums[part] += key[s->records[part][i]];
        }
    const double count = (double)rows[PART_TRAIN], part = count > ROWS_MOST ? ROWS_MOST / count : 1;
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
    f->errors = bloom_errors(&f->filter);
}

struct fingerprint *fingerprint_make(const struct dataset *d, const struct split *s)
{
    struct fingerprint *f = mem_zero(1, sizeof *f);
    struct row_keys *keys = row_keys_of(d);
    struct keys k = {d, keys, mem_alloc(d->rows.count + 1, sizeof *k.key)};
    threads_run((unsigned)((d->rows.count + TILE_ROWS - 1) / TILE_ROWS), key_tile, &k);
    fill(f, s, k.key);
    for (int part = PART_VALID; part < PARTS; part++)
        f->numbers[FINGERPRINT_OWN] |= (int64_t)(d->rows_of[part] > 0) << part;
    count_twins(f, s, k.key);
    row_keys_free(keys);
    mem_free(k.key);
    return f;
}

void fingerprint_free(struct fingerprint *f)
{
    if (f) {
        bloom_free(&f->filter);
        bloom_free(&f->pooled);
    }
    mem_free(f);
}

/* --- in a file --- */

#define IN_FILTER "fingerprint.filter"
#define IN_NUMBERS "fingerprint.numbers"
#define IN_POOLED "fingerprint.pooled"
#define IN_TWINS "fingerprint.twins"

void fingerprint_save(const struct fingerprint *f, struct tensor_writer *w)
{
    static const uint64_t numbers = FINGERPRINT_NUMBERS, one = 1;
    tensor_add(w, IN_FILTER, DTYPE_U8, 1, &f->filter.bytes, f->filter.bits);
    tensor_add(w, IN_NUMBERS, DTYPE_I64, 1, &numbers, f->numbers);
    tensor_add(w, IN_TWINS, DTYPE_F64, 1, &one, &f->twins);
    if (f->pooled.bytes)
        tensor_add(w, IN_POOLED, DTYPE_U8, 1, &f->pooled.bytes, f->pooled.bits);
}

static bool is_filter(const struct tensor *t)
{
    return t->type == DTYPE_U8 && t->count > 0 && t->count <= BLOOM_BYTES;
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
    bool good = is_filter(filter) && (!pooled || is_filter(pooled)) && n[FINGERPRINT_LIMIT] >= 0 &&
                n[FINGERPRINT_LIMIT] <= INT64_C(1) << 32 && *share >= 0 && *share <= 1 &&
                n[FINGERPRINT_OWN] >= 0 && n[FINGERPRINT_OWN] < 1 << PARTS;
    for (int p = 0; p < PARTS; p++)
        good = good && n[FINGERPRINT_ROWS + p] >= 0;
    if (!good)
        return err_at(e, ERR_MODEL_TENSOR, tensor_file_path(file), 0, 0,
                      "its fingerprint of the training rows cannot be");
    struct fingerprint *own = *f = mem_zero(1, sizeof *own);
    own->filter = bloom_copy(filter->data, filter->count);
    if (pooled)
        own->pooled = bloom_copy(pooled->data, pooled->count);
    memcpy(own->numbers, n, sizeof own->numbers);
    own->twins = *share;
    own->errors = bloom_errors(&own->filter);
    return true;
}

/* vocab.c - text to index: open addressing over rng_hash, texts in an arena. Nothing iterates over
 * the hash table. */
#include "table/schema/vocab.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/sort.h"
#include "csv/form/number.h"

struct value {
    const char *text;
    uint32_t length, hash;
};

struct vocab {
    struct arena *texts;
    struct value *values;
    uint32_t count, room;
    uint32_t *slots;   /* index + 1, 0 free */
    size_t slot_count; /* a power of two, at most half full: few collisions */
};

struct vocab *vocab_new(void)
{
    struct vocab *v = mem_zero(1, sizeof *v);
    v->texts = arena_new(4096);
    v->slot_count = 16;
    v->slots = mem_zero(v->slot_count, sizeof *v->slots);
    return v;
}

void vocab_free(struct vocab *v)
{
    if (!v)
        return;
    arena_free(v->texts);
    mem_free(v->values);
    mem_free(v->slots);
    mem_free(v);
}

/* Returns the slot of the text, or the free slot for it. */
static size_t probe(const struct vocab *v, const char *text, size_t length, uint32_t hash)
{
    size_t mask = v->slot_count - 1, at = hash & mask;
    while (v->slots[at]) {
        const struct value *held = &v->values[v->slots[at] - 1];
        if (held->hash == hash && held->length == length && memcmp(held->text, text, length) == 0)
            break;
        at = (at + 1) & mask;
    }
    return at;
}

/* Fills the hash table from distinct values. */
static void rehash(struct vocab *v)
{
    size_t mask = v->slot_count - 1;
    memset(v->slots, 0, v->slot_count * sizeof *v->slots);
    for (uint32_t i = 0; i < v->count; i++) {
        size_t at = v->values[i].hash & mask;
        while (v->slots[at])
            at = (at + 1) & mask;
        v->slots[at] = i + 1;
    }
}

static uint32_t hash_of(const char *text, size_t length)
{
    uint64_t h = rng_hash(text, length, 0);
    return (uint32_t)(h ^ h >> 32);
}

uint32_t vocab_add(struct vocab *v, const char *text, size_t length)
{
    assert(length < UINT32_MAX && v->count < UINT32_MAX - 2);
    uint32_t hash = hash_of(text, length);
    size_t at = probe(v, text, length, hash);
    if (v->slots[at])
        return v->slots[at] - 1;
    if (v->count == v->room) {
        v->room = v->room ? v->room + v->room / 2 : 16;
        v->values = mem_grow(v->values, v->room, sizeof *v->values);
    }
    v->values[v->count] =
        (struct value){arena_string(v->texts, text, length), (uint32_t)length, hash};
    v->slots[at] = ++v->count;
    if ((size_t)v->count * 2 > v->slot_count) {
        mem_free(v->slots);
        v->slot_count *= 2;
        v->slots = mem_alloc(v->slot_count, sizeof *v->slots);
        rehash(v);
    }
    return v->count - 1;
}

uint32_t vocab_find(const struct vocab *v, const char *text, size_t length)
{
    return v->slots[probe(v, text, length, hash_of(text, length))] - 1; /* 0 - 1: absent */
}

uint32_t vocab_count(const struct vocab *v)
{
    return v->count;
}

const char *vocab_text(const struct vocab *v, uint32_t i, size_t *length)
{
    assert(i < v->count);
    if (length)
        *length = v->values[i].length;
    return v->values[i].text;
}

void vocab_order(struct vocab *v, const uint32_t *order)
{
    struct value *sorted = mem_alloc(v->count ? v->count : 1, sizeof *sorted);
    for (uint32_t i = 0; i < v->count; i++)
        sorted[order[i]] = v->values[i];
    mem_free(v->values);
    v->values = sorted;
    v->room = v->count ? v->count : 1;
    rehash(v);
}

/* --- the order of values --- */

struct ranked {
    double number; /* 0 unless all values are numbers */
    const struct value *value;
};

static int by_rank(const void *one, const void *other, const void *context)
{
    (void)context;
    const struct ranked *a = one, *b = other;
    if (a->number < b->number || a->number > b->number)
        return a->number < b->number ? -1 : 1;
    uint32_t shorter =
        a->value->length < b->value->length ? a->value->length : b->value->length;
    int bytes = memcmp(a->value->text, b->value->text, shorter);
    if (bytes)
        return bytes;
    return a->value->length < b->value->length ? -1 : a->value->length > b->value->length;
}

/* Reads "+1" as a number for sorting; as a cell it is not one. */
static bool rank_number(const struct value *v, char decimal, double *number)
{
    bool plus = v->length > 1 && v->text[0] == '+' && v->text[1] != '-';
    return number_parse(v->text + plus, v->length - plus, decimal, number) == NUMBER_OK;
}

static bool read_numbers(const struct vocab *v, char decimal, struct ranked *items)
{
    for (uint32_t i = 0; i < v->count; i++)
        if (!rank_number(&v->values[i], decimal, &items[i].number))
            return false;
    return true;
}

void vocab_sort(struct vocab *v, uint32_t *order)
{
    struct ranked *items = mem_zero(v->count ? v->count : 1, sizeof *items);
    /* "1,5" is a number with a decimal comma; values that parse both ways are equal in both. */
    if (!read_numbers(v, '.', items) && !read_numbers(v, ',', items))
        for (uint32_t i = 0; i < v->count; i++)
            items[i].number = 0;
    for (uint32_t i = 0; i < v->count; i++)
        items[i].value = &v->values[i];
    sort_stable(items, v->count, sizeof *items, by_rank, NULL);
    for (uint32_t i = 0; i < v->count; i++)
        order[items[i].value - v->values] = i;
    vocab_order(v, order);
    mem_free(items);
}

uint32_t vocab_same_number(const struct vocab *v)
{
    struct ranked *items = mem_zero(v->count ? v->count : 1, sizeof *items);
    uint32_t found = UINT32_MAX;
    if (read_numbers(v, '.', items) || read_numbers(v, ',', items))
        for (uint32_t i = 1; i < v->count && found == UINT32_MAX; i++)
            if (items[i - 1].number >= items[i].number && items[i - 1].number <= items[i].number)
                found = i;
    mem_free(items);
    return found;
}

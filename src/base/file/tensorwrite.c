/* tensorwrite.c - collects tensors, then writes header and data in one go. Everything is in memory
 * before the first byte is written, so the hash is known then and the output may be a pipe. */
#include "base/file/tensorfile.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/file/outfile.h"
#include "base/file/sha256.h"
#include "base/sort.h"
#include "base/file/tensorhead.h"
#include "base/text.h"

struct item {
    char *name;
    enum dtype type;
    unsigned rank;
    uint64_t dims[4], bytes;
    const void *data;
};

struct tensor_writer {
    struct text meta; /* ,"key":"value" for each */
    size_t meta_count;
    struct item *items;
    size_t count;
};

struct tensor_writer *tensor_writer_new(void)
{
    return mem_zero(1, sizeof(struct tensor_writer));
}

void tensor_writer_free(struct tensor_writer *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->count; i++)
        mem_free(w->items[i].name);
    mem_free(w->items);
    text_free(&w->meta);
    mem_free(w);
}

static void put_string(struct text *out, const char *string)
{
    text_char(out, '"');
    for (const char *c = string; *c; c++) {
        if (*c == '"' || *c == '\\')
            text_printf(out, "\\%c", *c);
        else if ((unsigned char)*c < 0x20)
            text_printf(out, "\\u%04x", (unsigned)(unsigned char)*c);
        else
            text_char(out, *c);
    }
    text_char(out, '"');
}

void tensor_meta(struct tensor_writer *w, const char *key, const char *value)
{
    assert(strcmp(key, "sha256") != 0);
    text_char(&w->meta, ',');
    put_string(&w->meta, key);
    text_char(&w->meta, ':');
    put_string(&w->meta, value);
    w->meta_count++;
}

void tensor_add(struct tensor_writer *w, const char *name, enum dtype type, unsigned rank,
                const uint64_t *dims, const void *data)
{
    assert(rank <= 4);
    w->items = mem_more(w->items, w->count, sizeof *w->items);
    struct item *t = &w->items[w->count++];
    *t = (struct item){.name = mem_string(name), .type = type, .rank = rank, .data = data};
    t->bytes = dtype_bytes(type);
    for (unsigned i = 0; i < rank; i++) {
        t->dims[i] = dims[i];
        bool wraps = mem_mul_overflows(t->bytes, dims[i], &t->bytes);
        assert(!wraps); /* the data are in memory */
        (void)wraps;
    }
    assert(data || t->bytes == 0);
}

static int by_size_and_name(const void *a, const void *b, const void *context)
{
    const struct item *x = a, *y = b;
    (void)context;
    size_t p = dtype_bytes(x->type), q = dtype_bytes(y->type);
    return p != q ? (p > q ? -1 : 1) : strcmp(x->name, y->name);
}

/* The length in front, the JSON with 64 zeros for the hash, and the blanks. */
static void head_make(const struct tensor_writer *w, struct text *out)
{
    char zeros[TENSOR_DIGITS];
    memset(zeros, '0', sizeof zeros);
    text_add(out, "\0\0\0\0\0\0\0\0" TENSOR_PREFIX, 8 + TENSOR_PREFIX_BYTES);
    text_add(out, zeros, sizeof zeros);
    text_char(out, '"');
    text_add(out, w->meta.data, w->meta.length);
    text_char(out, '}');
    uint64_t at = 0;
    for (size_t i = 0; i < w->count; i++) {
        const struct item *t = &w->items[i];
        text_printf(out, ",\"%s\":{\"dtype\":\"%s\",\"shape\":[", t->name,
                    tensor_dtype_name(t->type));
        for (unsigned d = 0; d < t->rank; d++)
            text_printf(out, d ? ",%llu" : "%llu", (unsigned long long)t->dims[d]);
        text_printf(out, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)at,
                    (unsigned long long)(at + t->bytes));
        at += t->bytes;
    }
    text_char(out, '}');
    while (out->length % TENSOR_LINE)
        text_char(out, ' ');
    uint64_t n = out->length - 8;
    for (int i = 0; i < 8; i++)
        out->data[i] = (char)(unsigned char)(n >> (8 * i) & 255);
}

static void hash(const struct tensor_writer *w, const struct text *head, char hex[65])
{
    struct sha256 s;
    sha256_init(&s);
    sha256_add(&s, head->data, head->length);
    for (size_t i = 0; i < w->count; i++)
        sha256_add(&s, w->items[i].data, (size_t)w->items[i].bytes);
    sha256_hex(&s, hex);
}

/* Parses a copy of the header as a reader does, so that no unreadable file is written. */
static bool head_holds(const struct tensor_writer *w, const struct text *head, const char *path,
                       struct err *e)
{
    uint64_t data_bytes = 0;
    for (size_t i = 0; i < w->count; i++)
        data_bytes += w->items[i].bytes;
    if (head->length - 8 > TENSOR_HEADER_MOST)
        return err_at(e, ERR_MODEL_HEADER, path, 0, 0,
                      "the header would have %zu bytes; at most %zu fit", head->length - 8,
                      TENSOR_HEADER_MOST);
    struct tensor_head h;
    char *copy = mem_string_n(head->data + 8, head->length - 8);
    bool holds = tensor_head_read(&h, copy, head->length - 8, data_bytes, path, e);
    tensor_head_release(&h);
    mem_free(copy);
    return holds;
}

/* The header, with the hash in it; sha256 (may be NULL) as tensor_write's. */
static bool head_finish(struct tensor_writer *w, const char *path, struct text *head,
                        char sha256[65], struct err *e)
{
    char inside[65];
    sort_stable(w->items, w->count, sizeof *w->items, by_size_and_name, NULL);
    head_make(w, head);
    if (!head_holds(w, head, path, e))
        return false;
    hash(w, head, inside);
    memcpy(head->data + TENSOR_DIGITS_AT, inside, TENSOR_DIGITS);
    if (sha256)
        hash(w, head, sha256);
    return true;
}

bool tensor_prepare(struct tensor_writer *w, const char *path, struct outfile *o, char sha256[65],
                    struct err *e)
{
    struct text head = {0};
    bool good = head_finish(w, path, &head, sha256, e) && outfile_open_here(o, path, e);
    if (good) {
        good = outfile_write(o, head.data, head.length, e);
        for (size_t i = 0; good && i < w->count; i++)
            good = outfile_write(o, w->items[i].data, (size_t)w->items[i].bytes, e);
        good = good && outfile_prepare(o, e);
        if (!good)
            outfile_abort(o);
    }
    text_free(&head);
    return good;
}

bool tensor_write(struct tensor_writer *w, const char *path, char sha256[65], struct err *e)
{
    struct outfile o;
    return tensor_prepare(w, path, &o, sha256, e) && outfile_commit(&o, e);
}

bool tensor_fits(const struct tensor_writer *w, size_t more)
{
    struct text head = {0};
    head_make(w, &head);
    bool fits = head.length + more <= TENSOR_HEADER_MOST && w->count < TENSOR_MOST - 100;
    text_free(&head);
    return fits;
}

bool tensor_write_bytes(struct tensor_writer *w, const char *name, struct text *bytes,
                        struct err *e)
{
    if (!head_finish(w, name, bytes, NULL, e))
        return false;
    for (size_t i = 0; i < w->count; i++)
        text_add(bytes, w->items[i].data, (size_t)w->items[i].bytes);
    return true;
}

/* tensorfile.c - reading. The checks go from cheap to dear, and nothing is believed before the hash
 * has been compared: size, length of the header, first bytes, end of the last tensor, SHA-256; then
 * the header is parsed and every tensor must lie where the rules put it. */
#include "base/file/tensorfile.h"

#include <stdio.h>
#include <string.h>

#include "base/file/file.h"
#include "base/mem.h"
#include "base/file/sha256.h"
#include "base/file/tensorhead.h"
#include "base/text.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "tensors are used as they lie in the file");

#define LEAST (TENSOR_DIGITS_AT + TENSOR_DIGITS + 3) /* ..."}} with no tensor at all */
#define MOST ((uint64_t)64 << 30)
#define STREAM_FROM                                                                                \
    ((uint64_t)256 << 20) /* larger files are hashed once before memory is taken for them */
#define PIECE ((size_t)1 << 20)

struct tensor_file {
    char *bytes; /* the whole file and a NUL; the header's strings have been cut out in place */
    char *path;
    struct tensor_head head;
    char sha256[65];
};

/* --- before the hash --- */

/* Another of our files in the place of a model, by its first bytes. */
static bool other_file(const char *bytes, size_t shown, struct err *e)
{
    for (size_t i = 0; i < shown; i++)
        if ((unsigned char)bytes[i] < ' ' && !memchr("\t\r\n", bytes[i], 3))
            return false;
    if (bytes[0] == '{')
        return err_help(e, "is this a config? `dnn train` makes a model of it");
    return err_help(e, "is this the data? A model stands here; the data follow it");
}

/* Checks the first `got` bytes, at least the prefix, and the size. *n: header's length. */
static bool start_is_ours(const char *bytes, size_t got, uint64_t size, const char *path,
                          uint64_t *n, struct err *e)
{
    size_t shown = got < TENSOR_DIGITS_AT ? got : TENSOR_DIGITS_AT;
    if (got == 0)
        return err_at(e, ERR_MODEL_FOREIGN, path, 0, 0, "is empty, not a dnn model");
    if (shown <= 8 || memcmp(bytes + 8, TENSOR_PREFIX, shown - 8) != 0) {
        char first[3 * 8 + 1] = "";
        for (size_t i = 0; i < 8 && i < got; i++)
            snprintf(first + 3 * i, 4, " %02x", (unsigned)(unsigned char)bytes[i]);
        err_at(e, ERR_MODEL_FOREIGN, path, 0, 0, "is not a dnn model (first bytes%s)", first);
        return other_file(bytes, shown, e);
    }
    *n = 0;
    for (int i = 0; i < 8; i++)
        *n |= (uint64_t)(unsigned char)bytes[i] << (8 * i);
    if (*n > TENSOR_HEADER_MOST)
        return err_at(e, ERR_MODEL_HEADER, path, 0, 0,
                      "the header's length is given as %llu bytes; at most %zu are allowed",
                      (unsigned long long)*n, TENSOR_HEADER_MOST);
    if (*n + 8 < LEAST || (*n + 8) % TENSOR_LINE)
        return err_at(e, ERR_MODEL_HEADER, path, 0, 0,
                      "the header's length is given as %llu bytes, which dnn never writes",
                      (unsigned long long)*n);
    if (size < *n + 8)
        return err_at(e, ERR_MODEL_TRUNCATED, path, 0, 0,
                      "the file ends after %llu bytes, inside its header of %llu",
                      (unsigned long long)size, (unsigned long long)*n);
    if (size > MOST)
        return err_at(e, ERR_MODEL_HEADER, path, 0, 0,
                      "the file has %llu bytes; a model has at most %s", (unsigned long long)size,
                      text_bytes(MOST));
    return true;
}

/* The number in front of the last "]}" of the header is where the data end: compared as text, so
 * that a far too large file is refused before it is read. Whether the header means what it says is
 * found out after the hash. */
static bool end_is_plausible(const char *header, size_t n, uint64_t size, const char *path,
                             struct err *e)
{
    uint64_t data_bytes = size - 8 - n, end = 0;
    size_t at = n;
    while (at > 0 && header[at - 1] == ' ')
        at--;
    if (at >= 3 && memcmp(header + at - 3, "]}}", 3) == 0) {
        size_t digits = at - 3;
        uint64_t unit = 1;
        for (; digits > 0 && header[digits - 1] >= '0' && header[digits - 1] <= '9'; digits--) {
            end += unit * (uint64_t)(header[digits - 1] - '0');
            unit *= 10; /* wraps after 20 digits: then the numbers differ or the parser refuses */
        }
    }
    if (end == data_bytes)
        return true;
    return err_at(e, ERR_MODEL_TRUNCATED, path, 0, 0,
                  "the file is damaged or cut: %llu bytes follow the header, which speaks of %llu",
                  (unsigned long long)data_bytes, (unsigned long long)end);
}

/* --- the hash --- */

/* The first piece of the file holds the digits, which count as zeros. */
static void hash_start(struct sha256 *s, const char *bytes, size_t length)
{
    char zeros[TENSOR_DIGITS];
    size_t behind = TENSOR_DIGITS_AT + TENSOR_DIGITS;
    memset(zeros, '0', sizeof zeros);
    sha256_init(s);
    sha256_add(s, bytes, TENSOR_DIGITS_AT);
    sha256_add(s, zeros, sizeof zeros);
    sha256_add(s, bytes + behind, length - behind);
}

static bool hash_agrees(struct sha256 *s, const char *first, const char *path, struct err *e)
{
    char hex[65];
    sha256_hex(s, hex);
    if (memcmp(hex, first + TENSOR_DIGITS_AT, TENSOR_DIGITS) == 0)
        return true;
    err_at(e, ERR_MODEL_HASH, path, 0, 0,
           "the file is damaged: its SHA-256 does not fit its bytes");
    return err_help(e, "fetch the file again, or train anew");
}

static bool cut_short(const char *path, uint64_t got, uint64_t size, struct err *e)
{
    return err_at(e, ERR_MODEL_TRUNCATED, path, 0, 0, "the file ended after %llu of %llu bytes",
                  (unsigned long long)got, (unsigned long long)size);
}

/* One reading with a small buffer. first: gets the start of the file, whose digits count as zeros;
 * NULL: all bytes count as they are. */
static bool hash_file(struct file *f, struct sha256 *s, char *first, struct err *e)
{
    char *piece = mem_alloc(PIECE, 1);
    bool good = true;
    sha256_init(s);
    for (uint64_t at = 0; good && at < f->size;) {
        size_t got, want = f->size - at < PIECE ? (size_t)(f->size - at) : PIECE;
        good = file_read_at(f, piece, want, at, &got, e);
        if (good && got < want)
            good = cut_short(f->path, at + got, f->size, e);
        if (good && at == 0 && first) {
            memcpy(first, piece, LEAST);
            hash_start(s, piece, got);
        } else if (good) {
            sha256_add(s, piece, got);
        }
        at += want;
    }
    mem_free(piece);
    return good;
}

/* A huge file that is damaged costs time but no memory. */
static bool stream_agrees(struct file *f, struct err *e)
{
    struct sha256 s;
    char first[LEAST];
    return hash_file(f, &s, first, e) && hash_agrees(&s, first, f->path, e);
}

bool tensor_digest(const char *path, char hex[65], struct err *e)
{
    struct file f;
    struct sha256 s;
    if (!file_open_regular(&f, path, e))
        return false;
    bool good = hash_file(&f, &s, NULL, e);
    file_close(&f);
    sha256_hex(&s, hex);
    return good;
}

/* --- opening --- */

/* Takes over f->bytes, whose start has been looked at. */
static struct tensor_file *finish(struct tensor_file *f, uint64_t size, uint64_t n, struct err *e)
{
    struct sha256 s;
    hash_start(&s, f->bytes, (size_t)size);
    if (!hash_agrees(&s, f->bytes, f->path, e))
        goto failed;
    memcpy(f->sha256, f->bytes + TENSOR_DIGITS_AT, TENSOR_DIGITS);
    if (!tensor_head_read(&f->head, f->bytes + 8, (size_t)n, size - 8 - n, f->path, e))
        goto failed;
    for (size_t i = 0; i < f->head.count; i++)
        f->head.tensors[i].data = f->bytes + 8 + n + f->head.starts[i];
    return f;
failed:
    tensor_close(f);
    return NULL;
}

static struct tensor_file *file_new(char *bytes, const char *path)
{
    struct tensor_file *f = mem_zero(1, sizeof *f);
    f->bytes = bytes;
    f->path = mem_string(path);
    return f;
}

/* Header first, at most 1 MiB; then, if all is well so far, the whole. NULL after an error. */
static char *load(struct file *f, uint64_t *n, struct err *e)
{
    char first[LEAST], *bytes = NULL;
    size_t got;
    if (!file_read_at(f, first, sizeof first, 0, &got, e) ||
        !start_is_ours(first, got, f->size, f->path, n, e))
        return NULL;
    char *header = mem_alloc((size_t)*n, 1);
    bool good = file_read_at(f, header, (size_t)*n, 8, &got, e);
    if (good && got < *n)
        good = cut_short(f->path, 8 + got, f->size, e);
    good = good && end_is_plausible(header, (size_t)*n, f->size, f->path, e);
    mem_free(header);
    if (!good || (f->size > STREAM_FROM && !stream_agrees(f, e)))
        return NULL;
    bytes = mem_try((size_t)f->size + 1, 1);
    if (!bytes) {
        err_at(e, ERR_MEMORY, f->path, 0, 0, "out of memory: the file has %s", text_bytes(f->size));
        return NULL;
    }
    good = file_read_at(f, bytes, (size_t)f->size, 0, &got, e);
    if (good && got < f->size)
        good = cut_short(f->path, got, f->size, e);
    /* The file may have changed meanwhile: check the bytes in memory. */
    good = good && start_is_ours(bytes, got, f->size, f->path, n, e);
    if (good)
        return bytes;
    mem_free(bytes);
    return NULL;
}

struct tensor_file *tensor_open(const char *path, struct err *e)
{
    struct file in;
    uint64_t n;
    if (!file_open_regular(&in, path, e))
        return NULL;
    uint64_t size = in.size;
    char *bytes = load(&in, &n, e);
    file_close(&in);
    return bytes ? finish(file_new(bytes, path), size, n, e) : NULL;
}

struct tensor_file *tensor_open_bytes(const void *bytes, size_t length, const char *name,
                                      struct err *e)
{
    uint64_t n;
    const char *start = bytes;
    if (!start_is_ours(start, length, length, name, &n, e) ||
        !end_is_plausible(start + 8, (size_t)n, length, name, e))
        return NULL;
    char *copy = mem_alloc(length + 1, 1);
    memcpy(copy, bytes, length);
    return finish(file_new(copy, name), length, n, e);
}

void tensor_close(struct tensor_file *f)
{
    if (!f)
        return;
    tensor_head_release(&f->head);
    mem_free(f->bytes);
    mem_free(f->path);
    mem_free(f);
}

/* --- looking things up --- */

const char *tensor_file_meta(const struct tensor_file *f, const char *key)
{
    if (strcmp(key, "sha256") == 0)
        return f->sha256;
    for (size_t i = 0; i < f->head.meta_count; i++)
        if (strcmp(f->head.meta[i].key, key) == 0)
            return f->head.meta[i].value;
    return NULL;
}

size_t tensor_file_count(const struct tensor_file *f)
{
    return f->head.count;
}

const struct tensor *tensor_file_at(const struct tensor_file *f, size_t i)
{
    return i < f->head.count ? &f->head.tensors[i] : NULL;
}

/* The tensors are sorted by element size, largest first, then name. */
static const struct tensor *find_sized(const struct tensor_head *h, size_t bytes, const char *name)
{
    size_t low = 0, high = h->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct tensor *t = &h->tensors[middle];
        size_t size = dtype_bytes(t->type);
        int order = size != bytes ? (size > bytes ? -1 : 1) : strcmp(t->name, name);
        if (order == 0)
            return t;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const struct tensor *tensor_find(const struct tensor_file *f, const char *name)
{
    static const size_t sizes[] = {8, 4, 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct tensor *t = find_sized(&f->head, sizes[i], name);
        if (t)
            return t;
    }
    return NULL;
}

const struct tensor *tensor_need(const struct tensor_file *f, const char *name, enum dtype type,
                                 uint64_t count, struct err *e)
{
    const struct tensor *t = tensor_find(f, name);
    if (!t)
        err_at(e, ERR_MODEL_TENSOR, f->path, 0, 0, "tensor \"%s\" is missing", name);
    else if (t->type != type)
        err_at(e, ERR_MODEL_TENSOR, f->path, 0, 0, "tensor \"%s\" has the type %s, not %s", name,
               tensor_dtype_name(t->type), tensor_dtype_name(type));
    else if (count != UINT64_MAX && t->count != count)
        err_at(e, ERR_MODEL_TENSOR, f->path, 0, 0, "tensor \"%s\" has %llu values, not %llu", name,
               (unsigned long long)t->count, (unsigned long long)count);
    else
        return t;
    return NULL;
}

const char *tensor_file_path(const struct tensor_file *f)
{
    return f->path;
}

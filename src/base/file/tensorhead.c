/* tensorhead.c - see tensorhead.h. The text comes from a file that anybody may have made: every
 * step looks before it goes, sizes are multiplied with a check, and the counts are capped. */
#include "base/file/tensorhead.h"

#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/text.h"
#include "base/utf8.h"

static const struct {
    const char *name;
    size_t bytes;
} dtypes[] = {
    [DTYPE_F64] = {"F64", 8}, [DTYPE_F32] = {"F32", 4}, [DTYPE_I64] = {"I64", 8},
    [DTYPE_I32] = {"I32", 4}, [DTYPE_U8] = {"U8", 1},
};
#define DTYPES (sizeof dtypes / sizeof dtypes[0])

size_t dtype_bytes(enum dtype t)
{
    return dtypes[t].bytes;
}

const char *tensor_dtype_name(enum dtype t)
{
    return dtypes[t].name;
}

/* --- tokens --- */

struct cursor {
    char *at, *from, *end;
    const char *path;
    struct err *e;
};

static bool broken(struct cursor *c, const char *wanted)
{
    return err_at(c->e, ERR_MODEL_HEADER, c->path, 0, 0,
                  "the header is not as dnn writes it: %s is missing at byte %zu of the file",
                  wanted, 8 + (size_t)(c->at - c->from));
}

static bool is_next(const struct cursor *c, const char *text)
{
    size_t n = strlen(text);
    return (size_t)(c->end - c->at) >= n && memcmp(c->at, text, n) == 0;
}

static bool pass(struct cursor *c, const char *text)
{
    if (!is_next(c, text))
        return false;
    c->at += strlen(text);
    return true;
}

static bool need(struct cursor *c, const char *text)
{
    return pass(c, text) || broken(c, text);
}

static bool four_hex(const char *at, unsigned *value)
{
    *value = 0;
    for (int i = 0; i < 4; i++) {
        char h = at[i];
        unsigned digit = h >= '0' && h <= '9'   ? (unsigned)(h - '0')
                         : h >= 'a' && h <= 'f' ? (unsigned)(h - 'a') + 10
                         : h >= 'A' && h <= 'F' ? (unsigned)(h - 'A') + 10
                                                : 16;
        if (digit == 16)
            return false;
        *value = *value << 4 | digit;
    }
    return true;
}

/* One escape at c->at, after the backslash; its bytes go to out (at most 3: fewer than the escape
 * has). The writer escapes control bytes, quotes and backslashes only, so a \u above U+007F is
 * foreign. */
static bool escape_read(struct cursor *c, char **out)
{
    static const char marks[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    if (c->at == c->end)
        return false;
    if (*c->at == 'u') {
        unsigned code;
        if (c->end - c->at < 5 || !four_hex(c->at + 1, &code) || code == 0 || code > 0x7F)
            return false;
        c->at += 5;
        *(*out)++ = (char)code;
        return true;
    }
    const char *mark = memchr(marks, *c->at, sizeof marks - 1);
    if (!mark)
        return false;
    c->at++;
    *(*out)++ = bytes[mark - marks];
    return true;
}

/* A string after its opening quote, decoded in place. */
static bool string_read(struct cursor *c, const char **string)
{
    char *out = c->at;
    *string = out;
    while (c->at < c->end && *c->at != '"') {
        if ((unsigned char)*c->at < 0x20)
            return broken(c, "the end of a string");
        if (*c->at != '\\') {
            *out++ = *c->at++;
            continue;
        }
        c->at++;
        if (!escape_read(c, &out))
            return broken(c, "an escape");
    }
    if (c->at == c->end)
        return broken(c, "the end of a string");
    c->at++; /* the quote is read before its place is written to */
    *out = '\0';
    return true;
}

/* A whole number without sign or needless zeros. */
static bool number_read(struct cursor *c, uint64_t *value)
{
    const char *start = c->at;
    uint64_t v = 0;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
        if (mem_mul_overflows(v, (uint64_t)10, &v) ||
            mem_add_overflows(v, (uint64_t)(*c->at - '0'), &v))
            return err_at(c->e, ERR_MODEL_HEADER, c->path, 0, 0,
                          "the header has a number above 2^64 at byte %zu of the file",
                          8 + (size_t)(start - c->from));
    if (c->at == start || (*start == '0' && c->at - start > 1))
        return broken(c, "a whole number");
    *value = v;
    return true;
}

/* --- metadata --- */

static bool meta_read(struct cursor *c, struct tensor_head *h)
{
    c->at += TENSOR_PREFIX_BYTES + TENSOR_DIGITS; /* compared by the caller */
    if (!need(c, "\""))
        return false;
    while (pass(c, ",")) {
        struct tensor_meta m;
        if (h->meta_count == TENSOR_META_MOST)
            return err_at(c->e, ERR_MODEL_HEADER, c->path, 0, 0,
                          "the header has more than %d metadata keys", TENSOR_META_MOST);
        if (!need(c, "\"") || !string_read(c, &m.key) || !need(c, ":\"") ||
            !string_read(c, &m.value))
            return false;
        bool twice = strcmp(m.key, "sha256") == 0;
        for (size_t i = 0; i < h->meta_count; i++)
            twice = twice || strcmp(h->meta[i].key, m.key) == 0;
        if (twice)
            return err_at(c->e, ERR_MODEL_HEADER, c->path, 0, 0,
                          "the metadata key \"%s\" stands there twice", text_quote_z(m.key));
        h->meta = mem_more(h->meta, h->meta_count, sizeof *h->meta);
        h->meta[h->meta_count++] = m;
    }
    return need(c, "}");
}

/* --- tensors --- */

static bool bad_tensor(struct cursor *c, const struct tensor *t, const char *what)
{
    return err_at(c->e, ERR_MODEL_TENSOR, c->path, 0, 0, "tensor \"%s\": %s", text_quote_z(t->name),
                  what);
}

static bool name_is_legal(const char *name)
{
    for (const char *n = name; *n; n++)
        if (!((*n >= 'a' && *n <= 'z') || (*n >= '0' && *n <= '9') || *n == '_' || *n == '.'))
            return false;
    return *name != '\0';
}

static bool dtype_read(struct cursor *c, struct tensor *t)
{
    const char *name;
    if (!string_read(c, &name))
        return false;
    for (size_t i = 0; i < DTYPES; i++)
        if (strcmp(dtypes[i].name, name) == 0) {
            t->type = (enum dtype)i;
            return true;
        }
    return err_at(c->e, ERR_MODEL_TENSOR, c->path, 0, 0,
                  "tensor \"%s\": its type \"%s\" is not known", text_quote_z(t->name),
                  text_quote_z(name));
}

static bool shape_read(struct cursor *c, struct tensor *t)
{
    t->count = 1;
    if (pass(c, "]"))
        return true;
    do {
        if (t->rank == 4)
            return bad_tensor(c, t, "it has more than 4 dimensions");
        uint64_t *dim = &t->dims[t->rank++];
        if (!number_read(c, dim))
            return false;
        if (mem_mul_overflows(t->count, *dim, &t->count))
            return bad_tensor(c, t, "the product of its shape is above 2^64");
    } while (pass(c, ","));
    return need(c, "]");
}

/* One entry after the comma. *end is where the tensor before it ended. */
static bool tensor_read(struct cursor *c, struct tensor *t, uint64_t *start, uint64_t *end)
{
    uint64_t bytes, last;
    *t = (struct tensor){0};
    if (!need(c, "\"") || !string_read(c, &t->name))
        return false;
    if (!name_is_legal(t->name))
        return bad_tensor(c, t, "a name has only a-z, 0-9, _ and .");
    if (!need(c, ":{\"dtype\":\"") || !dtype_read(c, t) || !need(c, ",\"shape\":[") ||
        !shape_read(c, t) || !need(c, ",\"data_offsets\":[") || !number_read(c, start) ||
        !need(c, ",") || !number_read(c, &last) || !need(c, "]}"))
        return false;
    if (mem_mul_overflows(t->count, (uint64_t)dtypes[t->type].bytes, &bytes))
        return bad_tensor(c, t, "its size is above 2^64 bytes");
    if (*start != *end)
        return bad_tensor(c, t, *start < *end ? "it overlaps the one before it"
                                              : "there is a hole in front of it");
    if (last < *start || last - *start != bytes)
        return bad_tensor(c, t, "its shape and its place do not agree");
    *end = last;
    return true;
}

/* Larger elements first, then by name: so that each tensor is aligned, and the same tensors give
 * the same file. */
static bool in_order(const struct tensor *a, const struct tensor *b)
{
    size_t x = dtypes[a->type].bytes, y = dtypes[b->type].bytes;
    return x > y || (x == y && strcmp(a->name, b->name) < 0);
}

static int by_name(const void *a, const void *b, const void *context)
{
    const struct tensor *tensors = context;
    return strcmp(tensors[*(const uint32_t *)a].name, tensors[*(const uint32_t *)b].name);
}

/* Names of equal element size are ascending already; across sizes two may still be equal. */
static bool names_differ(struct cursor *c, const struct tensor_head *h)
{
    if (h->count < 2)
        return true;
    uint32_t *order = mem_alloc(h->count, sizeof *order);
    for (size_t i = 0; i < h->count; i++)
        order[i] = (uint32_t)i;
    sort_stable(order, h->count, sizeof *order, by_name, h->tensors);
    bool differ = true;
    for (size_t i = 1; differ && i < h->count; i++)
        if (strcmp(h->tensors[order[i - 1]].name, h->tensors[order[i]].name) == 0)
            differ = bad_tensor(c, &h->tensors[order[i]], "there are two of that name");
    mem_free(order);
    return differ;
}

static bool tensors_read(struct cursor *c, struct tensor_head *h, uint64_t data_bytes)
{
    uint64_t end = 0;
    while (pass(c, ",")) {
        if (h->count == TENSOR_MOST)
            return err_at(c->e, ERR_MODEL_HEADER, c->path, 0, 0,
                          "the header has more than %d tensors", TENSOR_MOST);
        h->tensors = mem_more(h->tensors, h->count, sizeof *h->tensors);
        h->starts = mem_more(h->starts, h->count, sizeof *h->starts);
        struct tensor *t = &h->tensors[h->count];
        if (!tensor_read(c, t, &h->starts[h->count], &end))
            return false;
        if (h->count && !in_order(t - 1, t))
            return bad_tensor(c, t, "it is out of order");
        h->count++;
    }
    if (!need(c, "}"))
        return false;
    while (c->at < c->end && *c->at == ' ')
        c->at++;
    if (c->at < c->end)
        return broken(c, "the end of the header");
    if (end != data_bytes)
        return err_at(c->e, ERR_MODEL_TRUNCATED, c->path, 0, 0,
                      "the tensors end at byte %llu behind the header, the file at byte %llu",
                      (unsigned long long)end, (unsigned long long)data_bytes);
    return names_differ(c, h);
}

bool tensor_head_read(struct tensor_head *h, char *header, size_t length, uint64_t data_bytes,
                      const char *path, struct err *e)
{
    *h = (struct tensor_head){0};
    struct cursor c = {.at = header, .from = header, .end = header + length, .path = path, .e = e};
    size_t valid = utf8_valid_prefix(header, length);
    if (valid < length || length < TENSOR_PREFIX_BYTES + TENSOR_DIGITS) {
        c.at += valid;
        return broken(&c, "valid UTF-8");
    }
    if (meta_read(&c, h) && tensors_read(&c, h, data_bytes))
        return true;
    tensor_head_release(h);
    return false;
}

void tensor_head_release(struct tensor_head *h)
{
    mem_free(h->meta);
    mem_free(h->tensors);
    mem_free(h->starts);
    *h = (struct tensor_head){0};
}

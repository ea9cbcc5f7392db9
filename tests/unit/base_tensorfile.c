#include <fcntl.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/file/sha256.h"
#include "base/file/tensorfile.h"
#include "base/text.h"
#include "scratch.h"
#include "tap.h"

static struct err e;

static const float floats[6] = {1, 2, 3, -0.0f, 1e-40f, 3.4e38f};
static const double doubles[2] = {0.1, -1e300};
static const int64_t longs[1] = {INT64_MIN};
static const int32_t ints[3] = {1, -2, 3};
static const uint8_t bytes[5] = {0, 1, 2, 254, 255};
static const char awkward[] = "quote \" backslash \\ newline \n tab \t bell \a \xe2\x82\xac";

static struct tensor_writer *filled(void)
{
    struct tensor_writer *w = tensor_writer_new();
    tensor_meta(w, "kind", "model");
    tensor_meta(w, "awk\"ward", awkward);
    tensor_meta(w, "empty", "");
    tensor_add(w, "z.bytes", DTYPE_U8, 1, (uint64_t[]){5}, bytes);
    tensor_add(w, "w", DTYPE_F32, 2, (uint64_t[]){2, 3}, floats);
    tensor_add(w, "none", DTYPE_F32, 2, (uint64_t[]){0, 3}, NULL);
    tensor_add(w, "a", DTYPE_I32, 1, (uint64_t[]){3}, ints);
    tensor_add(w, "scale", DTYPE_F64, 1, (uint64_t[]){2}, doubles);
    tensor_add(w, "at", DTYPE_I64, 0, NULL, longs);
    return w;
}

static void round_trip(void)
{
    char digest[65];
    struct tensor_writer *w = filled();
    ok(tensor_write(w, scratch("m.dnn"), digest, &e), "written");
    ok(tensor_write(w, scratch("again.dnn"), NULL, &e),
       "written once more, nobody asks for the digest");
    size_t length, other;
    struct outfile o;
    scratch_put("later.dnn", "before", 6);
    ok(tensor_prepare(w, scratch("later.dnn"), &o, NULL, &e), "prepared");
    char *later = scratch_get("later.dnn", &length);
    ok(length == 6, "and not in place before the commit");
    free(later);
    ok(outfile_commit(&o, &e), "committed");
    later = scratch_get("later.dnn", &length);
    ok(length > 99, "and in place");
    free(later);
    tensor_writer_free(w);
    char *raw = scratch_get("m.dnn", &length), *twin = scratch_get("again.dnn", &other);
    ok(length == other && memcmp(raw, twin, length) == 0, "the same bytes");
    free(twin);
    ok(memcmp(raw + 8, "{\"__metadata__\":{\"sha256\":\"", 27) == 0 && raw[99] == '"',
       "the digits are bytes 35..98");
    struct sha256 s;
    char hex[65];
    sha256_init(&s);
    sha256_add(&s, raw, length);
    sha256_hex(&s, hex);
    is_string(digest, hex, "the digest is that of the file");
    uint64_t n;
    memcpy(&n, raw, 8);
    is_int((8 + n) % 64, 0, "the header ends at a multiple of 64");

    struct tensor_file *f = tensor_open(scratch("m.dnn"), &e);
    ok(f != NULL, "read: %s", e.what);
    if (!f)
        return;
    ok(tensor_digest(scratch("m.dnn"), hex, &e) && strcmp(hex, digest) == 0, "the same digest");
    is_string(tensor_file_meta(f, "kind"), "model", "metadata");
    is_string(tensor_file_meta(f, "awk\"ward"), awkward, "with characters that need an escape");
    is_string(tensor_file_meta(f, "empty"), "", "empty");
    ok(tensor_file_meta(f, "nothing") == NULL, "absent");
    is_string(tensor_file_path(f), scratch("m.dnn"), "the path");
    is_int(tensor_file_count(f), 6, "tensors");
    static const char *const order[] = {"at", "scale", "a", "none", "w", "z.bytes"};
    for (size_t i = 0; i < 6; i++)
        is_string(tensor_file_at(f, i)->name, order[i], "by size of element, then by name");
    ok(tensor_file_at(f, 6) == NULL, "no more");
    const struct tensor *t = tensor_need(f, "w", DTYPE_F32, 6, &e);
    ok(t && t->rank == 2 && t->dims[0] == 2 && t->dims[1] == 3 &&
           memcmp(t->data, floats, sizeof floats) == 0 && (uintptr_t)t->data % 4 == 0,
       "a matrix");
    t = tensor_need(f, "at", DTYPE_I64, 1, &e);
    ok(t && t->rank == 0 && *(const int64_t *)t->data == INT64_MIN, "a scalar");
    t = tensor_need(f, "scale", DTYPE_F64, UINT64_MAX, &e);
    ok(t && (uintptr_t)t->data % 8 == 0 && memcmp(t->data, doubles, sizeof doubles) == 0,
       "doubles");
    t = tensor_find(f, "none");
    ok(t && t->count == 0 && tensor_find(f, "wo") == NULL, "an empty one");
    ok(!tensor_need(f, "wo", DTYPE_F32, 6, &e) && e.id == ERR_MODEL_TENSOR, "missing: %s", e.what);
    err_clear(&e);
    ok(!tensor_need(f, "w", DTYPE_F64, 6, &e) && e.id == ERR_MODEL_TENSOR, "another type: %s",
       e.what);
    err_clear(&e);
    ok(!tensor_need(f, "w", DTYPE_F32, 7, &e) && e.id == ERR_MODEL_TENSOR, "another count: %s",
       e.what);
    err_clear(&e);
    tensor_close(f);
    free(raw);

    w = tensor_writer_new();
    ok(tensor_write(w, scratch("least.dnn"), NULL, &e), "a file without anything");
    tensor_writer_free(w);
    f = tensor_open(scratch("least.dnn"), &e);
    ok(f && tensor_file_count(f) == 0, "is read");
    tensor_close(f);
}

static bool rejected(const char *raw, size_t length)
{
    err_clear(&e);
    struct tensor_file *f = tensor_open_bytes(raw, length, "m.dnn", &e);
    tensor_close(f);
    return !f && err_exit(&e) == EXIT_FORMAT && e.what[0];
}

static void damage(void)
{
    size_t length, missed = 0;
    char *raw = scratch_get("m.dnn", &length);
    ok(!rejected(raw, length), "the whole file is read");
    for (size_t i = 0; i < length; i++) {
        char was = raw[i];
        for (int x = 1; x < 256; x++) {
            raw[i] = (char)(was ^ x);
            missed += !rejected(raw, length);
        }
        raw[i] = was;
    }
    is_int(missed, 0, "every change of a byte is found");
    for (size_t n = 0; n < length; n++)
        missed += !rejected(raw, n);
    is_int(missed, 0, "every truncation is found");
    char *longer = malloc(length + 100);
    memcpy(longer, raw, length);
    for (size_t more = 1; more <= 100; more++) {
        longer[length + more - 1] = (char)(more % 3 ? 0 : 'x');
        missed += !rejected(longer, length + more);
    }
    is_int(missed, 0, "every addition is found");
    free(longer);
    for (size_t n = 0; n < length; n += 97) { /* through a file as well */
        scratch_put("cut.dnn", raw, n);
        err_clear(&e);
        missed += tensor_open(scratch("cut.dnn"), &e) || err_exit(&e) != EXIT_FORMAT;
    }
    is_int(missed, 0, "truncated files");
    free(raw);

    static const struct {
        const char *start;
        size_t length;
        enum err_id id;
    } foreign[] = {
        {"", 0, ERR_MODEL_FOREIGN},
        {"\x80\x02}q\x00.", 6, ERR_MODEL_FOREIGN},
        {"PK\x03\x04 a zip archive of some length, which is no model", 50, ERR_MODEL_FOREIGN},
        {"a,b,c\n1,2,3\n4,5,6\n7,8,9\n10,11,12\n", 34, ERR_MODEL_FOREIGN},
        {"\x40\0\0\0\0\0\0\0{\"weights\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}}",
         71, ERR_MODEL_FOREIGN}};
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        ok(rejected(foreign[i].start, foreign[i].length) && e.id == foreign[i].id, "foreign: %s",
           e.what);
    }
}

/* A file with this text behind the hash, its blanks, its length and a true hash: what only the
 * parser can refuse. */
static size_t forge(const char *rest, size_t data_bytes, char *out, size_t room)
{
    struct text t = {0};
    text_add(&t, "\0\0\0\0\0\0\0\0", 8);
    text_put(&t, "{\"__metadata__\":{\"sha256\":\""
                 "0000000000000000000000000000000000000000000000000000000000000000");
    text_put(&t, rest);
    while (t.length % 64)
        text_char(&t, ' ');
    uint64_t n = t.length - 8;
    memcpy(t.data, &n, 8);
    for (size_t i = 0; i < data_bytes; i++)
        text_char(&t, (char)i);
    struct sha256 s;
    char hex[65];
    sha256_init(&s);
    sha256_add(&s, t.data, t.length);
    sha256_hex(&s, hex);
    memcpy(t.data + 35, hex, 64);
    size_t length = t.length;
    if (length > room)
        length = 0;
    memcpy(out, t.data, length);
    text_free(&t);
    return length;
}

#define T(name, type, shape, from, to)                                                             \
    ",\"" name "\":{\"dtype\":\"" type "\",\"shape\":[" shape "],\"data_offsets\":[" from "," to   \
    "]}"

static void hostile(void)
{
    static const struct {
        const char *rest;
        size_t data;
        enum err_id id; /* ERR_NONE: it is a good file */
        const char *name;
    } cases[] = {
        {"\"}}", 0, ERR_NONE, "the least file"},
        {"\",\"a\":\"b\"}" T("x", "F32", "2", "0", "8") T("b", "U8", "3", "8", "11") "}", 11,
         ERR_NONE, "a good file"},
        {"\",\"a\":\"\\u00e9\"}}", 0, ERR_MODEL_HEADER, "an escape that dnn does not write"},
        {"\",\"a\":\"\\u0000\"}}", 0, ERR_MODEL_HEADER, "a NUL in a string"},
        {"\",\"a\":\"\\q\"}}", 0, ERR_MODEL_HEADER, "no such escape"},
        {"\",\"a\":\"\\", 0, ERR_MODEL_HEADER, "an escape that is cut off"},
        {"\",\"a\":\"\\u00", 0, ERR_MODEL_HEADER, "a \\u that is cut off"},
        {"\",\"a\":\"b", 0, ERR_MODEL_HEADER, "a string without an end"},
        {"\",\"a\":\"\xff\"}}", 0, ERR_MODEL_HEADER, "bytes that are not UTF-8"},
        {"\",\"a\":\"\n\"}}", 0, ERR_MODEL_HEADER, "a control byte"},
        {"\",\"a\":1}}", 0, ERR_MODEL_HEADER, "metadata that are no string"},
        {"\",\"a\":\"1\",\"a\":\"2\"}}", 0, ERR_MODEL_HEADER, "a metadata key twice"},
        {"\",\"sha256\":\"2\"}}", 0, ERR_MODEL_HEADER, "the hash twice"},
        {"\"}", 0, ERR_MODEL_HEADER, "no end"},
        {"\"}}}", 0, ERR_MODEL_HEADER, "too many ends"},
        {"\"}} {}", 0, ERR_MODEL_HEADER, "something behind"},
        {"\"}}\n", 0, ERR_MODEL_HEADER, "a newline behind"},
        {"\"}" T("x", "F32", "2", "0", "8") " }", 8, ERR_MODEL_TRUNCATED, "a blank inside"},
        {"\"}" T("x", "F32", "02", "0", "8") "}", 8, ERR_MODEL_HEADER, "a needless zero"},
        {"\"}" T("x", "F32", "-2", "0", "8") "}", 8, ERR_MODEL_HEADER, "a sign"},
        {"\"}" T("x", "F32", "2.0", "0", "8") "}", 8, ERR_MODEL_HEADER, "a fraction"},
        {"\"}" T("x", "F32", "2,", "0", "8") "}", 8, ERR_MODEL_HEADER, "a comma too many"},
        {"\"}" T("x", "F32", "18446744073709551618", "0", "8") "}", 8, ERR_MODEL_HEADER,
         "a number above 2^64"},
        {"\"}" T("x", "F32", "2", "0", "18446744073709551624") "}", 8, ERR_MODEL_HEADER,
         "an end that wraps to 8"},
        {"\"}" T("x", "F32", "4611686018427387906", "0", "8") "}", 8, ERR_MODEL_TENSOR,
         "a product that wraps to 8"},
        {"\"}" T("x", "U8", "4294967296,4294967296", "0", "0") "}", 0, ERR_MODEL_TENSOR,
         "a shape that wraps to 0"},
        {"\"}" T("x", "U8", "0,18446744073709551615,3", "0", "0") "}", 0, ERR_NONE,
         "an empty one of an odd shape"},
        {"\"}" T("x", "U8", "1,1,1,1,1", "0", "1") "}", 1, ERR_MODEL_TENSOR, "five dimensions"},
        {"\"}" T("x", "F16", "4", "0", "8") "}", 8, ERR_MODEL_TENSOR,
         "a type that dnn does not have"},
        {"\"}" T("x", "f32", "2", "0", "8") "}", 8, ERR_MODEL_TENSOR, "a type in lower case"},
        {"\"}" T("x y", "F32", "2", "0", "8") "}", 8, ERR_MODEL_TENSOR, "a blank in a name"},
        {"\"}" T("", "F32", "2", "0", "8") "}", 8, ERR_MODEL_TENSOR, "no name"},
        {"\"}" T("../x", "F32", "2", "0", "8") "}", 8, ERR_MODEL_TENSOR, "a path as a name"},
        {"\"}" T("x", "F32", "2", "0", "8") T("x", "U8", "1", "8", "9") "}", 9, ERR_MODEL_TENSOR,
         "a name twice"},
        {"\"}" T("x", "F32", "1", "0", "4") T("x", "F32", "1", "4", "8") "}", 8, ERR_MODEL_TENSOR,
         "twice in a row"},
        {"\"}" T("y", "F32", "1", "0", "4") T("x", "F32", "1", "4", "8") "}", 8, ERR_MODEL_TENSOR,
         "names out of order"},
        {"\"}" T("x", "U8", "4", "0", "4") T("y", "F32", "1", "4", "8") "}", 8, ERR_MODEL_TENSOR,
         "sizes out of order"},
        {"\"}" T("x", "F32", "1", "0", "4") T("y", "F32", "1", "0", "4") "}", 4, ERR_MODEL_TENSOR,
         "an overlap"},
        {"\"}" T("x", "F32", "1", "0", "4") T("y", "F32", "1", "8", "12") "}", 12, ERR_MODEL_TENSOR,
         "a hole"},
        {"\"}" T("x", "F32", "1", "4", "8") "}", 8, ERR_MODEL_TENSOR, "a hole in front"},
        {"\"}" T("x", "F32", "1", "8", "4") "}", 4, ERR_MODEL_TENSOR, "an end before its start"},
        {"\"}" T("x", "F32", "3", "0", "8") "}", 8, ERR_MODEL_TENSOR, "a shape that does not fit"},
        {"\"}" T("x", "F32", "1", "0", "4") "}", 8, ERR_MODEL_TRUNCATED,
         "bytes behind the last tensor"},
        {"\"}" T("x", "F32", "2", "0", "8") "}", 4, ERR_MODEL_TRUNCATED, "too few bytes"},
        {"\"},\"x\":{\"shape\":[2],\"dtype\":\"F32\",\"data_offsets\":[0,8]}}", 8, ERR_MODEL_HEADER,
         "another order of keys"},
        {"\"},\"x\":[0,8]}}", 8, ERR_MODEL_HEADER, "a tensor that is a list"},
    };
    static char raw[4096];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t length = forge(cases[i].rest, cases[i].data, raw, sizeof raw);
        bool bad = rejected(raw, length);
        ok(cases[i].id == ERR_NONE ? !bad : bad && e.id == cases[i].id, "%s: %s", cases[i].name,
           bad ? e.what : "read");
    }
    size_t length = forge("\"}" T("x", "F32", "2", "0", "8") "}", 8, raw, sizeof raw);
    static const uint64_t lengths[] = {
        0, 1, 91, 93, 120, 1 << 20, (1 << 20) + 1, UINT64_MAX, UINT64_MAX - 8, INT64_MAX};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        memcpy(raw, &lengths[i], 8);
        ok(rejected(raw, length), "a header of %llu bytes: %s", (unsigned long long)lengths[i],
           e.what);
    }

    struct text many = {0};
    text_put(&many, "\"");
    for (int i = 0; i < 1001; i++)
        text_printf(&many, ",\"k%d\":\"\"", i);
    text_put(&many, "}}");
    char *large = malloc(1 << 20);
    ok(rejected(large, forge(many.data, 0, large, 1 << 20)) && e.id == ERR_MODEL_HEADER,
       "too many keys: %s", e.what);
    text_clear(&many);
    text_put(&many, "\"}");
    for (int i = 0; i < 10001; i++)
        text_printf(&many, T("t%05d", "U8", "0", "0", "0"), i);
    text_put(&many, "}");
    ok(rejected(large, forge(many.data, 0, large, 1 << 20)) && e.id == ERR_MODEL_HEADER,
       "too many tensors: %s", e.what);
    text_free(&many);
    free(large);
}

/* Headers with a few bytes changed and a hash that fits: whatever comes out, it is an answer. */
static void mutants(void)
{
    static const char *const seeds[] = {
        "\",\"a\":\"b\"}" T("w", "F64", "2", "0", "16") T("x", "F32", "2", "16", "24")
            T("b", "U8", "3", "24", "27") "}",
        "\",\"k\":\"\\u0007\\n\"}" T("a.b_1", "I32", "2,1", "0", "8") "}",
    };
    static const char alphabet[] = "\"\\{}[]:,0123456789uFIU abx_.-\x80\xff\n";
    static char raw[4096];
    size_t read = 0, refused = 0;
    for (uint32_t i = 0; i < 40000; i++) {
        char rest[600];
        size_t n = strlen(seeds[i % 2]);
        memcpy(rest, seeds[i % 2], n + 1);
        uint32_t changes = 1 + rng_bits(1, i, 0, 0, RNG_TEST) % 3;
        for (uint32_t c = 1; c <= changes; c++) {
            size_t at = rng_bits(1, i, 0, c, RNG_TEST) % n;
            uint32_t how = rng_bits(1, i, 1, c, RNG_TEST);
            char put = alphabet[(how >> 8) % (sizeof alphabet - 1)];
            if (how % 3 == 0) {
                rest[at] = put;
            } else if (how % 3 == 1) {
                memmove(rest + at + 1, rest + at, n - at + 1);
                rest[at] = put;
                n++;
            } else if (n > 1) {
                memmove(rest + at, rest + at + 1, n - at);
                n--;
            }
        }
        size_t length = forge(rest, i % 2 ? 8 : 27, raw, sizeof raw);
        err_clear(&e);
        struct tensor_file *f = tensor_open_bytes(raw, length, "m.dnn", &e);
        for (size_t k = 0; f && k < tensor_file_count(f); k++) {
            const struct tensor *t = tensor_file_at(f, k);
            uint64_t sum = 0;
            for (size_t b = 0; b < t->count * dtype_bytes(t->type); b++)
                sum += ((const unsigned char *)t->data)[b];
            read += sum < UINT64_MAX; /* every byte is there to be read */
        }
        refused += !f && err_exit(&e) == EXIT_FORMAT;
        tensor_close(f);
    }
    ok(read > 0 && refused > 30000, "40000 mutants: %zu tensors read, %zu files refused", read,
       refused);
}

static const char *opening(const char *path)
{
    err_clear(&e);
    struct tensor_file *f = tensor_open(path, &e);
    tensor_close(f);
    return f ? "opened" : err_info((int)e.id)->name;
}

static void strange_files(void)
{
    is_string(opening(scratch("no.dnn")), "FILE_MISSING", "a missing file");
    is_string(opening(scratch_folder), "FILE_MISSING", "a directory");
    is_string(opening("/dev/zero"), "FILE_MISSING", "a device");
    mkfifo(scratch("fifo"), 0600);
    is_string(opening(scratch("fifo")), "FILE_MISSING", "a FIFO, without waiting");
    is_int(err_exit(&e), 66, "all of them 66");

    /* A header that speaks of a tebibyte in a file that has one: no data are read, no memory is
     * taken. */
    char raw[4096];
    struct sha256 unused;
    sha256_init(&unused);
    static const char *const headers[] = {
        "\"}" T("x", "U8", "1099511627776", "0", "1099511627776") "}", "\"}}",
        "\"}" T("x", "U8", "8", "0", "8") "}"};
    for (size_t i = 0; i < 3; i++) {
        size_t length = forge(headers[i], 0, raw, sizeof raw);
        scratch_put("sparse.dnn", raw, length);
        if (truncate(scratch("sparse.dnn"), (off_t)length + ((off_t)1 << 40)) != 0) {
            tap_skip("a sparse file of 1 TiB", "this file system has none");
            continue;
        }
        double start = clock_now();
        uint64_t before = mem_peak();
        ok(strncmp(opening(scratch("sparse.dnn")), "MODEL_", 6) == 0 && clock_now() - start < 1 &&
               mem_peak() - before < 4 << 20,
           "a sparse file of 1 TiB: %s", e.what);
    }
    /* One that is small enough to be allowed is hashed in pieces before memory is taken for it. */
    size_t length =
        forge("\"}" T("x", "U8", "314572800", "0", "314572800") "}", 0, raw, sizeof raw);
    scratch_put("sparse.dnn", raw, length);
    if (truncate(scratch("sparse.dnn"), (off_t)length + 314572800) == 0) {
        uint64_t before = mem_peak();
        is_string(opening(scratch("sparse.dnn")), "MODEL_HASH", "300 MiB of zeros");
        ok(mem_peak() - before < 4 << 20, "cost no memory");
    }
    unlink(scratch("sparse.dnn"));
}

static void refused_writes(void)
{
    struct tensor_writer *w = tensor_writer_new();
    tensor_add(w, "Bad Name", DTYPE_U8, 1, (uint64_t[]){5}, bytes);
    err_clear(&e);
    ok(!tensor_write(w, scratch("bad.dnn"), NULL, &e) && e.id == ERR_MODEL_TENSOR &&
           !scratch_get("bad.dnn", &(size_t){0}),
       "what cannot be read is not written: %s", e.what);
    tensor_writer_free(w);
    w = tensor_writer_new();
    char *large = malloc((1 << 20) + 1);
    memset(large, 'x', 1 << 20);
    large[1 << 20] = '\0';
    tensor_meta(w, "large", large);
    err_clear(&e);
    ok(!tensor_write(w, scratch("bad.dnn"), NULL, &e) && e.id == ERR_MODEL_HEADER,
       "a header too long: %s", e.what);
    free(large);
    tensor_writer_free(w);
}

static int again(const char *path, const char *how)
{
    if (how[0] == 'r')
        return strcmp(opening(path), "opened") == 0 ? 0 : (int)err_exit(&e);
    struct tensor_writer *w = filled();
    bool good = tensor_write(w, path, NULL, &e);
    tensor_writer_free(w);
    return good ? 0 : (int)err_exit(&e);
}

static void faults(void)
{
    char path[600];
    snprintf(path, sizeof path, "%s", scratch("m.dnn"));
    size_t length;
    char *raw = scratch_get("m.dnn", &length);
    static const char *const writes[] = {"write:1", "fsync:1", "close:1", "rename:1"};
    for (size_t i = 0; i < 4; i++) {
        int before = scratch_count();
        is_int(scratch_again(writes[i], path, "write", NULL), 74, writes[i]);
        ok(scratch_holds("m.dnn", raw, length) && scratch_count() == before,
           "the file is the earlier one, alone");
    }
    static const char *const reads[] = {"read:1", "read:2", "read:3"};
    for (size_t i = 0; i < 3; i++)
        is_int(scratch_again(reads[i], path, "read", NULL), 74, reads[i]);
    is_int(scratch_again("open:1", path, "read", NULL), 71, "open:1");
    int code = 71;
    for (int i = 1; code == 71 && i < 100; i++) {
        char set[32];
        snprintf(set, sizeof set, "alloc:%d", i);
        code = scratch_again(set, path, "read", "err");
    }
    is_int(code, 0, "each allocation fails in turn: 71, and then none is left");
    free(raw);
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return again(argv[1], argv[2]);
    scratch_make();
    round_trip();
    damage();
    hostile();
    mutants();
    strange_files();
    refused_writes();
    faults();
    is_int(mem_in_use(), 0, "all memory is given back");
    return done();
}

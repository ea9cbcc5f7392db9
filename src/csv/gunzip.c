/* gunzip.c - see gunzip.h. */
#include "csv/gunzip.h"

#include <stdio.h>
#include <string.h>

#include "base/process/guest.h"
#include "base/mem.h"
#include "base/process/shell.h"

enum { PACKED_BYTES = 64 << 10, UNPACKED_BYTES = 256 << 10 };
/* zlib's words: window bits of gzip alone, no flush, results. */
enum { GZIP_BITS = 15 + 16, NO_FLUSH = 0, INFLATE_OK = 0, INFLATE_END = 1, INFLATE_NO_ROOM = -5,
       INFLATE_NO_MEMORY = -4 };

/* z_stream of zlib 1.x. */
struct zlib_stream {
    const unsigned char *next_in;
    unsigned avail_in;
    unsigned long total_in;
    unsigned char *next_out;
    unsigned avail_out;
    unsigned long total_out;
    const char *message;
    void *state;
    void *(*alloc)(void *opaque, unsigned items, unsigned size);
    void (*release)(void *opaque, void *memory);
    void *opaque;
    int data_type;
    unsigned long adler, reserved;
};
struct zlib {
#define NEED GUEST_MEMBER
#include "csv/zlib.def"
#undef NEED
};
static const struct guest_symbol symbols[] = {
#define NEED(name, result, arguments) GUEST_SYMBOL(zlib, name, false)
#include "csv/zlib.def"
#undef NEED
};
static const char *const files[] = {"libz.so.1", NULL};
static const struct guest_library library = {.name = "zlib",
                                             .files = files,
                                             .symbols = symbols,
                                             .count = sizeof symbols / sizeof *symbols};

struct gunzip {
    struct file *file;
    struct guest guest;
    struct zlib calls;
    struct zlib_stream stream;
    bool inside;     /* a member has begun and not ended */
    bool padding;    /* only zero bytes may follow */
    bool file_ended;
    bool ended;      /* nothing follows the unpacked bytes, but the error if there is one */
    struct err error;
    uint64_t read;   /* bytes of the file in `packed`, or unpacked */
    unsigned char packed[PACKED_BYTES];
    size_t at, used; /* unpacked bytes [at, used) wait for the reader */
    unsigned char unpacked[UNPACKED_BYTES];
};

bool gunzip_knows(const void *bytes, size_t size)
{
    return size >= 2 && memcmp(bytes, "\x1f\x8b", 2) == 0;
}

bool gunzip_may(char first)
{
    return first == 0x1f;
}

/* --- unpacking --- */

/* Offset in the file of the next packed byte. */
static uint64_t offset(const struct gunzip *g)
{
    return g->read - g->stream.avail_in;
}

static void damaged(struct gunzip *g, const char *what)
{
    g->ended = true;
    err_at(&g->error, ERR_CSV_GZIP, g->file->path, 0, 0, "gzip data: %s at byte %llu of the file",
           what, (unsigned long long)offset(g));
    err_help(&g->error, "`gzip -t` checks a file; copy or pack it again");
}

static void refill(struct gunzip *g)
{
    size_t got = 0;
    bool good = (g->file->seekable ? file_read : file_read_some)(g->file, g->packed, PACKED_BYTES,
                                                                 &got, &g->error);
    g->ended = !good;
    g->file_ended = got == 0;
    g->read += got;
    g->stream.next_in = g->packed;
    g->stream.avail_in = (unsigned)got;
}

/* Goes to the next member, which begins with packed bytes at hand. */
static void next_member(struct gunzip *g)
{
    g->padding |= *g->stream.next_in == 0;
    while (g->padding && g->stream.avail_in && *g->stream.next_in == 0) {
        g->stream.next_in++;
        g->stream.avail_in--;
    }
    if (g->stream.avail_in && (g->padding || *g->stream.next_in != 0x1f))
        damaged(g, "bytes that are no gzip");
    else if (g->stream.avail_in)
        g->inside = g->calls.inflateReset(&g->stream) == INFLATE_OK;
}

static void unpack(struct gunzip *g)
{
    g->stream.next_out = g->unpacked;
    g->stream.avail_out = UNPACKED_BYTES;
    int result = g->calls.inflate(&g->stream, NO_FLUSH);
    g->at = 0;
    g->used = UNPACKED_BYTES - g->stream.avail_out;
    if (result == INFLATE_END)
        g->inside = false;
    else if (result == INFLATE_NO_MEMORY)
        g->ended = !err_set(&g->error, ERR_MEMORY, "zlib has no memory");
    else if (result != INFLATE_OK && result != INFLATE_NO_ROOM)
        damaged(g, "they are damaged");
}

/* Goes on until unpacked bytes, the end or an error is there. False: a pipe has no more packed
 * bytes within the time; < 0: it is waited for. */
static bool fill(struct gunzip *g, int milliseconds)
{
    while (g->at == g->used && !g->ended) {
        if (!g->stream.avail_in && !g->file_ended) {
            if (!g->file->seekable && !file_ready(g->file, milliseconds))
                return false;
            refill(g);
        } else if (g->file_ended) {
            g->ended = true;
            if (g->inside)
                damaged(g, "they are cut off");
        } else if (g->inside) {
            unpack(g);
        } else {
            next_member(g);
        }
    }
    return true;
}

/* --- reading --- */

struct gunzip *gunzip_open(struct file *file, const void *first, size_t size, struct err *e)
{
    struct gunzip *g = mem_alloc(1, sizeof *g);
    memset(g, 0, offsetof(struct gunzip, packed));
    g->file = file;
    memcpy(g->packed, first, size);
    g->stream.next_in = g->packed;
    g->stream.avail_in = (unsigned)size;
    g->read = size;
    g->inside = true;
    g->at = g->used = 0;
    if (!guest_open(&g->guest, &library, &g->calls)) {
        err_at(e, ERR_ZLIB_MISSING, file->path, 0, 0, "is packed with gzip, and zlib cannot be "
               "loaded: %s", g->guest.why);
        err_help(e, "install zlib (Debian: zlib1g), or unpack the file: %s",
                 shell_remedy(file->path, ".mended.csv", "zcat FILE"));
    } else if (g->calls.inflateInit2_(&g->stream, GZIP_BITS, g->calls.zlibVersion(),
                                      (int)sizeof g->stream) != INFLATE_OK) {
        g->stream.state = NULL;
        err_set(e, ERR_MEMORY, "zlib has no memory");
    } else {
        return g;
    }
    gunzip_close(g);
    return NULL;
}

bool gunzip_ready(struct gunzip *g, int milliseconds)
{
    return fill(g, milliseconds);
}

bool gunzip_read_some(struct gunzip *g, void *bytes, size_t room, size_t *got, struct err *e)
{
    fill(g, -1);
    *got = g->used - g->at < room ? g->used - g->at : room;
    memcpy(bytes, g->unpacked + g->at, *got);
    g->at += *got;
    if (*got == 0)
        *e = g->error;
    return *got || e->id == ERR_NONE;
}

void gunzip_close(struct gunzip *g)
{
    if (!g)
        return;
    if (g->stream.state)
        g->calls.inflateEnd(&g->stream);
    guest_close(&g->guest);
    mem_free(g);
}

void gunzip_version(char *room, size_t size, char *why, size_t why_size)
{
    struct guest guest;
    struct zlib calls;
    bool there = guest_open(&guest, &library, &calls);
    snprintf(why, why_size, "%s", guest.why);
    snprintf(room, size, "%s", there ? calls.zlibVersion() : "");
    guest_close(&guest);
}

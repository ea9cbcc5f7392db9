/* gunzip.c - see gunzip.h. The unpacked bytes go through a ring of chunks. The thread fills a chunk
 * and hands it over when it is full, or, of a pipe, when no more bytes have arrived. */
#include "csv/gunzip.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/process/guest.h"
#include "base/process/shell.h"
#include "base/process/thread.h"

enum { CHUNKS = 4, CHUNK_BYTES = 256 << 10, PACKED_BYTES = 64 << 10, AGAIN_MS = 50 };
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

struct chunk {
    size_t used;
    unsigned char bytes[CHUNK_BYTES];
};

struct gunzip {
    struct file *file;
    struct guest guest;
    struct zlib calls;
    /* of the thread that unpacks */
    struct zlib_stream stream;
    bool inside;            /* a member has begun and not ended */
    bool padding;           /* only zero bytes may follow */
    bool file_ended;
    uint64_t read;          /* bytes of the file in `packed`, or unpacked */
    unsigned char *packed;
    /* of both, under the lock: chunks [taken, filled) hold bytes */
    pthread_mutex_t lock;
    pthread_cond_t change;
    uint64_t filled, taken;
    bool ended, quit;
    struct err error;       /* after the last chunk */
    /* of the reader */
    size_t at;              /* in the first chunk */
    bool threaded;
    pthread_t thread;
    struct chunk chunks[CHUNKS];
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

static bool damaged(const struct gunzip *g, const char *what, struct err *e)
{
    err_at(e, ERR_CSV_GZIP, g->file->path, 0, 0, "gzip data: %s at byte %llu of the file", what,
           (unsigned long long)offset(g));
    return err_help(e, "`gzip -t` checks a file; copy or pack it again");
}

/* Reads packed bytes. *waits: a pipe has none now, and `patient` is false. */
static bool refill(struct gunzip *g, bool patient, bool *waits, struct err *e)
{
    size_t got = 0;
    *waits = false;
    while (!g->file->seekable && !file_ready(g->file, patient ? AGAIN_MS : 0)) {
        *waits = !patient || g->quit;
        if (*waits)
            return true;
    }
    bool good = (g->file->seekable ? file_read : file_read_some)(g->file, g->packed, PACKED_BYTES,
                                                                 &got, e);
    g->file_ended = got == 0;
    g->read += got;
    g->stream.next_in = g->packed;
    g->stream.avail_in = (unsigned)got;
    return good;
}

/* Goes to the next member, which begins with packed bytes at hand. */
static bool next_member(struct gunzip *g, struct err *e)
{
    if (g->padding || *g->stream.next_in == 0) {
        g->padding = true;
        while (g->stream.avail_in && *g->stream.next_in == 0) {
            g->stream.next_in++;
            g->stream.avail_in--;
        }
        return !g->stream.avail_in || damaged(g, "bytes that are no gzip", e);
    }
    if (*g->stream.next_in != 0x1f)
        return damaged(g, "bytes that are no gzip", e);
    g->inside = g->calls.inflateReset(&g->stream) == INFLATE_OK;
    return true;
}

/* Fills a chunk. False: the end, or an error, e is set. An empty chunk: the reader has left. */
static bool fill(struct gunzip *g, struct chunk *c, struct err *e)
{
    bool waits = false;
    c->used = 0;
    while (c->used < CHUNK_BYTES) {
        if (!g->stream.avail_in && !g->file_ended) {
            if (!refill(g, c->used == 0, &waits, e))
                return false;
            if (waits)
                return true;
        }
        if (g->file_ended)
            return g->inside && damaged(g, "they are cut off", e);
        if (!g->inside) {
            if (!next_member(g, e))
                return false;
            continue;
        }
        g->stream.next_out = c->bytes + c->used;
        g->stream.avail_out = (unsigned)(CHUNK_BYTES - c->used);
        int result = g->calls.inflate(&g->stream, NO_FLUSH);
        c->used = CHUNK_BYTES - g->stream.avail_out;
        if (result == INFLATE_END)
            g->inside = false;
        else if (result == INFLATE_NO_MEMORY)
            return err_set(e, ERR_MEMORY, "zlib has no memory");
        else if (result != INFLATE_OK && result != INFLATE_NO_ROOM)
            return damaged(g, "they are damaged", e);
    }
    return true;
}

/* Unpacks one more chunk. False: that was all. The lock is not held. */
static bool advance(struct gunzip *g)
{
    struct err e = {0};
    struct chunk *c = &g->chunks[g->filled % CHUNKS]; /* this thread alone changes `filled` */
    bool more = fill(g, c, &e);
    pthread_mutex_lock(&g->lock);
    g->filled += c->used > 0;
    g->ended = !more;
    if (!more)
        g->error = e;
    pthread_cond_broadcast(&g->change);
    pthread_mutex_unlock(&g->lock);
    return more;
}

static void *run(void *context)
{
    struct gunzip *g = context;
    for (bool more = true; more;) {
        pthread_mutex_lock(&g->lock);
        while (g->filled - g->taken == CHUNKS && !g->quit)
            pthread_cond_wait(&g->change, &g->lock);
        more = !g->quit;
        pthread_mutex_unlock(&g->lock);
        more = more && advance(g);
    }
    return NULL;
}

/* --- reading --- */

struct gunzip *gunzip_open(struct file *file, const void *first, size_t size, struct err *e)
{
    struct gunzip *g = mem_alloc(1, sizeof *g);
    memset(g, 0, offsetof(struct gunzip, chunks));
    g->file = file;
    g->packed = mem_alloc(size > PACKED_BYTES ? size : PACKED_BYTES, 1);
    memcpy(g->packed, first, size);
    g->stream.next_in = g->packed;
    g->stream.avail_in = (unsigned)size;
    g->read = size;
    g->inside = true;
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->change, NULL);
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
        g->threaded = thread_new(run, g, &g->thread);
        return g;
    }
    gunzip_close(g);
    return NULL;
}

/* Waits for bytes, the end or an error. False: the time is over. The lock is held. */
static bool await(struct gunzip *g, int milliseconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += milliseconds / 1000;
    until.tv_nsec += milliseconds % 1000 * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    while (g->filled == g->taken && !g->ended) {
        if (!g->threaded)
            return false;
        if (milliseconds < 0)
            pthread_cond_wait(&g->change, &g->lock);
        else if (milliseconds == 0 || pthread_cond_timedwait(&g->change, &g->lock, &until) != 0)
            return g->filled != g->taken || g->ended;
    }
    return true;
}

bool gunzip_ready(struct gunzip *g, int milliseconds)
{
    pthread_mutex_lock(&g->lock);
    bool ready = await(g, milliseconds);
    pthread_mutex_unlock(&g->lock);
    return ready || (!g->threaded && (g->stream.avail_in || file_ready(g->file, milliseconds)));
}

bool gunzip_read_some(struct gunzip *g, void *bytes, size_t room, size_t *got, struct err *e)
{
    *got = 0;
    while (!g->threaded && g->filled == g->taken && !g->ended)
        advance(g);
    pthread_mutex_lock(&g->lock);
    await(g, -1);
    bool empty = g->filled == g->taken;
    pthread_mutex_unlock(&g->lock);
    if (empty) {
        *e = g->error;
        return e->id == ERR_NONE;
    }
    const struct chunk *c = &g->chunks[g->taken % CHUNKS];
    *got = c->used - g->at < room ? c->used - g->at : room;
    memcpy(bytes, c->bytes + g->at, *got);
    g->at += *got;
    if (g->at == c->used) {
        g->at = 0;
        pthread_mutex_lock(&g->lock);
        g->taken++;
        pthread_cond_broadcast(&g->change);
        pthread_mutex_unlock(&g->lock);
    }
    return true;
}

void gunzip_close(struct gunzip *g)
{
    if (!g)
        return;
    if (g->threaded) {
        pthread_mutex_lock(&g->lock);
        g->quit = true;
        pthread_cond_broadcast(&g->change);
        pthread_mutex_unlock(&g->lock);
        pthread_join(g->thread, NULL);
    }
    if (g->stream.state)
        g->calls.inflateEnd(&g->stream);
    guest_close(&g->guest);
    pthread_cond_destroy(&g->change);
    pthread_mutex_destroy(&g->lock);
    mem_free(g->packed);
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

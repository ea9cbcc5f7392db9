#include <stdlib.h>

#include "base/arena.h"
#include "base/mem.h"
#include "scratch.h"
#include "tap.h"

static bool aligned(const void *p)
{
    return ((uintptr_t)p & 63) == 0;
}

static void handler(size_t bytes)
{
    _exit(bytes == 100 * 8 ? 42 : 43);
}

static int again(const char *how)
{
    if (strcmp(how, "handler") == 0)
        mem_on_failure(handler);
    void *p = strcmp(how, "huge") == 0 ? mem_alloc(SIZE_MAX / 2, 4) : mem_alloc(100, 8);
    mem_free(p);
    if (strcmp(how, "try") == 0)
        return mem_try(1, 1) == NULL ? 5 : 6;
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2)
        return again(argv[1]);
    scratch_make();
    uint64_t before = mem_in_use();
    char *a = mem_alloc(10, 3), *nothing = mem_alloc(0, 8);
    ok(a && nothing && aligned(a) && aligned(nothing), "blocks are aligned, an empty one is one");
    is_int(mem_in_use() - before, 30, "bytes are counted as asked for");
    memset(a, 7, 30);
    a = mem_grow(a, 300, 1);
    ok(a[0] == 7 && a[29] == 7 && aligned(a), "growing keeps the bytes");
    a = mem_grow(a, 10, 1);
    ok(a[9] == 7 && mem_in_use() - before == 10, "and shrinking");
    mem_free(a);
    mem_free(nothing);
    mem_free(NULL);
    is_int(mem_in_use(), before, "all is given back");
    ok(mem_peak() >= before + 310, "the peak remembers");

    size_t big = (size_t)9 << 20;
    unsigned char *z = mem_zero(big, 1);
    bool zero = aligned(z);
    for (size_t i = 0; i < big; i += 4096)
        zero = zero && z[i] == 0;
    ok(zero && z[big - 1] == 0, "a large block is cleared");
    memset(z, 9, big);
    z = mem_grow(z, big * 2, 1);
    ok(z[0] == 9 && z[big - 1] == 9, "a large block grows");
    mem_free(z);
    z = mem_zero(big, 1);
    ok(z[0] == 0 && z[big - 1] == 0, "and the next one is cleared again");
    mem_free(z);
    int *n = mem_zero(100, sizeof *n);
    ok(n[0] == 0 && n[99] == 0, "a small block is cleared");
    mem_free(n);

    ok(mem_try(SIZE_MAX, 2) == NULL && mem_try(SIZE_MAX / 2, 1) == NULL,
       "absurd sizes are NULL from mem_try");
    char *s = mem_string("text"), *p = mem_string_n("text", 2), *c = mem_copy("a\0b", 3),
         *e = mem_copy(NULL, 0);
    ok(strcmp(s, "text") == 0 && strcmp(p, "te") == 0 && memcmp(c, "a\0b", 3) == 0 && e, "copies");
    mem_free(s);
    mem_free(p);
    mem_free(c);
    mem_free(e);

    struct arena *r = arena_new(4096);
    bool good = true;
    for (size_t i = 0; i < 1000; i++) {
        unsigned char *x = arena_alloc(r, i % 50, i % 7 ? 3 : 100);
        size_t bytes = i % 50 * (i % 7 ? 3 : 100);
        good = good && ((uintptr_t)x & 15) == 0;
        for (size_t k = 0; k < bytes; k++)
            good = good && x[k] == 0;
        memset(x, 0xEE, bytes);
    }
    good = good && strcmp(arena_string(r, "name", 4), "name") == 0;
    ok(good, "arena: aligned and cleared");
    arena_free(r);
    arena_free(NULL);
    is_int(mem_in_use(), before, "an arena gives all back");

    is_int(scratch_again("alloc:1", "plain", NULL, "err"), 71, "out of memory is exit 71");
    size_t length;
    char *text = scratch_get("err", &length);
    is_string(text, "dnn: error[E1701]: out of memory: 800 bytes wanted\n",
              "and says how much was asked for");
    free(text);
    is_int(scratch_again("alloc:1", "handler", NULL, "err"), 42, "a handler is asked first");
    is_int(scratch_again("alloc:2", "try", NULL, "err"), 5, "mem_try returns NULL");
    is_int(scratch_again(NULL, "huge", NULL, "err"), 71,
           "a product that overflows is out of memory");
    return done();
}

/* replay.c - a fuzz target without libFuzzer: `replay/fuzz_NAME [MUTANTS]` gives it each input of
 * tests/fuzz/corpus/NAME, and MUTANTS changes of each (2000), the same each time: a bit turned,
 * a byte set, bytes left out, said twice or cut off. A find, of the target or of a sanitizer, or
 * 20 s without an end, ends the program, which leaves the input in build/fuzz_NAME.found. Run it in
 * the root of the sources. TAP. */
#include <dirent.h>
#include <sanitizer/common_interface_defs.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define TAP_ALONE
#include "tap.h"

#define INPUT_MOST (1 << 20)
#define CHANGE_MOST 16
#define CHANGES_MOST 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
    uint8_t *data; /* exactly `size` bytes, so that a sanitizer sees a read behind them */
    size_t size;
    char found[256];
} input;

static void keep(void)
{
    FILE *out = fopen(input.found, "wb");
    if (!out)
        return;
    fwrite(input.data, 1, input.size, out);
    fclose(out);
    fprintf(stderr, "the input is in %s\n", input.found);
}
static void keep_and_end(int signal)
{
    keep();
    _exit(128 + signal);
}

/* Below n; n > 0. Vigna's splitmix64. */
static size_t draw(uint64_t *state, size_t n)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (size_t)((z ^ z >> 31) % n);
}

/* One change of `size` bytes, behind which CHANGE_MOST are free. Returns the new size. */
static size_t change(uint64_t *state, uint8_t *data, size_t size)
{
    static const uint8_t telling[] = {0,    '0',  '9', ',',  '.',  '"',
                                      '\r', '\n', '{', 0x7f, 0x80, 0xff};
    if (size == 0)
        return 0;
    size_t at = draw(state, size), left = size - at;
    size_t length = 1 + draw(state, left < CHANGE_MOST ? left : CHANGE_MOST);
    switch (draw(state, 5)) {
    case 0: data[at] ^= (uint8_t)(1 << draw(state, 8)); return size;
    case 1: data[at] = telling[draw(state, sizeof telling)]; return size;
    case 2: memmove(data + at, data + at + length, left - length); return size - length;
    case 3: memmove(data + at + length, data + at, left); return size + length;
    default: return at;
    }
}

static void run(const uint8_t *data, size_t size)
{
    input.data = malloc(size + !size);
    input.size = size;
    memcpy(input.data, data, size);
    alarm(20);
    LLVMFuzzerTestOneInput(input.data, size);
    alarm(0);
    free(input.data);
}

/* The input at `path` and `mutants` changes of it. Returns how many were run. */
static unsigned replay(const char *path, unsigned mutants)
{
    static uint8_t whole[INPUT_MOST], some[INPUT_MOST + CHANGES_MOST * CHANGE_MOST];
    FILE *in = fopen(path, "rb");
    if (!in)
        return 0;
    size_t size = fread(whole, 1, sizeof whole, in);
    fclose(in);
    run(whole, size);
    uint64_t state = size;
    for (unsigned i = 0; i < mutants; i++) {
        size_t now = size;
        memcpy(some, whole, size);
        for (size_t n = 1 + draw(&state, CHANGES_MOST); n > 0; n--)
            now = change(&state, some, now);
        run(some, now);
    }
    return 1 + mutants;
}

int main(int count, char **words)
{
    const char *slash = strrchr(words[0], '/'), *name = slash ? slash + 1 : words[0];
    unsigned mutants = count > 1 ? (unsigned)strtoul(words[1], NULL, 10) : 2000;
    char folder[128], path[512];
    snprintf(folder, sizeof folder, "tests/fuzz/corpus/%s", name + strlen("fuzz_"));
    snprintf(input.found, sizeof input.found, "build/%s.found", name);
    __sanitizer_set_death_callback(keep);
    signal(SIGABRT, keep_and_end);
    signal(SIGALRM, keep_and_end);
    DIR *corpus = opendir(folder);
    const struct dirent *entry;
    while (corpus && (entry = readdir(corpus))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unsigned runs = replay(path, mutants);
        ok(runs > mutants, "%s: it and changes of it: %u inputs", path, runs);
    }
    ok(corpus && tap_number > 0, "there are inputs in %s", folder);
    if (corpus)
        closedir(corpus);
    return done();
}

/* parity_large.c - G17: more than 2^31 elements and bytes on the device, as much as it has room for
 * (tests/large_case.h). */
#include "parity.h"

#include <inttypes.h>

#include "large_case.h"

static void told(void *to, const char *name, const char *bad)
{
    struct parity *p = to;
    parity_result(p, name, 0, 0, bad);
}

/* How far apart rows may lie: five arrays of three rows have to have room. */
static uint64_t farthest(struct machine *m)
{
    static const uint64_t places[] = {0x80000001, 0x80000000, 0x7fffffff, 0x40000001,
                                      0x20000001, 0x10000001};
    uint64_t room = machine_bytes_free(m) / 10 * 9;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i] * (LARGE_ROWS - 1) * sizeof(float) * 5 < room)
            return places[i];
    return 0;
}

bool parity_large(struct parity *p, uint64_t apart, struct err *e)
{
    struct machine *m = machine_open(
        &(struct machine_options){.backend = "cuda", .precision = "fp32"}, e);
    if (!m)
        return false;
    apart = apart ? apart : farthest(m);
    if (apart) {
        fprintf(stderr, "parity: arrays of %" PRIu64 " elements\n", apart * (LARGE_ROWS - 1));
        large_cases(m, apart, told, p);
        large_cases(m, apart - 1, told, p);
        large_gather(m, apart, told, p); /* of 24 bytes and more each */
        large_embed(m, OP_embed, 2 * apart, told, p);
        large_embed(m, OP_embed_back, 2 * apart, told, p);
    } else {
        p->left_out++; /* no room for 2^31 bytes */
    }
    bool alive = machine_wait(m, 30, e);
    machine_close(m);
    return alive;
}

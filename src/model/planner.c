/* planner.c - hands out offsets in the arenas. Nothing is allocated for the network here; a plan
 * that cannot be meant is marked too large and refused by whoever asked for it. */
#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"
#include "model/layer.h"

#define LINE 16u /* elements; see layer.h */
#define MOST_ELEMENTS                                                                              \
    ((uint64_t)1 << 46) /* of activations: far beyond any machine, far below an overflow */

const char *const param_kind_names[] = {"weight", "bias", "norm", "embedding", NULL};

void plan_refuse(struct planner *p, const char *format, ...)
{
    va_list args;
    if (p->too_large[0])
        return;
    va_start(args, format);
    vsnprintf(p->too_large, sizeof p->too_large, format, args);
    va_end(args);
}

static unsigned log2_of(uint64_t n)
{
    unsigned power = 0;
    while (n >>= 1)
        power++;
    return power;
}

/* most: a power of 2; what: so many of them are allowed */
static uint64_t take(struct planner *p, uint64_t *arena, uint64_t count, uint64_t most,
                     const char *what)
{
    uint64_t at = *arena;
    if (count > most || at > most - count) {
        plan_refuse(p, "2^%u %s", log2_of(most), what);
        return 0;
    }
    *arena = (at + count + LINE - 1) & ~(uint64_t)(LINE - 1);
    return at;
}

static struct group *add_group(struct planner *p, enum param_kind kind)
{
    if (p->group_count == p->group_room) {
        p->group_room = p->group_room ? 2 * p->group_room : 16;
        p->groups = mem_grow(p->groups, p->group_room, sizeof *p->groups);
        p->kinds = mem_grow(p->kinds, p->group_room, sizeof *p->kinds);
    }
    p->kinds[p->group_count] = (uint8_t)kind;
    struct group *g = &p->groups[p->group_count++];
    *g = (struct group){.lr = 1, .weight_decay = 1, .shards = 1};
    return g;
}

/* From `begin` to the end of what is taken. */
static void add_gap(struct planner *p, uint64_t begin)
{
    if (p->gap_count == p->gap_room) {
        p->gap_room = p->gap_room ? 2 * p->gap_room : 16;
        p->gaps = mem_grow(p->gaps, p->gap_room, sizeof *p->gaps);
    }
    p->gaps[p->gap_count++] = (struct span){begin, p->params};
}

uint64_t plan_params(struct planner *p, uint64_t count, enum param_kind kind, uint32_t in,
                     uint32_t out, bool sharded)
{
    if (count == 0)
        return p->params;
    uint64_t at = take(p, &p->params, count, LAYER_MOST_PARAMS, "parameters");
    if (p->too_large[0])
        return 0;
    p->trained += count;
    if (at + count < p->params)
        add_gap(p, at + count);
    struct group *g = add_group(p, kind);
    g->begin = at;
    g->end = in ? at + count : p->params;
    g->in = in;
    g->out = out;
    g->shards = sharded ? p->shards : 1;
    if (g->end <
        p->params) { /* a matrix is exactly its shape; the gap behind it is a range of its own */
        uint64_t begin = g->end;
        g = add_group(p, kind);
        g->begin = begin;
        g->end = p->params;
    }
    return at;
}

uint64_t plan_buffers(struct planner *p, uint64_t count)
{
    return take(p, &p->buffers, count, LAYER_MOST_PARAMS, "running statistics");
}

/* Places are multiples of LINE, so that the form has room in their low bits. */
static uint64_t take_acts(struct planner *p, uint32_t width, uint32_t form)
{
    uint64_t count = (uint64_t)p->rows * width; /* below 2^64 */
    if (form != FORM_REAL) {
        p->narrow = true;
        uint64_t each = machine_act_bytes(p->machine) / sizeof(uint16_t);
        count = (count + each - 1) / each;
    }
    return take(p, &p->acts, count, MOST_ELEMENTS, "activations of a batch") | form;
}

static uint32_t form_of(const struct planner *p, uint32_t width, bool back)
{
    return p->training && p->machine ? machine_act_form(p->machine, p->rows, width, back)
                                     : FORM_REAL;
}

uint64_t plan_plain(struct planner *p, uint32_t width)
{
    return take_acts(p, width, FORM_REAL);
}

uint64_t plan_acts(struct planner *p, uint32_t width)
{
    return take_acts(p, width, form_of(p, width, false));
}

uint64_t plan_back(struct planner *p, uint32_t width)
{
    return take_acts(p, width, form_of(p, width, true));
}

uint64_t plan_reals(struct planner *p, uint64_t count)
{
    return take(p, &p->reals, count, MOST_ELEMENTS, "numbers kept of a batch");
}

uint64_t plan_kept(struct planner *p, uint64_t bytes)
{
    return plan_reals(p, (bytes + sizeof(real) - 1) / sizeof(real));
}

/* planner.c - offsets in the arenas. It allocates no memory of the network; a plan beyond a limit
 * is marked, and model_plan refuses it. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "model/planner.h"

#define LINE 16u /* elements; see planner.h */
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

/* most: a power of 2; what: their name in the error */
static uint64_t reserve(struct planner *p, uint64_t *arena, uint64_t count, uint64_t most,
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

static struct group *add_group(struct param_groups *g, enum param_kind kind)
{
    g->items = mem_more(g->items, g->count, sizeof *g->items);
    g->kinds = mem_more(g->kinds, g->count, sizeof *g->kinds);
    g->rates = mem_more(g->rates, g->count, sizeof *g->rates);
    g->kinds[g->count] = (uint8_t)kind;
    g->rates[g->count] = (struct rates){1, 1};
    g->items[g->count] = (struct group){.lr = 1, .weight_decay = 1, .shards = 1};
    return &g->items[g->count++];
}

uint64_t param_shape_count(const struct param_shape *s)
{
    uint64_t count = 1;
    for (uint32_t i = 0; i < s->rank; i++)
        if (__builtin_mul_overflow(count, s->dims[i], &count))
            return UINT64_MAX;
    return count;
}

static void declare(struct planner *p, const char *name, const struct param_shape *shape,
                    uint64_t at, enum param_kind kind, bool buffer)
{
    struct text full = {0};
    p->list.items = mem_more(p->list.items, p->list.count, sizeof *p->list.items);
    text_printf(&full, "%s%s", p->path.data ? p->path.data : "", name);
    p->list.items[p->list.count++] = (struct param){.name = full.data,
                                                    .shape = *shape,
                                                    .at = at,
                                                    .count = param_shape_count(shape),
                                                    .kind = kind,
                                                    .buffer = buffer,
                                                    .layer = p->layer};
}

/* A matrix of op_dense is exactly its shape: the gap after it is a group of its own. */
static void add_groups(struct planner *p, const struct param_shape *shape, uint64_t at,
                       enum param_kind kind, uint32_t shards, bool matrix)
{
    p->last_groups = p->groups.count;
    struct group *g = add_group(&p->groups, kind);
    g->begin = at;
    g->end = matrix ? at + param_shape_count(shape) : p->params;
    g->in = matrix ? (uint32_t)shape->dims[0] : 0;
    g->out = matrix ? (uint32_t)shape->dims[1] : 0;
    g->shards = shards;
    if (g->end < p->params) {
        uint64_t begin = g->end;
        g = add_group(&p->groups, kind);
        g->begin = begin;
        g->end = p->params;
    }
}

static uint64_t add_param(struct planner *p, const char *name, const struct param_shape *shape,
                          enum param_kind kind, uint32_t shards, bool matrix)
{
    uint64_t count = param_shape_count(shape);
    if (count == 0)
        return p->params;
    uint64_t at = reserve(p, &p->params, count, LAYER_MOST_PARAMS, "parameters");
    if (p->too_large[0])
        return 0;
    p->trained += count;
    add_groups(p, shape, at, kind, shards, matrix);
    declare(p, name, shape, at, kind, false);
    return at;
}

uint64_t plan_param(struct planner *p, const char *name, struct param_shape shape,
                    enum param_kind kind)
{
    return add_param(p, name, &shape, kind, p->shards, kind == PARAM_WEIGHT && shape.rank == 2);
}

uint64_t plan_param_whole(struct planner *p, const char *name, struct param_shape shape,
                          enum param_kind kind)
{
    return add_param(p, name, &shape, kind, p->tracks ? p->shards : 1, false);
}

void plan_rates(struct planner *p, double rate, double scale)
{
    for (uint32_t i = p->last_groups; i < p->groups.count; i++)
        p->groups.rates[i] = (struct rates){rate, scale};
}

uint64_t plan_buffers(struct planner *p, const char *const *names, struct param_shape shape)
{
    uint64_t each = param_shape_count(&shape), count = 0, at;
    for (const char *const *name = names; *name; name++)
        count = each < LAYER_MOST_PARAMS ? count + each : UINT64_MAX;
    at = reserve(p, &p->buffers, count, LAYER_MOST_PARAMS, "running statistics");
    for (uint64_t i = 0; names[i] && each && !p->too_large[0]; i++)
        declare(p, names[i], &shape, at + i * each, PARAM_KINDS, true);
    return at;
}

void param_list_free(struct param_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        mem_free(list->items[i].name);
    mem_free(list->items);
    *list = (struct param_list){0};
}

const struct param *param_find(const struct param_list *list, const char *name)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].name, name) == 0)
            return &list->items[i];
    return NULL;
}

uint32_t plan_columns(struct planner *p, uint64_t count)
{
    struct first_columns *x = &p->x;
    uint32_t at = (uint32_t)x->count;
    if (x->count <= FIRST_MOST_WIDTH)
        x->count += count;
    if (!count || x->count > FIRST_MOST_WIDTH)
        return at;
    x->ends = mem_more(x->ends, x->end_count, sizeof *x->ends);
    x->ends[x->end_count++] = (uint32_t)x->count;
    return at;
}

static struct act_place reserve_acts(struct planner *p, uint32_t width, uint32_t steps,
                                     uint32_t form)
{
    uint64_t rows = (uint64_t)p->rows * steps, count = 0;
    if (rows > UINT32_MAX)
        plan_refuse(p, "2^32 steps of a batch");
    if (__builtin_mul_overflow(rows, width, &count))
        count = UINT64_MAX;
    if (form != FORM_REAL) {
        p->narrow = true;
        uint64_t each = machine_act_bytes(p->machine) / sizeof(uint16_t);
        count = (count + each - 1) / each;
    }
    uint64_t at = reserve(p, &p->acts, count, MOST_ELEMENTS, "activations of a batch");
    return (struct act_place){.at = at, .form = form};
}

static uint32_t form_of(const struct planner *p, uint32_t width, uint32_t steps, bool back)
{
    uint64_t rows = (uint64_t)p->rows * steps;
    if (!p->training || !p->machine || rows > UINT32_MAX)
        return FORM_REAL;
    return machine_act_form(p->machine, (uint32_t)rows, width, back);
}

struct act_place plan_plain(struct planner *p, uint32_t width)
{
    return reserve_acts(p, width, p->at.steps, FORM_REAL);
}

struct act_place plan_acts(struct planner *p, uint32_t width)
{
    return reserve_acts(p, width, p->at.steps, form_of(p, width, p->at.steps, false));
}

struct act_place plan_back(struct planner *p, uint32_t width, uint32_t steps)
{
    return reserve_acts(p, width, steps, form_of(p, width, steps, true));
}

uint64_t plan_reals(struct planner *p, uint64_t count)
{
    return reserve(p, &p->reals, count, MOST_ELEMENTS, "numbers kept of a batch");
}

void plan_one_step(struct planner *p)
{
    p->at.steps = 1;
    p->at.more = p->at.divide = 0;
}

void plan_lengths(struct planner *p, uint32_t more, uint32_t divide)
{
    p->at.steps = (uint32_t)(((uint64_t)p->at.steps + more + divide - 1) / divide);
    p->at.more += more * p->at.divide; /* rounding up twice is rounding up once */
    p->at.divide *= divide;
    p->at.length = plan_kept(p, (uint64_t)p->rows * sizeof(int32_t));
}

uint64_t plan_table(struct planner *p, const void *bytes, size_t size)
{
    while (p->tables.length % LINE)
        text_char(&p->tables, '\0');
    uint64_t at = p->tables.length;
    text_add(&p->tables, bytes, size);
    return at;
}

uint64_t plan_kept(struct planner *p, uint64_t bytes)
{
    return plan_reals(p, (bytes + sizeof(real) - 1) / sizeof(real));
}

bool plan_need(struct planner *p, enum op_id op, const void *arguments, uint64_t *kept)
{
    struct need need = {0};
    if (p->machine)
        machine_need(p->machine, op, arguments, &need);
    if (need.kept)
        *kept = plan_kept(p, need.kept);
    return need.kept > 0;
}

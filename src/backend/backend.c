/* backend.c - operation names and plans: everything that no machine decides. */
#include "backend/machine.h"

#include <string.h>

static const char *const names[OP_COUNT] = {
#define ROW(name, text) #name,
#include "backend/ops.def"
};

const char *op_name(enum op_id op)
{
    return (unsigned)op < OP_COUNT ? names[op] : "?";
}

uint32_t plan_shards(uint32_t rows)
{
    uint32_t shards = rows / 64;
    return shards < 1 ? 1 : shards > 16 ? 16 : shards;
}

uint32_t plan_series_shards(uint32_t rows, uint32_t steps)
{
    uint32_t table = plan_shards(rows), most = rows / 16 < 8 ? rows / 16 : 8;
    uint64_t shards = (uint64_t)rows * steps / 64;
    shards = shards < most ? shards : most;
    return shards > table ? (uint32_t)shards : table;
}

bool plan_same(const struct plan *a, const struct plan *b, const char **differs)
{
    const char *field = NULL;
    if (strncmp(a->backend, b->backend, sizeof a->backend) != 0)
        field = "backend";
    else if (strncmp(a->core, b->core, sizeof a->core) != 0)
        field = "core";
    else if (strncmp(a->blas, b->blas, sizeof a->blas) != 0)
        field = "blas";
    else if (strncmp(a->blas_core, b->blas_core, sizeof a->blas_core) != 0)
        field = "blas_core";
    else if (strncmp(a->precision, b->precision, sizeof a->precision) != 0)
        field = "precision";
    else if (strncmp(a->guests, b->guests, sizeof a->guests) != 0)
        field = "guests";
    else if (a->batch != b->batch)
        field = "batch";
    else if (a->micro != b->micro)
        field = "micro";
    else if (a->shards != b->shards)
        field = "shards";
    else if (a->tracks != b->tracks)
        field = "tracks";
    else if (a->version != b->version)
        field = "version";
    if (differs)
        *differs = field;
    return field == NULL;
}

void machine_track(struct machine *m, uint32_t track)
{
    if (m->recording && m->type->track)
        m->type->track(m, track);
}

/* The offset of an operation's dims in its arguments, plus 1; 0: none. */
#define ROW(name, text)
#define STEPS(name) [OP_##name] = {offsetof(struct op_##name, dims) + 1, SHAPE_STEPS},
#define TABLE(name) [OP_##name] = {offsetof(struct op_##name, dims) + 1, SHAPE_TABLE},
#define SERIES(name) [OP_##name] = {offsetof(struct op_##name, dims) + 1, SHAPE_SERIES},
static const struct { size_t at; enum op_shape shape; } shapes[OP_COUNT] = {
#include "backend/ops.def"
};

struct dims *op_dims(enum op_id op, void *arguments)
{
    size_t at = shapes[op].at;
    return at ? (struct dims *)(void *)((char *)arguments + at - 1) : NULL;
}

enum op_shape op_shape(enum op_id op)
{
    return shapes[op].shape;
}

size_t op_size(enum op_id op)
{
    static const size_t sizes[OP_COUNT] = {
#define ROW(name, text) sizeof(struct op_##name),
#include "backend/ops.def"
    };
    return (unsigned)op < OP_COUNT ? sizes[op] : 0;
}

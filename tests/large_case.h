/* large_case.h - operations beyond 2^31 elements and bytes in little time: few rows, shards,
 * tables and records at far addresses give the same result as near ones. On the emulated card
 * (tests/emulate/test_large.cc) untouched memory costs nothing; a real card must have it
 * (tests/parity). */
#ifndef DNN_TESTS_LARGE_CASE_H
#define DNN_TESTS_LARGE_CASE_H

#include <stdlib.h>
#include <string.h>

#include "backend/cases/opcase.h"

/* One case: what it is, and "" or what was wrong. */
typedef void large_told(void *to, const char *name, const char *bad);

/* Activations: rows of this many, `ld` apart. */
enum { LARGE_ROWS = 3 };
static const struct opcase large_rows[] = {
    {.op = OP_gather, .rows = LARGE_ROWS, .in = 9, .out = 1, .kind = 2},
    {.op = OP_onehot, .rows = LARGE_ROWS, .in = 3},
    {.op = OP_embed, .rows = LARGE_ROWS, .in = 2, .out = 6},
    {.op = OP_embed_back, .rows = LARGE_ROWS, .in = 2, .out = 6, .flags = CASE_MORE},
    {.op = OP_ple_wide, .rows = LARGE_ROWS, .in = 3, .kind = 4},
    {.op = OP_ple_dense, .rows = LARGE_ROWS, .in = 3, .out = 8, .kind = 4},
    {.op = OP_ple_dense_back, .rows = LARGE_ROWS, .in = 3, .out = 8, .kind = 4},
    {.op = OP_text_dense, .rows = LARGE_ROWS, .in = 3, .out = 8, .kind = 9},
    {.op = OP_text_dense_back, .rows = LARGE_ROWS, .in = 3, .out = 8, .kind = 9},
    {.op = OP_dense, .rows = LARGE_ROWS, .in = 12, .out = 8, .kind = ACT_GELU,
     .flags = CASE_KEEP_Z},
    {.op = OP_dense_back, .rows = LARGE_ROWS, .in = 12, .out = 8, .kind = ACT_GELU,
     .flags = CASE_ADD},
    {.op = OP_dense_back, .rows = LARGE_ROWS, .in = 12, .out = 8, .kind = ACT_TANH},
    {.op = OP_act, .rows = LARGE_ROWS, .in = 12, .kind = ACT_SILU},
    {.op = OP_act_back, .rows = LARGE_ROWS, .in = 12, .kind = ACT_MISH, .flags = CASE_ADD},
    {.op = OP_blend, .rows = LARGE_ROWS, .in = 12, .kind = ACT_SELU},
    {.op = OP_blend_back, .rows = LARGE_ROWS, .in = 12, .kind = ACT_MISH, .flags = CASE_ADD},
    {.op = OP_dropout, .rows = LARGE_ROWS, .in = 12},
    {.op = OP_dropout, .rows = LARGE_ROWS, .in = 16, .flags = CASE_KEEP_Z},
    {.op = OP_add, .rows = LARGE_ROWS, .in = 12},
    {.op = OP_bnorm_stats, .rows = LARGE_ROWS, .in = 12},
    {.op = OP_bnorm, .rows = LARGE_ROWS, .in = 12},
    {.op = OP_bnorm_sums, .rows = LARGE_ROWS, .in = 12},
    {.op = OP_bnorm_back, .rows = LARGE_ROWS, .in = 12, .flags = CASE_ADD},
    {.op = OP_lnorm, .rows = LARGE_ROWS, .in = 12},
    {.op = OP_lnorm_back, .rows = LARGE_ROWS, .in = 12, .flags = CASE_ADD},
    {.op = OP_loss_class, .rows = LARGE_ROWS, .in = 5},
    {.op = OP_loss_value, .rows = LARGE_ROWS, .in = 1, .kind = VALUE_MSE}};

/* Gradients in shards, far apart; tables at a far place of their arena. */
static const struct opcase large_shards[] = {
    {.op = OP_dense_back, .rows = 200, .in = 12, .out = 8, .kind = ACT_TANH, .flags = CASE_MORE},
    {.op = OP_lnorm_back, .rows = 200, .in = 12, .flags = CASE_MORE},
    {.op = OP_blend_back, .rows = 200, .in = 12, .kind = ACT_SELU, .flags = CASE_MORE},
    {.op = OP_norm2, .rows = 3, .in = 100, .out = 3}};

static void large_ld(enum op_id op, union op_arguments *a, uint32_t ld)
{
    switch ((int)op) {
    case OP_gather: a->gather.ld = ld; break;
    case OP_onehot: a->onehot.ld = ld; break;
    case OP_embed: a->embed.ld = ld; break;
    case OP_embed_back: a->embed_back.ld = ld; break;
    case OP_ple_wide: a->ple_wide.ld = ld; break;
    case OP_ple_dense: a->ple_dense.ldy = ld; break;
    case OP_ple_dense_back: a->ple_dense_back.lddy = ld; break;
    case OP_text_dense: a->text_dense.ldy = ld; break;
    case OP_text_dense_back: a->text_dense_back.lddy = ld; break;
    case OP_dense: a->dense.ldx = a->dense.ldy = a->dense.ldz = ld; break;
    case OP_dense_back:
        a->dense_back.ldx = a->dense_back.ldy = a->dense_back.ldz = ld;
        a->dense_back.lddx = a->dense_back.lddy = ld;
        break;
    case OP_act: a->act.ldx = a->act.ldy = ld; break;
    case OP_act_back: a->act_back.ldx = a->act_back.lddx = a->act_back.lddy = ld; break;
    case OP_blend: a->blend.ldx = a->blend.ldy = ld; break;
    case OP_blend_back: a->blend_back.ldx = a->blend_back.lddx = a->blend_back.lddy = ld; break;
    case OP_dropout: a->dropout.ldx = a->dropout.ldy = ld; break;
    case OP_add: a->add.lda = a->add.ldb = a->add.ldy = ld; break;
    case OP_bnorm_stats: a->bnorm_stats.ld = ld; break;
    case OP_bnorm: a->bnorm.ldx = a->bnorm.ldy = ld; break;
    case OP_bnorm_sums: a->bnorm_sums.ldx = a->bnorm_sums.lddy = ld; break;
    case OP_bnorm_back: a->bnorm_back.ldx = a->bnorm_back.lddx = a->bnorm_back.lddy = ld; break;
    case OP_lnorm: a->lnorm.ldx = a->lnorm.ldy = ld; break;
    case OP_lnorm_back: a->lnorm_back.ldx = a->lnorm_back.lddx = a->lnorm_back.lddy = ld; break;
    case OP_loss_class: a->loss_class.ld = a->loss_class.ldd = ld; break;
    case OP_loss_value: a->loss_value.ld = a->loss_value.ldd = ld; break;
    default: break;
    }
}
static void large_stride(enum op_id op, union op_arguments *a, uint64_t stride)
{
    if (op == OP_dense_back)
        a->dense_back.shard_stride = stride;
    else if (op == OP_blend_back)
        a->blend_back.shard_stride = stride;
    else if (op == OP_lnorm_back)
        a->lnorm_back.shard_stride = stride;
    else
        a->norm2.from.shard_stride = stride;
}

/* A buffer whose rows (or shards) lie `apart` elements from each other: the arguments point
 * there. */
struct large_buffer { char *at; struct opbuffer *of; size_t rows; };

static size_t large_row_bytes(const struct opbuffer *b)
{
    return (b->shards ? b->width : b->ld) * sizeof(float);
}
static bool large_move(struct opdata *d, struct large_buffer *to, struct opbuffer *b,
                       uint64_t apart, struct err *e)
{
    size_t row = large_row_bytes(b);
    to->of = b;
    to->rows = b->shards ? b->shards : b->rows;
    to->at = (char *)machine_alloc(d->machine, (to->rows - 1) * apart * sizeof(float) + row, e);
    void *host = malloc(row);
    for (size_t r = 0; to->at && host && r < to->rows; r++) {
        machine_download(d->machine, host, (char *)b->memory + r * row, row);
        machine_upload(d->machine, to->at + r * apart * sizeof(float), host, row);
    }
    free(host);
    char **words = (char **)(void *)&d->arguments;
    for (size_t i = 0; to->at && i < sizeof d->arguments / sizeof *words; i++)
        if (words[i] >= (char *)b->memory && words[i] < (char *)b->memory + row)
            words[i] = to->at + (words[i] - (char *)b->memory);
    return to->at != NULL;
}
static void large_back(struct opdata *d, const struct large_buffer *from, uint64_t apart)
{
    size_t row = large_row_bytes(from->of);
    void *host = malloc(row);
    for (size_t r = 0; host && from->at && r < from->rows; r++) {
        machine_download(d->machine, host, from->at + r * apart * sizeof(float), row);
        machine_upload(d->machine, (char *)from->of->memory + r * row, host, row);
    }
    free(host);
    machine_release(d->machine, from->at);
}

/* Its rows, or its shards, `apart` elements from each other. */
static void large_case(struct machine *m, const struct opcase *c, bool shards, uint64_t apart,
                       large_told *tell, void *to)
{
    struct opdata *near = opcase_make(c, m, 7), *far = opcase_make(c, m, 7);
    struct large_buffer moved[OPBUFFERS];
    unsigned count = 0;
    struct err e = {ERR_NONE};
    char name[128], text[192];
    const char *bad = "", *where = "";
    opcase_name(c, name, sizeof name);
    snprintf(text, sizeof text, "%s, %s %llu apart", name, shards ? "shards" : "rows",
             (unsigned long long)apart);
    bool room = true;
    for (unsigned i = 0; room && i < far->count; i++) {
        struct opbuffer *b = &far->buffers[i];
        bool wanted = shards ? b->shards || strcmp(b->name, "g") == 0 : b->type == BUFFER_ACT;
        if (wanted && strcmp(b->name, "g") == 0)
            b->shards = (uint32_t)b->rows;
        if (wanted)
            room = large_move(far, &moved[count++], b, apart, &e);
    }
    if (shards)
        large_stride(c->op, &far->arguments, apart);
    else
        large_ld(c->op, &far->arguments, (uint32_t)apart);
    if (room) {
        machine_issue(m, c->op, &near->arguments);
        machine_issue(m, c->op, &far->arguments);
    }
    for (unsigned i = 0; i < count; i++) {
        large_back(far, &moved[i], apart);
        if (strcmp(moved[i].of->name, "g") == 0)
            moved[i].of->shards = 0;
    }
    if (!room)
        bad = "no room";
    else if (opcase_difference(far, near, &where) > 1e-6)
        bad = where;
    else if (c->op == OP_norm2 && !opcase_same(far, near, &where))
        bad = where;
    tell(to, text, bad);
    opcase_free(near);
    opcase_free(far);
}

/* All of them. */
static void large_cases(struct machine *m, uint64_t apart, large_told *tell, void *to)
{
    for (size_t i = 0; i < sizeof large_rows / sizeof *large_rows; i++)
        large_case(m, &large_rows[i], false, apart, tell, to);
    for (size_t i = 0; i < sizeof large_shards / sizeof *large_shards; i++)
        large_case(m, &large_shards[i], true, apart, tell, to);
}

/* --- records and tables --- */

/* Five records around number `at`, of a source with no index: those of the near one. */
static void large_gather(struct machine *m, uint64_t at, large_told *tell, void *to)
{
    enum { ROWS = 5, BEFORE = 2 };
    struct opcase c = {.op = OP_gather, .rows = ROWS, .in = 3, .out = 1, .kind = 2};
    struct opdata *near = opcase_make(&c, m, 7), *far = opcase_make(&c, m, 7);
    struct source source;
    struct step now;
    struct err e = {ERR_NONE};
    char text[96], *chunk;
    const char *bad = "", *where = "";
    snprintf(text, sizeof text, "gather of records around %llu", (unsigned long long)at);
    machine_download(m, &source, far->arguments.gather.from, sizeof source);
    machine_download(m, &now, far->arguments.gather.now, sizeof now);
    size_t stride = source.rows.format.stride, bytes = ROWS * stride;
    machine_download(m, &chunk, source.rows.chunks, sizeof chunk);
    char *vast = (char *)machine_alloc(m, (at - BEFORE) * stride + bytes, &e);
    char *host = (char *)malloc(bytes);
    if (vast && host) {
        uint64_t begin = at - BEFORE;
        machine_download(m, host, chunk, bytes);
        machine_upload(m, vast + begin * stride, host, bytes);
        machine_upload(m, (void *)(uintptr_t)source.rows.chunks, &vast, sizeof vast);
        source.index = NULL;
        source.count = source.rows.count = begin + ROWS;
        now.row0 = begin;
        machine_upload(m, (void *)(uintptr_t)far->arguments.gather.from, &source, sizeof source);
        machine_upload(m, (void *)(uintptr_t)far->arguments.gather.now, &now, sizeof now);
        /* the near one counts from the other end (its index): from its first record here */
        struct source plain;
        machine_download(m, &plain, near->arguments.gather.from, sizeof plain);
        plain.index = NULL;
        machine_upload(m, (void *)(uintptr_t)near->arguments.gather.from, &plain, sizeof plain);
        machine_issue(m, OP_gather, &near->arguments);
        machine_issue(m, OP_gather, &far->arguments);
        if (!opcase_same(far, near, &where))
            bad = where;
    } else {
        bad = "no room";
    }
    tell(to, text, bad);
    free(host);
    machine_release(m, vast);
    opcase_free(near);
    opcase_free(far);
}

/* Embeddings whose tables stand `at` elements behind the arena's begin. */
static void large_embed(struct machine *m, enum op_id op, uint64_t at, large_told *tell, void *to)
{
    enum { TABLES = 2 };
    struct opcase c = {.op = op, .rows = 50, .in = TABLES, .out = 6};
    struct opdata *near = opcase_make(&c, m, 7), *far = opcase_make(&c, m, 7);
    struct embed_column columns[TABLES];
    struct err e = {ERR_NONE};
    char text[96];
    const char *bad = "", *where = "", *name = op == OP_embed ? "params" : "grads";
    const void *of = op == OP_embed ? (const void *)far->arguments.embed.columns
                                    : (const void *)far->arguments.embed_back.columns;
    snprintf(text, sizeof text, "%s of tables at %llu", op_name(op), (unsigned long long)at);
    machine_download(m, columns, of, sizeof columns);
    for (int k = 0; k < TABLES; k++)
        columns[k].table += at;
    const void *moved = machine_map_host(m, columns, sizeof columns, &e);
    struct opbuffer *b = far->buffers;
    while (strcmp(b->name, name) != 0)
        b++;
    size_t bytes = b->width * sizeof(float);
    char *vast = (char *)machine_alloc(m, at * sizeof(float) + bytes, &e);
    char *host = (char *)malloc(bytes);
    if (vast && host && moved) {
        machine_download(m, host, b->memory, bytes);
        machine_upload(m, vast + at * sizeof(float), host, bytes);
        if (op == OP_embed) {
            far->arguments.embed.columns = (const struct embed_column *)moved;
            far->arguments.embed.params = (const real *)(const void *)vast;
        } else {
            far->arguments.embed_back.columns = (const struct embed_column *)moved;
            far->arguments.embed_back.grads = (real *)(void *)vast;
        }
        machine_issue(m, op, &near->arguments);
        machine_issue(m, op, &far->arguments);
        machine_download(m, host, vast + at * sizeof(float), bytes);
        machine_upload(m, b->memory, host, bytes);
        if (!opcase_same(far, near, &where))
            bad = where;
    } else {
        bad = "no room";
    }
    tell(to, text, bad);
    free(host);
    machine_release(m, vast);
    machine_unmap_host(m, moved);
    opcase_free(near);
    opcase_free(far);
}

#endif

/* opcase.c - makes, compares and names cases. The cases stand in opcase_layer.c, opcase_norm.c,
 * opcase_param.c and opcase_answer.c; an operation without cases does not link. */
#include "backend/cases/opcase.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backend/form.h"
#include "backend/machine.h"
#include "base/mem.h"
#include "base/rng.h"

static const struct opcase_list *const lists[OP_COUNT] = {
#define ROW(name, text) &opcases_##name,
#include "backend/ops.def"
};

const struct opcase *opcase_at(size_t index)
{
    for (size_t op = 0; op < OP_COUNT; op++) {
        if (index < lists[op]->count)
            return &lists[op]->cases[index];
        index -= lists[op]->count;
    }
    return NULL;
}

void opcase_name(const struct opcase *c, char *text, size_t room)
{
    int length = snprintf(text, room, "%s %u x %u", op_name(c->op), c->rows, c->in);
    if (c->out && length > 0 && (size_t)length < room)
        length += snprintf(text + length, room - (size_t)length, " -> %u", c->out);
    if (c->kind && length > 0 && (size_t)length < room)
        length += snprintf(text + length, room - (size_t)length, ", kind %u", c->kind);
    if (c->flags && length > 0 && (size_t)length < room)
        length += snprintf(text + length, room - (size_t)length, ", flags %x", c->flags);
    if (c->pad && length > 0 && (size_t)length < room)
        length += snprintf(text + length, room - (size_t)length, ", pad %u", c->pad);
    if (c->form && length > 0 && (size_t)length < room)
        snprintf(text + length, room - (size_t)length, ", %s",
                 c->form == FORM_BF16 ? "bf16" : "fp16");
}

/* Rows and width of a case whose activations a machine keeps in 16 bits, if it keeps any so. */
enum { MANY_ROWS = 1 << 30, SOME_WIDTH = 64 };
/* Bytes of the pattern after the last row: no operation may write there. */
enum { SLACK = 64, PATTERN = 0x5a };

static size_t size_of(const struct opdata *d, enum opbuffer_type type)
{
    switch (type) {
    case BUFFER_REAL: return sizeof(real);
    case BUFFER_ACT: return d->form ? sizeof(uint16_t) : machine_act_bytes(d->machine);
    case BUFFER_DOUBLE: return sizeof(double);
    case BUFFER_INT: return sizeof(int32_t);
    case BUFFER_BYTES: break;
    }
    return 1;
}

uint64_t opdata_random(struct opdata *d, uint64_t below)
{
    d->seed = d->seed * 6364136223846793005u + 1442695040888963407u;
    return (d->seed >> 33) % below;
}

/* A sum of twelve uniform numbers: nearly normal, and fast. */
static double number(struct opdata *d)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += (double)opdata_random(d, 1 << 20) / (1 << 20);
    return sum;
}

bool opcase_ready(const struct opdata *d, struct err *e)
{
    if (e && d->failure.id != ERR_NONE)
        *e = d->failure;
    return d->failure.id == ERR_NONE;
}

static struct opbuffer *add_buffer(struct opdata *d, const char *name, enum opbuffer_type type,
                                   size_t rows, size_t width, size_t ld)
{
    assert(d->count < OPBUFFERS);
    struct opbuffer *b = &d->buffers[d->count++];
    *b = (struct opbuffer){.name = name, .type = type, .rows = rows, .width = width, .ld = ld};
    if (opcase_ready(d, NULL))
        b->memory = machine_alloc(d->machine, rows * ld * size_of(d, type) + SLACK, &d->failure);
    d->bytes += (double)(rows * width * size_of(d, type));
    return b;
}

static size_t elements(const struct opbuffer *b)
{
    return b->rows * b->ld * (b->shards ? b->shards : 1);
}

/* Bytes of an activation of the case, in the machine's form. */
static void put_act(const struct opdata *d, unsigned char *at, real r)
{
    uint32_t form = d->of->form;
    uint16_t bits = form ? form_narrow(form, (float)r) : 0;
    if (form)
        r = (real)form_widen(form, bits);
    if (d->form)
        memcpy(at, &bits, sizeof bits);
    else
        memcpy(at, &r, sizeof r);
}

/* The numbers of a buffer repeat with this period: large buffers are made fast. */
enum { FRESH = 1 << 16 };

/* True: the case wants zeros in this buffer: its negative values become 0. */
static bool has_zeros(const struct opdata *d, const struct opbuffer *b)
{
    bool in = strcmp(b->name, "x") == 0, out = b->name[0] == 'y' || strcmp(b->name, "dy") == 0;
    return b->type == BUFFER_ACT && !b->written &&
           ((in && d->of->flags & CASE_ZEROS_IN) || (out && d->of->flags & CASE_ZEROS_OUT));
}

static void fill(struct opdata *d, const struct opbuffer *b, double scale, bool numbers)
{
    size_t size = size_of(d, b->type), count = elements(b), ld = b->ld ? b->ld : 1;
    bool zeros = has_zeros(d, b);
    if (!b->memory)
        return;
    size_t fresh = (FRESH / ld + 1) * ld;
    unsigned char *host = mem_alloc(count * size + SLACK, 1);
    memset(host, PATTERN, count * size + SLACK); /* about 1.5e16 as floats */
    for (size_t i = 0; numbers && i < count; i++) {
        if (i >= fresh) { /* whole rows of them */
            size_t left = count - i, piece = left < fresh ? left : fresh;
            memcpy(host + i * size, host, piece * size);
            i += piece - 1;
            continue;
        }
        if (i % b->ld >= b->width)
            continue;
        double value = scale * number(d);
        value = zeros && value < 0 ? 0 : value;
        real r = (real)value;
        if (b->type == BUFFER_DOUBLE)
            memcpy(host + i * size, &value, size);
        else if (b->type == BUFFER_ACT)
            put_act(d, host + i * size, r);
        else
            memcpy(host + i * size, &r, size);
    }
    machine_upload(d->machine, b->memory, host, count * size + SLACK);
    mem_free(host);
}

void *opdata_input(struct opdata *d, const char *name, enum opbuffer_type type, size_t rows,
                   size_t width, size_t pad, double scale)
{
    struct opbuffer *b = add_buffer(d, name, type, rows, width, width + pad);
    fill(d, b, scale, true);
    return b->memory;
}

void *opdata_output(struct opdata *d, const char *name, enum opbuffer_type type, size_t rows,
                    size_t width, size_t pad, bool filled)
{
    struct opbuffer *b = add_buffer(d, name, type, rows, width, width + pad);
    b->written = true;
    fill(d, b, 1, filled);
    return b->memory;
}

void *opdata_shards(struct opdata *d, const char *name, size_t n, uint32_t shards, bool filled)
{
    struct opbuffer *b = add_buffer(d, name, BUFFER_REAL, shards, n, n);
    b->written = true;
    b->rows = 1;
    b->shards = shards;
    fill(d, b, 1, filled);
    return b->memory;
}

void *opdata_values(struct opdata *d, const char *name, enum opbuffer_type type, const void *values,
                    size_t count, bool written)
{
    struct opbuffer *b = add_buffer(d, name, type, 1, count, count);
    b->written = written;
    fill(d, b, 0, false);
    if (b->memory)
        machine_upload(d->machine, b->memory, values, count * size_of(d, type));
    return b->memory;
}

void *opdata_host(struct opdata *d, size_t count, size_t size)
{
    assert(d->host_count < sizeof d->host / sizeof *d->host);
    return d->host[d->host_count++] = mem_zero(count ? count : 1, size);
}

int32_t *opdata_lengths(struct opdata *d, const struct opcase *c)
{
    int32_t *length = opdata_host(d, c->rows, sizeof *length);
    for (uint32_t r = 0; r < c->rows; r++)
        length[r] = r ? (int32_t)opdata_random(d, c->out + 1) : (int32_t)c->out;
    return opdata_values(d, "length", BUFFER_INT, length, c->rows, false);
}

const void *opdata_map_host(struct opdata *d, const void *host, size_t bytes)
{
    assert(d->mapped_count < sizeof d->mapped / sizeof *d->mapped);
    if (!opcase_ready(d, NULL))
        return NULL;
    return d->mapped[d->mapped_count++] = machine_map_host(d->machine, host, bytes, &d->failure);
}

struct opdata *opcase_make(const struct opcase *c, struct machine *m, uint64_t seed)
{
    struct opdata *d = mem_zero(1, sizeof *d);
    d->of = c;
    d->machine = m;
    d->seed = seed * 2 + 1;
    if (c->form && machine_act_form(m, MANY_ROWS, SOME_WIDTH, false) == c->form)
        d->form = c->form;
    lists[c->op]->make(c, d);
    struct dims *dims = op_dims(c->op, &d->arguments);
    if (dims) {
        dims->steps = dims->steps ? dims->steps : 1;
        dims->shards = plan_shards(c->rows);
    }
    return d;
}

void opcase_refill(struct opdata *d, const struct opdata *from)
{
    for (unsigned i = 0; i < d->count; i++) {
        const struct opbuffer *b = &d->buffers[i];
        size_t bytes = elements(b) * size_of(d, b->type) + SLACK;
        void *host = mem_alloc(bytes, 1);
        machine_download(from->machine, host, from->buffers[i].memory, bytes);
        machine_upload(d->machine, b->memory, host, bytes);
        mem_free(host);
    }
}

void opcase_free(struct opdata *d)
{
    if (!d)
        return;
    for (unsigned i = 0; i < d->count; i++)
        machine_release(d->machine, d->buffers[i].memory);
    for (unsigned i = 0; i < d->mapped_count; i++)
        machine_unmap_host(d->machine, d->mapped[i]);
    for (unsigned i = 0; i < d->host_count; i++)
        mem_free(d->host[i]);
    mem_free(d);
}

static struct act act_in(const struct opdata *d, void *memory)
{
    return (struct act){.at = memory, .form = d->form};
}

/* Element i of row r, summed over the shards. */
static double value_at(const struct opbuffer *b, const void *host, size_t r, size_t i)
{
    size_t at = r * b->ld + i;
    double sum = 0;
    real x;
    double y;
    switch (b->type) {
    case BUFFER_INT: return ((const int32_t *)host)[at];
    case BUFFER_BYTES: return ((const unsigned char *)host)[at];
    case BUFFER_DOUBLE:
        memcpy(&y, (const char *)host + at * sizeof y, sizeof y);
        return y;
    case BUFFER_REAL:
    case BUFFER_ACT:
        for (uint32_t s = 0; s < (b->shards ? b->shards : 1); s++) {
            memcpy(&x, (const char *)host + (at + s * b->rows * b->ld) * sizeof x, sizeof x);
            sum += (double)x;
        }
    }
    return sum;
}

/* The buffer on the host, activations as real; mem_free. */
static void *host_copy(const struct opdata *d, const struct opbuffer *b)
{
    size_t count = elements(b), size = b->type == BUFFER_ACT ? sizeof(real) : size_of(d, b->type);
    void *host = mem_alloc(count + 1, size);
    if (b->type == BUFFER_ACT)
        machine_act_download(d->machine, host, act_in(d, b->memory), 1, count, count);
    else
        machine_download(d->machine, host, b->memory, count * size);
    return host;
}

static double buffer_difference(const struct opdata *a, const struct opdata *b, unsigned i)
{
    const struct opbuffer *buffer = &b->buffers[i];
    void *of_a = host_copy(a, &a->buffers[i]), *of_b = host_copy(b, buffer);
    double worst = 0, largest = 0;
    for (size_t r = 0; r < buffer->rows; r++)
        for (size_t k = 0; k < buffer->width; k++) {
            double x = value_at(&a->buffers[i], of_a, r, k), y = value_at(buffer, of_b, r, k);
            double d = fabs(x - y);
            if (x == y || (isnan(x) && isnan(y)))
                d = 0; /* infinities of one sign too */
            else if (!isfinite(x) || !isfinite(y))
                d = INFINITY;
            if (!(d <= worst))
                worst = d;
            if (isfinite(y) && fabs(y) > largest)
                largest = fabs(y);
        }
    mem_free(of_a);
    mem_free(of_b);
    return worst == 0 ? 0 : worst / (largest > 0 ? largest : 1e-30);
}

/* The relative difference of two sums or norms; infinite if only one is finite or they are
 * different infinities. */
static double apart(double x, double y)
{
    if (x == y || (isnan(x) && isnan(y)))
        return 0;
    return isfinite(x) && isfinite(y) ? fabs(x - y) / fmax(fabs(y), 1e-30) : (double)INFINITY;
}

static double sum_of(const double *parts, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += parts[i];
    return sum;
}

/* All members are exact except the norm; any two norms that are not finite are equal. */
static double step_difference(struct step s, struct step t)
{
    double d = isfinite(s.gnorm) || isfinite(t.gnorm) ? apart(s.gnorm, t.gnorm) : 0;
    s.gnorm = t.gnorm = 0;
    return memcmp(&s, &t, sizeof s) == 0 ? d : (double)INFINITY;
}

/* Buffers that are no list of numbers are compared by meaning; negative: unknown type. */
static double difference_by_name(const struct opdata *a, const struct opdata *b, unsigned i)
{
    const struct opbuffer *buffer = &b->buffers[i];
    bool parts = strncmp(buffer->name, "part_", 5) == 0; /* however many: their sum counts */
    bool step = strcmp(buffer->name, "now") == 0, kept = strcmp(buffer->name, "kept") == 0;
    double d = -1;
    if (!parts && !(buffer->type == BUFFER_BYTES && (step || kept)))
        return d;
    void *of_a = host_copy(a, &a->buffers[i]), *of_b = host_copy(b, buffer);
    if (parts) {
        d = apart(sum_of(of_a, a->buffers[i].width), sum_of(of_b, buffer->width));
    } else if (step) {
        struct step s, t;
        memcpy(&s, of_a, sizeof s);
        memcpy(&t, of_b, sizeof t);
        d = step_difference(s, t);
    } else {
        d = memcmp(of_a, of_b, buffer->width) == 0 ? 0 : (double)INFINITY;
    }
    mem_free(of_a);
    mem_free(of_b);
    return d;
}

double opcase_difference(const struct opdata *a, const struct opdata *b, const char **where)
{
    double worst = 0;
    *where = "";
    for (unsigned i = 0; i < b->count; i++) {
        if (!b->buffers[i].written)
            continue;
        double d = difference_by_name(a, b, i);
        if (d < 0)
            d = b->buffers[i].type == BUFFER_BYTES ? 0 : buffer_difference(a, b, i);
        if (!(d <= worst)) {
            worst = d;
            *where = b->buffers[i].name;
        }
    }
    return worst;
}

bool opcase_same(const struct opdata *a, const struct opdata *b, const char **where)
{
    for (unsigned i = 0; i < b->count; i++) {
        if (!b->buffers[i].written)
            continue;
        void *of_a = host_copy(a, &a->buffers[i]), *of_b = host_copy(b, &b->buffers[i]);
        size_t size = b->buffers[i].type == BUFFER_ACT ? sizeof(real) : size_of(b,
                b->buffers[i].type);
        bool same = memcmp(of_a, of_b, elements(&b->buffers[i]) * size) == 0;
        mem_free(of_a);
        mem_free(of_b);
        if (!same) {
            *where = b->buffers[i].name;
            return false;
        }
    }
    return true;
}

static bool is_pattern(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != PATTERN)
            return false;
    return true;
}

bool opcase_inside(const struct opdata *d, const char **where)
{
    for (unsigned i = 0; i < d->count; i++) {
        const struct opbuffer *b = &d->buffers[i];
        size_t size = size_of(d, b->type), count = elements(b);
        unsigned char *host = mem_alloc(count * size + SLACK, 1);
        machine_download(d->machine, host, b->memory, count * size + SLACK);
        bool good = is_pattern(host + count * size, SLACK);
        for (size_t at = b->width; good && at < count; at += b->ld)
            good = is_pattern(host + at * size, (b->ld - b->width) * size);
        mem_free(host);
        if (!good) {
            *where = b->name;
            return false;
        }
    }
    return true;
}

/* --- what the cases of layers and losses share --- */

struct step *opdata_step(struct opdata *d)
{
    struct step now = {.seed = 0x9e3779b97f4a7c15u, .tried = 100, .applied = 97, .epoch = 3};
    return opdata_values(d, "now", BUFFER_BYTES, &now, sizeof now, false);
}

struct schedule opdata_schedule(struct opdata *d)
{
    enum { COUNT = 8 };
    struct hyper *table = opdata_host(d, COUNT, sizeof *table);
    for (int i = 0; i < COUNT; i++)
        table[i] = (struct hyper){0.5 + i, 0.25 * i, (uint64_t)i << 29};
    table[100 % COUNT] = (struct hyper){0.01, 0.1, (uint64_t)5 << 29}; /* dropout falls by 5/8 */
    return (struct schedule){opdata_map_host(d, table, COUNT * sizeof *table), COUNT, 0};
}

/* Number of rows of the batch that are data. */
uint64_t opcase_count(const struct opcase *c)
{
    return c->flags & CASE_ONE_ROW ? 1 : c->flags & CASE_RAGGED ? c->rows - c->rows / 3 : c->rows;
}

struct act opdata_act_input(struct opdata *d, const char *name, const struct opcase *c,
                             uint32_t width, double scale)
{
    return act_in(d, opdata_input(d, name, BUFFER_ACT, c->rows, width, c->pad, scale));
}

struct act opdata_act_output(struct opdata *d, const char *name, const struct opcase *c,
                              uint32_t width, bool fill)
{
    return act_in(d, opdata_output(d, name, BUFFER_ACT, c->rows, width, c->pad, fill));
}

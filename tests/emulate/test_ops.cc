/* Every case of every operation (backend/opcase.h), on emulated kernels and on the CPU: within the
 * case's gate, the same bits in all four orders of lanes, nothing written outside. */
#include <math.h>

#include "harness.h"
#include "kernels.h"

extern "C" {
#include "backend/machine.h"
#include "backend/opcase.h"
}

/* --- a machine that is nothing but kernels --- */

static char *scratch;
static size_t scratch_bytes;

static void *alloc(struct machine *, size_t bytes, struct err *)
{
    void *at = memory_alloc(bytes, 0);
    if (!at)
        abort();
    memset(at, 0, bytes);
    return at;
}
static void release(struct machine *, void *memory)
{
    memory_free(memory, 0);
}
static void upload(struct machine *, uint32_t, void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    shadow_written(to, bytes);
}
static void download(struct machine *, uint32_t, void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}
static const void *adopt(struct machine *m, const void *host, size_t bytes, struct err *e)
{
    void *at = alloc(m, bytes ? bytes : 1, e);
    upload(m, 0, at, host, bytes);
    return at;
}
static void disown(struct machine *, const void *adopted)
{
    memory_free((void *)(uintptr_t)adopted, 0);
}
static void act_download(struct machine *, real *to, const struct act *from, size_t rows,
                         size_t width, size_t ld)
{
    for (size_t r = 0; r < rows; r++)
        memcpy(to + r * width, (const float *)from + r * ld, width * sizeof *to);
}
static void need(const struct machine *, enum op_id op, const void *arguments, struct need *n)
{
    kernels_need(op, arguments, n);
}
static void issue(struct machine *m, enum op_id op, const void *arguments)
{
    struct need n;
    kernels_need(op, arguments, &n);
    if (n.scratch > scratch_bytes) { /* its head is 0, the rest nobody has written */
        memory_free(scratch, 0);
        scratch_bytes = 2 * n.scratch;
        scratch = (char *)memory_alloc(scratch_bytes, 0);
        memset(scratch, 0, SCRATCH_HEAD);
        shadow_written(scratch, SCRATCH_HEAD);
    }
    kernels_issue(m, op, arguments, products{PRODUCT_FP32, 0}, scratch);
}
static size_t act_bytes(const struct machine *)
{
    return sizeof(float);
}
static size_t shadow_bytes(const struct machine *, const struct group *, uint32_t, uint64_t)
{
    return 0;
}
static const void *shadow_of(const struct machine *, const void *, uint64_t)
{
    return NULL;
}
static void fence(struct machine *, uint32_t) {}
static struct machine *open_kernels(const struct machine_options *, struct err *)
{
    static struct machine m;
    return &m;
}

static struct machine *kernels(void)
{
    static struct machine_type type = {};
    struct machine_options o = {};
    struct err e = {};
    type.name = "kernels";
    type.open = open_kernels;
    type.alloc = alloc;
    type.release = release;
    type.adopt = adopt;
    type.disown = disown;
    type.upload = upload;
    type.download = download;
    type.fence = fence;
    type.act_download = act_download;
    type.need = need;
    type.issue = issue;
    type.act_bytes = act_bytes;
    type.shadow_bytes = shadow_bytes;
    type.shadow_of = shadow_of;
    machine_register(&type);
    o.backend = "kernels";
    return machine_open(&o, &e);
}

/* --- comparing --- */

static const struct opbuffer *buffer_of(const struct opdata *d, const char *name)
{
    for (unsigned i = 0; i < d->count; i++)
        if (strcmp(d->buffers[i].name, name) == 0 && d->buffers[i].written)
            return &d->buffers[i];
    return NULL;
}

/* Only the sum over the shards counts; what is compared here is not compared again. */
static double parts_difference(struct opdata *a, struct opdata *b, const char *name)
{
    struct opbuffer *x = (struct opbuffer *)(uintptr_t)buffer_of(a, name);
    struct opbuffer *y = (struct opbuffer *)(uintptr_t)buffer_of(b, name);
    double of_x = 0, of_y = 0;
    if (!x || !y)
        return 0;
    for (size_t i = 0; i < x->width; i++) {
        of_x += ((const double *)x->memory)[i];
        of_y += ((const double *)y->memory)[i];
    }
    x->written = y->written = false;
    return of_x == of_y ? 0 : fabs(of_x - of_y) / fmax(fabs(of_y), 1e-30);
}

/* A step by its members, what dropout kept by its bits. */
static double bytes_difference(const struct opdata *a, const struct opdata *b)
{
    const struct opbuffer *x = buffer_of(a, "now"), *y = buffer_of(b, "now");
    if (x && y) {
        struct step s, t;
        memcpy(&s, x->memory, sizeof s);
        memcpy(&t, y->memory, sizeof t);
        double d = isfinite(t.gnorm) ? fabs(s.gnorm - t.gnorm) / fmax(t.gnorm, 1e-30) : 0;
        s.gnorm = t.gnorm = 0;
        return memcmp(&s, &t, sizeof s) == 0 ? d : (double)INFINITY;
    }
    x = buffer_of(a, "kept");
    y = buffer_of(b, "kept");
    return x && y && memcmp(x->memory, y->memory, x->width) != 0 ? (double)INFINITY : 0;
}

static double worst_difference(struct opdata *a, struct opdata *b, const char **where)
{
    double worst = fmax(parts_difference(a, b, "part_loss"), parts_difference(a, b, "part_weight"));
    worst = fmax(worst, bytes_difference(a, b));
    return fmax(worst, opcase_difference(a, b, where));
}

static void run_case(const struct opcase *c, struct machine *device, struct machine *cpu)
{
    char name[128];
    const char *where = "";
    struct opdata *first = NULL;
    opcase_name(c, name, sizeof name);
    for (EACH_ORDER(order)) {
        struct opdata *d = opcase_make(c, device, 42);
        machine_issue(device, c->op, &d->arguments);
        if (order == 0) {
            first = d;
            continue;
        }
        if (!opcase_same(d, first, &where))
            ok(false, "%s: the same bits in order %u: %s", name, order, where);
        opcase_free(d);
    }
    if (!opcase_inside(first, &where))
        ok(false, "%s: nothing is written outside %s", name, where);
    struct opdata *want = opcase_make(c, cpu, 42);
    machine_issue(cpu, c->op, &want->arguments);
    double worst = worst_difference(first, want, &where);
    ok(worst <= c->gate, "%s: %.2g within %.2g %s", name, worst, c->gate, where);
    opcase_free(want);
    opcase_free(first);
    unsigned found = emulate_findings();
    if (found)
        ok(false, "%s: %u findings", name, found);
}

int main(int count, char **words)
{
    struct machine_options o = {};
    struct err e = {};
    o.backend = "cpu";
    struct machine *device = kernels(), *cpu = machine_open(&o, &e);
    const struct opcase *c;
    for (size_t i = 0; (c = opcase_at(i)); i++)
        if (count < 2 || strcmp(words[1], op_name(c->op)) == 0)
            run_case(c, device, cpu);
    machine_close(cpu);
    return done();
}

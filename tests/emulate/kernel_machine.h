/* kernel_machine.h - a machine that is nothing but kernels: what is issued is started at once, by
 * the test's device_launch, in fp32; its memory is the emulated device's, which the host may
 * read. */
#ifndef EMULATE_KERNEL_MACHINE_H
#define EMULATE_KERNEL_MACHINE_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "emulate.h"
#include "form.cuh"

extern "C" {
#include "backend/machine.h"
#include "backend/cases/opcase.h"
}

static char *scratch;
static size_t scratch_bytes;

/* More than an emulated device has is an address range of its own, of which what is touched takes
 * memory; whoever asks for that looks for what lies outside himself. */
static const size_t VAST = (size_t)64 << 20;
static struct { void *at; size_t bytes; } vast[32];

static void *alloc_vast(size_t bytes)
{
    for (unsigned i = 0; i < 32; i++)
        if (!vast[i].at) {
            vast[i].at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            vast[i].bytes = bytes;
            if (vast[i].at == MAP_FAILED)
                abort();
            return vast[i].at;
        }
    abort();
}

static void *alloc(struct machine *, size_t bytes, struct err *)
{
    if (bytes > VAST)
        return alloc_vast(bytes);
    void *at = memory_alloc(bytes, 0);
    if (!at)
        abort();
    memset(at, 0, bytes);
    return at;
}
static void release(struct machine *, void *memory)
{
    for (unsigned i = 0; i < 32; i++)
        if (memory && vast[i].at == memory) {
            munmap(memory, vast[i].bytes);
            vast[i].at = NULL;
            return;
        }
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
static const void *map_host(struct machine *m, const void *host, size_t bytes, struct err *e)
{
    void *at = alloc(m, bytes ? bytes : 1, e);
    upload(m, 0, at, host, bytes);
    return at;
}
static void unmap_host(struct machine *, const void *mapped)
{
    memory_free((void *)(uintptr_t)mapped, 0);
}
static void act_download(struct machine *, real *to, struct act from, size_t rows,
                         size_t width, size_t ld)
{
    for (size_t i = 0; i < rows * width; i++)
        to[i] = form_get(from, i / width * ld + i % width);
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
/* How activations are kept: as the case at hand wants it. */
static uint32_t kernel_form;
static uint32_t kept_form(const struct machine *, uint32_t, uint32_t, bool)
{
    return kernel_form;
}
static size_t shadow_bytes(const struct machine *, const struct group *, uint32_t, uint64_t)
{
    return 0;
}
static struct act shadow_of(const struct machine *, const void *, uint64_t)
{
    return no_act();
}
static void fence(struct machine *, uint32_t) {}
static struct machine *open_kernels(const struct machine_options *, struct err *)
{
    static struct machine m;
    return &m;
}

/* One a process. */
static struct machine *kernel_machine(void)
{
    static struct machine_type type = {};
    struct machine_options o = {};
    struct err e = {};
    type.name = "kernels";
    type.open = open_kernels;
    type.alloc = alloc;
    type.release = release;
    type.map_host = map_host;
    type.unmap_host = unmap_host;
    type.upload = upload;
    type.download = download;
    type.fence = fence;
    type.act_download = act_download;
    type.need = need;
    type.issue = issue;
    type.act_bytes = act_bytes;
    type.act_form = kept_form;
    type.shadow_bytes = shadow_bytes;
    type.shadow_of = shadow_of;
    machine_register(&type);
    o.backend = "kernels";
    return machine_open(&o, &e);
}

#endif

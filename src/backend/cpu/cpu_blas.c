/* cpu_blas.c - see cpu_blas.h. OpenBLAS reads the environment in its constructor, and starts
 * threads of its own. If it cannot get its buffers, it tries again for ever (OpenBLAS issue 5289).
 * So the environment is set and the address space is tested before it is loaded. */
#include "backend/cpu/cpu_blas.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "backend/backend.h"
#include "base/fault.h"
#include "base/process/thread.h"

static const struct guest_symbol symbols[] = {
#define NEED(name, result, arguments) GUEST_SYMBOL(blas, name, false)
#include "backend/cpu/cblas.def"
};
static const char *const files[] = {"libopenblas.so.0", NULL};
static const struct guest_library library = {.name = "OpenBLAS",
                                             .files = files,
                                             .symbols = symbols,
                                             .count = sizeof symbols / sizeof *symbols};
/* One library a process: it is loaded once, before any other thread exists, then only read. */
static struct {
    struct blas calls;
    char reason[128]; /* why it does not serve; "": it does */
    bool tried, serves;
} loaded = {.reason = "not loaded"};

const char *const blas_choices[] = {"auto", "own", "openblas", NULL};

/* The faster products, measured with `dnn bench --operation dense,dense_openblas` for 64 to 1,024
 * rows and widths of 14 to 2,048: ours, if vector code exists. */
static enum blas_choice faster(const struct vec *vec)
{
    return vec == &vec_c ? BLAS_OPENBLAS : BLAS_OWN;
}

static bool wanted(const struct vec *vec, enum blas_choice choice)
{
    const char *wish = fault_setting("BLAS");
    if (wish && strcmp(wish, "none") == 0)
        return false;
    if (wish && strcmp(wish, "always") == 0)
        return true;
    return (choice == BLAS_AUTO ? faster(vec) : choice) == BLAS_OPENBLAS;
}

/* A buffer of 128 MiB for each thread that calls it, the library, and a margin. */
static bool room_for(unsigned threads)
{
    size_t bytes = ((size_t)threads * 128 + 64) << 20;
    void *space = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space == MAP_FAILED)
        return false;
    munmap(space, bytes);
    return true;
}

static bool open_library(unsigned threads)
{
    if (sizeof(real) != sizeof(float)) {
        snprintf(loaded.reason, sizeof loaded.reason,
                 "the gradient build computes in double by itself");
        return false;
    }
    if (!room_for(threads)) {
        snprintf(loaded.reason, sizeof loaded.reason,
                 "the address-space limit leaves no room for its buffers (%u x 128 MiB)", threads);
        return false;
    }
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    struct guest found;
    if (!guest_open(&found, &library, &loaded.calls)) {
        snprintf(loaded.reason, sizeof loaded.reason, "%.*s", (int)sizeof loaded.reason - 1,
                 found.why);
        return false;
    }
    if (loaded.calls.openblas_get_parallel() == 0 && threads > 1) {
        snprintf(loaded.reason, sizeof loaded.reason,
                 "a serial build of OpenBLAS must not be called from %u threads", threads);
        return false;
    }
    /* the configuration is "OpenBLAS 0.3.21 DYNAMIC_ARCH ..." */
    char word[64] = "";
    if (sscanf(loaded.calls.openblas_get_config(), "OpenBLAS %20s", word) != 1)
        word[0] = '\0';
    snprintf(loaded.calls.version, sizeof loaded.calls.version, "OpenBLAS %.20s", word);
    snprintf(loaded.calls.core, sizeof loaded.calls.core, "%.31s",
             loaded.calls.openblas_get_corename());
    return true;
}

void blas_prepare(unsigned threads, enum blas_choice choice)
{
    const struct vec *vec = vec_choose();
    if (loaded.tried)
        return;
    if (!vec || !wanted(vec, choice)) {
        snprintf(loaded.reason, sizeof loaded.reason, "not used, our own products serve here");
        return;
    }
    assert(threads_count() == 1); /* its constructor reads the environment set here */
    loaded.tried = true;
    loaded.serves = open_library(threads);
    if (loaded.serves)
        loaded.reason[0] = '\0';
}

const struct blas *blas_guest(void)
{
    return loaded.serves ? &loaded.calls : NULL;
}

const char *blas_reason(void)
{
    return loaded.reason;
}

void blas_product(const struct blas *blas, const struct blas_product *p)
{
#ifdef DNN_DOUBLE
    (void)blas; /* never loaded */
    (void)p;
#else
    enum { ROW_MAJOR = 101, AS_IT_IS = 111, ACROSS = 112 };
    blas->cblas_sgemm(ROW_MAJOR, p->a_across ? ACROSS : AS_IT_IS, p->b_across ? ACROSS : AS_IT_IS,
                      (int)p->m, (int)p->n, (int)p->k, 1, p->a, (int)p->lda, p->b, (int)p->ldb,
                      p->add ? 1 : 0, p->c, (int)p->ldc);
#endif
}

/* guests.c - see guests.h. The oldest versions are those of the oldest toolkit that builds the
 * kernels, 11.8. */
#include "backend/guests.h"

static struct cublaslt cublaslt;
static struct cudnn { size_t (*cudnnGetVersion)(void); } cudnn;
static struct nccl { int (*ncclGetVersion)(int *version); } nccl;

static const struct guest_symbol cublaslt_symbols[] = {
#define NEED(name, result, arguments) GUEST_SYMBOL(cublaslt, name, false)
#include "backend/cublaslt.def"
#undef NEED
};
static const struct guest_symbol cudnn_symbols[] = {GUEST_SYMBOL(cudnn, cudnnGetVersion, false)};
static const struct guest_symbol nccl_symbols[] = {GUEST_SYMBOL(nccl, ncclGetVersion, false)};
static const char *const cublaslt_files[] = {"libcublasLt.so.13", "libcublasLt.so.12",
                                             "libcublasLt.so.11", NULL};
static const char *const cudnn_files[] = {"libcudnn.so.9", "libcudnn.so.8", NULL};
static const char *const nccl_files[] = {"libnccl.so.2", NULL};

/* Numbers of four digits are of the time when a major version had a thousand. */
static unsigned five_digits(size_t n)
{
    return (unsigned)(n && n < 10000 ? n / 1000 * 10000 + n % 1000 : n);
}

static unsigned cublaslt_version(const void *calls)
{
    return (unsigned)((const struct cublaslt *)calls)->cublasLtGetVersion();
}
static unsigned cudnn_version(const void *calls)
{
    return five_digits(((const struct cudnn *)calls)->cudnnGetVersion());
}
static unsigned nccl_version(const void *calls)
{
    int n = 0;
    return ((const struct nccl *)calls)->ncclGetVersion(&n) == 0 ? five_digits((size_t)n) : 0;
}

#define COUNT(list) (sizeof(list) / sizeof *(list))
static const struct {
    struct guest_library library;
    void *calls;
} guests[GUESTS] = {
    [GUEST_CUBLASLT] = {{"cuBLASLt", cublaslt_files, cublaslt_symbols, COUNT(cublaslt_symbols),
                         cublaslt_version, 111100}, &cublaslt},
    [GUEST_CUDNN] = {{"cuDNN", cudnn_files, cudnn_symbols, COUNT(cudnn_symbols), cudnn_version,
                      80600}, &cudnn},
    [GUEST_NCCL] = {{"NCCL", nccl_files, nccl_symbols, COUNT(nccl_symbols), nccl_version, 0},
                    &nccl},
};
static struct { struct guest guest; bool tried; } found[GUESTS];

const char *guest_name(enum guest_id id)
{
    return guests[id].library.name;
}

const struct guest *guest_find(enum guest_id id)
{
    if (!found[id].tried)
        guest_open(&found[id].guest, &guests[id].library, guests[id].calls);
    found[id].tried = true;
    return &found[id].guest;
}

const struct cublaslt *cublaslt_calls(void)
{
    return &cublaslt;
}

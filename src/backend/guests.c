/* guests.c - see guests.h. The oldest accepted versions come from toolkit 11.8, the oldest that
 * builds the kernels. */
#include "backend/guests.h"

struct nccl { int (*ncclGetVersion)(int *version); };

static const struct guest_symbol cublaslt_symbols[] = {
#define NEED(name, result, arguments) GUEST_SYMBOL(cublaslt, name, false)
#include "backend/cublaslt.def"
};
static const struct guest_symbol cudnn_symbols[] = {
#define NEED(name, result, arguments) GUEST_SYMBOL(cudnn, name, false)
#include "backend/cudnn.def"
};
static const struct guest_symbol nccl_symbols[] = {GUEST_SYMBOL(nccl, ncclGetVersion, false)};
static const char *const cublaslt_files[] = {"libcublasLt.so.13", "libcublasLt.so.12",
                                             "libcublasLt.so.11", NULL};
static const char *const cudnn_files[] = {"libcudnn.so.9", "libcudnn.so.8", NULL};
static const char *const nccl_files[] = {"libnccl.so.2", NULL};

/* Old numbers of four digits are 1000 * major + minor. */
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
static const struct guest_library guests[GUESTS] = {
    [GUEST_CUBLASLT] = {"cuBLASLt", cublaslt_files, cublaslt_symbols, COUNT(cublaslt_symbols),
                        cublaslt_version, 111100},
    [GUEST_CUDNN] = {"cuDNN", cudnn_files, cudnn_symbols, COUNT(cudnn_symbols), cudnn_version,
                     80600},
    [GUEST_NCCL] = {"NCCL", nccl_files, nccl_symbols, COUNT(nccl_symbols), nccl_version, 0},
};

const char *guest_name(enum guest_id id)
{
    return guests[id].name;
}

bool guest_find(enum guest_id id, struct guest *found)
{
    union { struct cublaslt cublaslt; struct cudnn cudnn; struct nccl nccl; } calls;
    return guest_open(found, &guests[id], &calls);
}

bool cublaslt_open(struct guest *found, struct cublaslt *calls)
{
    return guest_open(found, &guests[GUEST_CUBLASLT], calls);
}

bool cudnn_open(struct guest *found, struct cudnn *calls)
{
    return guest_open(found, &guests[GUEST_CUDNN], calls);
}

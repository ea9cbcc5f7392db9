/* OpenBLAS as a guest: with too little address space it is not loaded, the number of threads in the
 * environment is not obeyed, and its products are right. Each case runs in a process of its own,
 * since the library is loaded once. */
#include "tap.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/backend.h"
#include "backend/cpu/cpu_blas.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMITED false /* a sanitizer needs all the addresses there are */
#else
#define LIMITED true
#endif

static int in_a_child(int (*run)(void))
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(20); /* a hang is a failure */
        _exit(run());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int with_little_space(void)
{
    struct rlimit limit = {300u << 20, 300u << 20};
    setrlimit(RLIMIT_AS, &limit);
    setenv("DNN_BLAS", "always", 1);
    struct cpu_info info;
    blas_prepare(2, BLAS_AUTO);
    cpu_describe(&info);
    return strcmp(info.blas, "none") == 0 && strstr(info.blas_reason, "address-space") ? 0 : 1;
}

static int with_many_threads(void)
{
    setenv("DNN_BLAS", "always", 1);
    setenv("OPENBLAS_NUM_THREADS", "9999", 1);
    struct cpu_info info;
    blas_prepare(1, BLAS_AUTO);
    cpu_describe(&info);
    if (strcmp(info.blas, "none") == 0)
        return 2;
    return strcmp(getenv("OPENBLAS_NUM_THREADS"), "1") == 0 ? 0 : 1;
}

static int not_wanted(void)
{
    setenv("DNN_BLAS", "none", 1);
    struct cpu_info info;
    blas_prepare(1, BLAS_AUTO);
    cpu_describe(&info);
    return strcmp(info.blas, "none") == 0 && info.blas_reason[0] ? 0 : 1;
}

/* Every way round, against sums in double. */
static int products(void)
{
    enum { M = 37, N = 21, K = 29 };
    setenv("DNN_BLAS", "always", 1);
    blas_prepare(1, BLAS_AUTO);
    const struct blas *blas = blas_guest();
    if (!blas)
        return 2;
    static real a[M * K], b[K * N], c[M * N];
    for (int i = 0; i < M * K; i++)
        a[i] = (real)(i % 17 - 8);
    for (int i = 0; i < K * N; i++)
        b[i] = (real)(i % 13 - 6);
    for (int way = 0; way < 8; way++) {
        bool a_across = way & 1, b_across = way & 2, add = way & 4;
        for (int i = 0; i < M * N; i++)
            c[i] = 5;
        struct blas_product p = {.c = c, .a = a, .b = b, .m = M, .n = N, .k = K,
                                 .lda = a_across ? M : K, .ldb = b_across ? K : N, .ldc = N,
                                 .a_across = a_across, .b_across = b_across, .add = add};
        blas_product(blas, &p);
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++) {
                double sum = add ? 5 : 0;
                for (int k = 0; k < K; k++)
                    sum += (double)a[a_across ? k * M + i : i * K + k] * (double)b[b_across
                            ? j * K + k : k * N + j];
                if (sum != (double)c[i * N + j])
                    return 1;
            }
    }
    return 0;
}

static void guest_case(int (*run)(void), const char *name)
{
    int code = in_a_child(run);
    if (code == 2)
        tap_skip(name, "OpenBLAS is not here, or this is the gradient build");
    else
        is_int(code, 0, name);
}

int main(void)
{
    if (LIMITED && sizeof(real) == sizeof(float))
        guest_case(with_little_space,
                   "with 300 MiB of addresses it does not serve two threads, nor hang");
    else
        tap_skip("too little address space", "a sanitizer or the gradient build");
    guest_case(with_many_threads, "9999 threads are not obeyed");
    guest_case(not_wanted, "DNN_BLAS=none: it is not opened");
    guest_case(products, "its products are exact on small whole numbers, every way round");
    return done();
}

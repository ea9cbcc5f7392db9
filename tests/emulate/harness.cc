#include "harness.h"

#include "product/guest.cuh"
#include "ops/recur_guest.cuh"

#include <sys/wait.h>
#include <unistd.h>

static void *device_list[256], *host_list[256];
static unsigned device_count, host_count;

void *device_room(size_t bytes)
{
    void *at = memory_alloc(bytes, 0);
    if (!at || device_count == 256)
        abort();
    return device_list[device_count++] = at;
}

void *device_put(const void *from, size_t bytes)
{
    void *at = device_room(bytes);
    memcpy(at, from, bytes);
    shadow_written(at, bytes);
    return at;
}

void device_drop_all(void)
{
    while (device_count)
        memory_free(device_list[--device_count], 0);
    while (host_count)
        free(host_list[--host_count]);
}

bool device_written(const void *at, size_t bytes)
{
    return shadow_is_written(at, bytes);
}

float *device_numbers(uint32_t seed, size_t n, float **host)
{
    float *h = (float *)malloc(n * sizeof *h + 1);
    if (!h || host_count == 256)
        abort();
    host_list[host_count++] = h;
    for (size_t i = 0; i < n; i++)
        h[i] = number(seed, i);
    if (host)
        *host = h;
    return device_array(h, n);
}

unsigned shapes_wanted(unsigned usual)
{
    const char *wanted = getenv("EMULATE_SHAPES");
    return wanted ? (unsigned)strtoul(wanted, NULL, 10) : usual;
}

/* --- the machine of the tests --- */

void (*device_launched)(const char *kernel);

void device_launch(struct machine *, const struct launch *how, void **arguments)
{
    const struct emulate_kernel *k = emulate_kernel_of(how->kernel);
    struct emulate_launch l = {how->name,
                               {how->grid[0], how->grid[1], how->grid[2]},
                               {how->block[0], how->block[1], how->block[2]},
                               how->cluster,
                               how->together,
                               how->bytes,
                               SHARED_MOST,
                               k->call,
                               how->kernel,
                               arguments};
    emulate_run(&l);
    if (device_launched)
        device_launched(how->name);
}
unsigned device_sms_wanted = 3;
unsigned device_sms(const struct machine *)
{
    return device_sms_wanted;
}
size_t block_bytes = SHARED_MOST;
size_t device_block_bytes(const struct machine *)
{
    return block_bytes;
}

bool harness_wgmma = false;
bool device_guest(const struct machine *)
{
    return false;
}
bool device_guest_takes(struct machine *, const struct gemm *, enum product)
{
    return false;
}
bool device_guest_product(struct machine *, const struct gemm *, enum product)
{
    return false;
}
bool device_recur(struct machine *, const struct op_recur *, enum product)
{
    return false;
}
bool device_recur_back(struct machine *, const struct op_recur_back *, enum product)
{
    return false;
}
bool device_wgmma(const struct machine *)
{
    return harness_wgmma;
}

bool dies(void (*body)(void))
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(0);
        body();
        _exit(0);
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && status != 0;
}

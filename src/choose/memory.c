/* memory.c - see memory.h. */
#include "choose/memory.h"

#include <pthread.h>

#include "base/process/hostmem.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct machine_info device; /* the last note; one process has one MEMORY */

void memory_note(const struct machine *m)
{
    struct machine_info now;
    if (!m)
        return;
    machine_describe(m, &now);
    if (!now.total)
        return;
    pthread_mutex_lock(&lock);
    device = now;
    pthread_mutex_unlock(&lock);
}

void memory_write(const char *key, struct json_out *out)
{
    pthread_mutex_lock(&lock);
    const struct machine_info d = device;
    pthread_mutex_unlock(&lock);
    json_open(out, key, '{');
    json_put_int(out, "host_peak_bytes", (int64_t)hostmem_peak());
    json_put_int(out, "device_allocated_bytes", (int64_t)d.allocated);
    json_put_int(out, "device_peak_bytes", (int64_t)d.peak);
    json_put_int(out, "device_free_bytes", (int64_t)d.free);
    json_close(out, '}');
}

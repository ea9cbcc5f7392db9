/* memory.c - see memory.h. */
#include "choose/memory.h"

#include "base/hostmem.h"

static struct machine_info device;

void memory_note(const struct machine *m)
{
    struct machine_info now;
    if (!m)
        return;
    machine_describe(m, &now);
    if (now.total)
        device = now;
}

void memory_write(const char *key, struct json_out *out)
{
    json_open(out, key, '{');
    json_put_int(out, "host_peak_bytes", (int64_t)hostmem_peak());
    json_put_int(out, "device_allocated_bytes", (int64_t)device.allocated);
    json_put_int(out, "device_peak_bytes", (int64_t)device.peak);
    json_put_int(out, "device_free_bytes", (int64_t)device.free);
    json_close(out, '}');
}

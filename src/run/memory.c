/* memory.c - see memory.h. */
#include "run/memory.h"

#include "base/hostmem.h"

void memory_write(const char *key, struct json_out *out)
{
    json_open(out, key, '{');
    json_put_int(out, "host_peak_bytes", (int64_t)hostmem_peak());
    json_put_int(out, "device_allocated_bytes", 0);
    json_put_int(out, "device_peak_bytes", 0);
    json_put_int(out, "device_free_bytes", 0);
    json_close(out, '}');
}

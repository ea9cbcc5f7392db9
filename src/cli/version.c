/* version.c - `dnn --version`: the versions of everything found. Libraries of a GPU are looked for
 * if this build has kernels for one. */
#include <cjson/cJSON.h>
#include <csv.h>
#include <stdio.h>
#include <string.h>

#include "backend/backend.h"
#include "backend/guests.h"
#include "base/mem.h"
#include "base/process/thread.h"
#include "base/unicode.h"
#include "check/gpucheck.h"
#include "cli/cli.h"
#include "csv/gunzip.h"

struct found {
    struct cpu_info cpu;
    char csv[16], zlib[16], zlib_why[160];
    bool kernels;            /* for a GPU */
    struct gpucheck *gpu;    /* devices and driver */
    char nvml_why[160];
    struct guest guests[GUESTS];
};

static void find_libraries(struct found *f)
{
    blas_prepare(threads_available(), BLAS_AUTO);
    cpu_describe(&f->cpu);
    snprintf(f->csv, sizeof f->csv, "%d.%d.%d", CSV_MAJOR, CSV_MINOR, CSV_RELEASE);
    gunzip_version(f->zlib, sizeof f->zlib, f->zlib_why, sizeof f->zlib_why);
    f->kernels = machine_known("cuda");
    f->gpu = mem_zero(1, sizeof *f->gpu);
    static const char without[] = "this build has no GPU kernels";
    if (f->kernels)
        gpucheck_shown(f->gpu, f->nvml_why, sizeof f->nvml_why);
    else
        memcpy(f->nvml_why, without, sizeof without);
    for (int i = 0; i < GUESTS; i++) {
        if (f->kernels)
            guest_find((enum guest_id)i, &f->guests[i]);
        else
            memcpy(f->guests[i].why, without, sizeof without);
    }
}

/* NULL: not known. */
static const char *guest_version(const struct guest *g)
{
    return g->version ? guest_version_text(g->version) : NULL;
}

static void put_library(struct json_out *o, const char *name, const char *version, const char *why)
{
    char key[32];
    size_t n = 0;
    for (; name[n] && n + sizeof "_reason" < sizeof key; n++)
        key[n] = (char)(name[n] >= 'A' && name[n] <= 'Z' ? name[n] - 'A' + 'a' : name[n]);
    key[n] = '\0';
    json_put_string(o, key, version);
    memcpy(key + n, "_reason", sizeof "_reason");
    json_put_string(o, key, why && why[0] ? why : NULL);
}

static void version_json(const struct found *f, struct json_out *o)
{
    const struct cpu_info *cpu = &f->cpu;
    json_open(o, NULL, '{');
    json_put_string(o, "schema", "dnn.version/1");
    json_put_string(o, "version", DNN_VERSION);
    json_open(o, "backends", '[');
    if (f->kernels)
        json_put_string(o, NULL, "cuda");
    json_put_string(o, NULL, "cpu");
    json_close(o, ']');
    gpucheck_devices_json(f->gpu, o);
    json_open(o, "libraries", '{');
    json_put_string(o, "cjson", cJSON_Version());
    json_put_string(o, "libcsv", f->csv);
    json_put_string(o, "utf8proc", unicode_library());
    put_library(o, "zlib", f->zlib[0] ? f->zlib : NULL, f->zlib_why);
    json_put_string(o, "blas", cpu->blas);
    const char *driver = f->gpu->versions.driver;
    put_library(o, "driver", driver[0] ? driver : NULL, f->nvml_why);
    for (int i = 0; i < GUESTS; i++)
        put_library(o, guest_name((enum guest_id)i), guest_version(&f->guests[i]),
                    f->guests[i].why);
    json_close(o, '}');
    json_open(o, "cpu", '{');
    json_put_string(o, "model", cpu->model);
    json_put_int(o, "threads", threads_available());
    json_put_string(o, "core", cpu->core);
    json_put_string(o, "blas_core", cpu->blas_core);
    json_put_string(o, "blas_reason", cpu->blas_reason[0] ? cpu->blas_reason : NULL);
    json_close(o, '}');
    json_close(o, '}');
}

static void version_text(const struct found *f, struct text *out)
{
    const struct cpu_info *cpu = &f->cpu;
    unsigned threads = threads_available();
    text_printf(out,
                "dnn " DNN_VERSION "\nbackends  %scpu (%s, %u thread%s)\nlibraries cJSON %s, "
                "libcsv %s, utf8proc %s, zlib %s, %s%s%s\n",
                f->kernels ? "cuda, " : "", cpu->core, threads, threads == 1 ? "" : "s",
                cJSON_Version(), f->csv, unicode_library(), f->zlib[0] ? f->zlib : "none",
                cpu->blas_reason[0] ? "BLAS: " : cpu->blas,
                cpu->blas_reason[0] ? "" : " on ",
                cpu->blas_reason[0] ? cpu->blas_reason : cpu->blas_core);
    if (!f->kernels)
        return;
    const char *driver = f->gpu->versions.driver;
    text_printf(out, "of the GPU driver %s", driver[0] ? driver : "none");
    if (f->nvml_why[0])
        text_printf(out, " (%s)", f->nvml_why);
    for (int i = 0; i < GUESTS; i++) {
        text_printf(out, ", %s %s", guest_name((enum guest_id)i),
                    guest_version(&f->guests[i]) ? guest_version(&f->guests[i]) : "none");
        if (f->guests[i].why[0])
            text_printf(out, " (%s)", f->guests[i].why);
    }
    text_put(out, "\n");
}

int version_run(bool json)
{
    struct found f = {0};
    struct json_out o = {0};
    struct text out = {0};
    find_libraries(&f);
    if (json)
        version_json(&f, &o);
    else
        version_text(&f, &out);
    mem_free(f.gpu);
    return json ? cli_json(NULL, &o, false) : cli_print(NULL, &out);
}

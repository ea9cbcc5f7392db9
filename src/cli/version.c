/* version.c - `dnn --version`: the versions of everything found. */
#include <cjson/cJSON.h>
#include <csv.h>
#include <stdio.h>

#include "backend/backend.h"
#include "base/thread.h"
#include "cli/cli.h"

static void version_json(const struct cpu_info *cpu, const char *csv, struct json_out *o)
{
    json_open(o, NULL, '{');
    json_put_string(o, "schema", "dnn.version/1");
    json_put_string(o, "version", DNN_VERSION);
    json_open(o, "backends", '[');
    json_put_string(o, NULL, "cpu");
    json_close(o, ']');
    json_open(o, "devices", '[');
    json_close(o, ']');
    json_open(o, "libraries", '{');
    json_put_string(o, "cjson", cJSON_Version());
    json_put_string(o, "libcsv", csv);
    json_put_string(o, "blas", cpu->blas);
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

int version_run(bool json)
{
    struct cpu_info cpu;
    unsigned threads = threads_available();
    blas_prepare(threads);
    cpu_describe(&cpu);
    char csv[16];
    snprintf(csv, sizeof csv, "%d.%d.%d", CSV_MAJOR, CSV_MINOR, CSV_RELEASE);
    if (json) {
        struct json_out o = {0};
        version_json(&cpu, csv, &o);
        return cli_json(NULL, &o, false);
    }
    struct text out = {0};
    text_printf(&out,
                "dnn " DNN_VERSION
                "\nbackends  cpu (%s, %u thread%s)\nlibraries cJSON %s, libcsv %s, %s%s%s\n",
                cpu.core, threads, threads == 1 ? "" : "s", cJSON_Version(), csv,
                cpu.blas_reason[0] ? "BLAS: " : cpu.blas, cpu.blas_reason[0] ? "" : " on ",
                cpu.blas_reason[0] ? cpu.blas_reason : cpu.blas_core);
    int code = cli_print(NULL, &out);
    text_free(&out);
    return code;
}

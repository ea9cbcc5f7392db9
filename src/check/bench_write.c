/* bench_write.c - a benchmark as dnn.bench/1 and as a table. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "check/bench.h"

static const char *const side_keys[BENCH_SIDES] = {"gpu_false", "gpu_true"};
static const char *const path_keys[BENCH_PATHS] = {"train", "predict"};

static bool any(const struct bench_row *r, int size)
{
    return r->figures[size][BENCH_CPU].made || r->figures[size][BENCH_GPU].made;
}

/* Nothing is claimed of an emulated device. */
static bool compared(const struct bench *b, const struct bench_row *r, int size)
{
    return r->figures[size][BENCH_CPU].made && r->figures[size][BENCH_GPU].made && !b->emulated;
}

static double gain(const struct bench_row *r, int size)
{
    return r->figures[size][BENCH_CPU].seconds / fmax(r->figures[size][BENCH_GPU].seconds, 1e-12);
}

static const char *recommendation(double times)
{
    return times > 1.1 ? "use the GPU" : times < 0.9 ? "use the CPU" : "either will do";
}

/* The row of libcsv at that size, if `fast` is the row of our scanner, and both were made. */
static const struct bench_figure *reader_beside(const struct bench *b, const struct bench_row *fast,
                                                int size)
{
    for (unsigned i = 0; i < b->count && strcmp(fast->name, "read_fast") == 0; i++) {
        const struct bench_figure *f = &b->rows[i].figures[size][BENCH_CPU];
        if (f->made && strcmp(b->rows[i].name, "read_libcsv") == 0)
            return fast->figures[size][BENCH_CPU].made ? f : NULL;
    }
    return NULL;
}

/* --- JSON --- */

static void positive(struct json_out *out, const char *key, double value)
{
    if (value > 0)
        json_put_number(out, key, value);
    else
        json_put_null(out, key);
}

static void write_limits(const struct bench *b, struct json_out *out)
{
    json_open(out, "limits", '{');
    for (int side = BENCH_SIDES - 1; side >= 0; side--) {
        const struct bench_limits *l = &b->limits[side];
        if (!b->has[side] || (side == BENCH_GPU && b->emulated))
            continue;
        json_open(out, side_keys[side], '{');
        json_put_string(out, "device", b->device[side]);
        json_put_string(out, "precision", b->precision[side]);
        for (int i = 0; i < PEAK_COPY; i++)
            positive(out, peak_names[i], l->peaks[i]);
        json_open(out, peak_names[PEAK_COPY], '[');
        for (int i = 0; i < BENCH_COPIES; i++) {
            json_open(out, NULL, '{');
            json_put_number(out, "bytes", l->copy_bytes[i]);
            positive(out, "rate", l->copies[i]);
            json_close(out, '}');
        }
        json_close(out, ']');
        json_close(out, '}');
    }
    json_close(out, '}');
}

static void write_figure(const struct bench_figure *f, const char *key, struct json_out *out)
{
    if (!f->made)
        return;
    json_open(out, key, '{');
    json_put_number(out, "mean_time_ms", f->seconds * 1e3);
    json_put_number(out, "mean_throughput", f->throughput);
    json_put_number(out, "success_rate", f->success);
    positive(out, "percent_of_limit", f->percent);
    if (f->rate > 0)
        json_put_number(out, "mb_per_s", f->rate / 1e6);
    json_close(out, '}');
}

static void write_results(const struct bench *b, struct json_out *out)
{
    json_open(out, "benchmark_results", '{');
    for (unsigned i = 0; i < b->count; i++) {
        const struct bench_row *r = &b->rows[i];
        json_open(out, r->name, '{');
        for (int size = 0; size < BENCH_SIZES; size++) {
            if (!any(r, size))
                continue;
            json_open(out, bench_size_names[size], '{');
            for (int side = BENCH_SIDES - 1; side >= 0; side--)
                write_figure(&r->figures[size][side], side_keys[side], out);
            const struct bench_figure *beside = reader_beside(b, r, size);
            if (beside)
                json_put_number(out, "times_libcsv",
                                r->figures[size][BENCH_CPU].rate / fmax(beside->rate, 1));
            json_close(out, '}');
        }
        json_close(out, '}');
    }
    json_close(out, '}');
}

static void write_path(const struct bench_path *p, const char *key, struct json_out *out)
{
    if (!p->made)
        return;
    json_open(out, key, '{');
    json_put_string(out, "path", p->path.name);
    json_put_int(out, "operations", p->path.operations);
    json_put_int(out, "pieces", p->path.pieces);
    json_put_int(out, "longest", p->path.longest);
    json_put_bool(out, "stacks", p->stacks);
    json_close(out, '}');
}

static void write_paths(const struct bench *b, struct json_out *out)
{
    json_open(out, "paths", '{');
    for (unsigned i = 0; i < b->preset_count; i++) {
        const struct bench_preset *p = &b->presets[i];
        json_open(out, p->name, '{');
        for (int job = 0; job < BENCH_PATHS; job++) {
            json_open(out, path_keys[job], '{');
            for (int side = BENCH_SIDES - 1; side >= 0; side--)
                write_path(&p->path[job][side], side_keys[side], out);
            json_close(out, '}');
        }
        json_close(out, '}');
    }
    json_close(out, '}');
}

static void write_gain(const struct bench_row *r, int size, struct json_out *out)
{
    const struct bench_figure *cpu = &r->figures[size][BENCH_CPU],
                              *gpu = &r->figures[size][BENCH_GPU];
    json_open(out, bench_size_names[size], '{');
    json_put_number(out, "time_improvement_percent",
                    100 * (cpu->seconds - gpu->seconds) / fmax(cpu->seconds, 1e-12));
    json_put_number(out, "throughput_improvement_percent",
                    100 * (gpu->throughput - cpu->throughput) / fmax(cpu->throughput, 1e-12));
    json_put_string(out, "recommendation", recommendation(gain(r, size)));
    json_close(out, '}');
}

static void write_gains(const struct bench *b, struct json_out *out)
{
    json_open(out, "analysis", '{');
    json_open(out, "performance_gains", '{');
    for (unsigned i = 0; i < b->count; i++) {
        bool open = false;
        for (int size = 0; size < BENCH_SIZES; size++) {
            if (!compared(b, &b->rows[i], size))
                continue;
            if (!open)
                json_open(out, b->rows[i].name, '{');
            open = true;
            write_gain(&b->rows[i], size, out);
        }
        if (open)
            json_close(out, '}');
    }
    json_close(out, '}');
    json_close(out, '}');
}

void bench_json(const struct bench *b, struct json_out *out)
{
    json_open(out, NULL, '{');
    json_put_string(out, "schema", "dnn.bench/1");
    select_write(&b->backend, "backend", out);
    json_put_bool(out, "emulated", b->emulated);
    json_put_string(out, "no_gpu", b->missing[0] ? b->missing : NULL);
    write_limits(b, out);
    write_results(b, out);
    write_gains(b, out);
    write_paths(b, out);
    json_put_int(out, "left_out", b->left_out);
    json_put_number(out, "seconds", b->seconds);
    json_close(out, '}');
}

/* --- a table --- */

static void text_limits(const struct bench *b, int side, struct text *out)
{
    const struct bench_limits *l = &b->limits[side];
    text_printf(out, "limits of %s, measured now: multiply-adds %.4g GFLOP/s",
                text_quote_z(b->device[side]), l->peaks[PEAK_FMA] / 1e9);
    if (l->peaks[PEAK_FMA_ONE] > 0)
        text_printf(out, " (one core %.4g)", l->peaks[PEAK_FMA_ONE] / 1e9);
    for (int i = PEAK_TF32; i <= PEAK_FP16; i++)
        if (l->peaks[i] > 0)
            text_printf(out, ", %s %.4g", peak_names[i], l->peaks[i] / 1e9);
    text_put(out, "; copies");
    for (int i = 0; i < BENCH_COPIES; i++)
        if (l->copies[i] > 0)
            text_printf(out, "%s %.4g GB/s of %.0f KiB", i ? "," : "", l->copies[i] / 1e9,
                        l->copy_bytes[i] / 1024);
    text_char(out, '\n');
}

static void put_figure(const struct bench_figure *f, struct text *out)
{
    if (!f->made)
        text_printf(out, " %10s %6s", "-", "");
    else if (f->percent > 0)
        text_printf(out, " %10.4g %4.0f %%", f->seconds * 1e3, f->percent);
    else
        text_printf(out, " %10.4g %6s", f->seconds * 1e3, "");
}

enum { BENCH_STACK = 2 }; /* more operations than this in a piece: layers are among them */
static void text_path(const struct bench_preset *preset, const char *job,
                      const struct bench_path *sides, struct text *out)
{
    static const char *const names[BENCH_SIDES] = {"CPU", "GPU"};
    for (int side = 0; side < BENCH_SIDES; side++) {
        const struct bench_path *p = &sides[side];
        if (!p->made)
            continue;
        text_printf(out, "path of %-8s %-7s on the %s: %s, %u operations in %u piece%s%s\n",
                    preset->name, job, names[side], p->path.name, p->path.operations,
                    p->path.pieces, p->path.pieces == 1 ? "" : "s",
                    side == BENCH_GPU && p->stacks && p->path.longest <= BENCH_STACK
                        ? "; its layers could be one piece, and are not"
                        : "");
    }
}

void bench_text(const struct bench *b, struct text *out)
{
    for (int side = 0; side < BENCH_SIDES; side++)
        if (b->has[side] && !(side == BENCH_GPU && b->emulated))
            text_limits(b, side, out);
    if (b->missing[0])
        text_printf(out, "no rows of a GPU: %s\n", b->missing);
    text_printf(out, "\n%-12s %-7s %10s %6s %10s %6s  %s\n", "", "", "CPU ms", "limit", "GPU ms",
                "limit", "gain");
    for (unsigned i = 0; i < b->count; i++)
        for (int size = 0; size < BENCH_SIZES; size++) {
            const struct bench_row *r = &b->rows[i];
            if (!any(r, size))
                continue;
            text_printf(out, "%-12s %-7s", r->name, bench_size_names[size]);
            for (int side = 0; side < BENCH_SIDES; side++)
                put_figure(&r->figures[size][side], out);
            const struct bench_figure *beside = reader_beside(b, r, size);
            double rate = r->figures[size][BENCH_CPU].rate;
            if (rate > 0)
                text_printf(out, "  %.0f MB/s", rate / 1e6);
            if (beside)
                text_printf(out, ", %.3gx libcsv", rate / fmax(beside->rate, 1));
            if (compared(b, r, size))
                text_printf(out, "  %.3gx, %s", gain(r, size), recommendation(gain(r, size)));
            text_char(out, '\n');
        }
    text_put(out, b->preset_count ? "\n" : "");
    for (unsigned i = 0; i < b->preset_count; i++)
        for (int job = 0; job < BENCH_PATHS; job++)
            text_path(&b->presets[i], path_keys[job], b->presets[i].path[job], out);
    if (b->emulated)
        text_put(out, "\nthe device is emulated: its figures are those of the emulator\n");
    text_printf(out, "\n%.1f s\n", b->seconds);
}

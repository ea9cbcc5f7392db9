/* cmd_gpucheck.c - `dnn gpucheck`: can this machine train on its GPU, and is it right? */
#include "run/gpucheck.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"

static const char *const levels[] = {"quick", "full", "soak", NULL};
static const char *const formats[] = {"text", "json", "spark", "prom", NULL};

static const struct arg_option gpucheck_options_table[] = {
    {"level", 0, "LEVEL", levels, 0, 0, 0,
     "quick: every check on small shapes. full: every shape. soak: full, again and again."},
    {"minutes", 0, "N", NULL, ARG_INT, 1, 10080, "How long soak goes on; 10 if not given."},
    {"format", 0, "FORMAT", formats, 0, 0, 0,
     "text; json, as --json; spark: the GPUs that are ready, for Spark's resource discovery; prom: "
     "Prometheus' text format."},
    {NULL, 0, NULL, NULL, 0, 0, 0, NULL}};

static bool options_of(const struct args *a, struct gpucheck_options *o, struct err *e)
{
    const char *level = args_value(a, "level"), *format = args_value(a, "format");
    *o = (struct gpucheck_options){.level = GPU_QUICK, .command = cli_overrides(a)};
    for (int i = 0; level && levels[i]; i++)
        if (strcmp(level, levels[i]) == 0)
            o->level = (enum gpu_level)i;
    o->minutes = (double)args_int(a, "minutes", 10);
    if (args_value(a, "minutes") && o->level != GPU_SOAK) {
        err_set(e, ERR_USAGE, "--minutes is for --level soak");
        return err_expected(e, "dnn %s", a->command->usage);
    }
    if (a->json && format && strcmp(format, "json") != 0) {
        err_set(e, ERR_USAGE, "--json and --format %s contradict each other", format);
        return err_expected(e, "one of them");
    }
    return true;
}

/* Each index that CUDA shows is checked, unless one was asked for. Without a ready one the list is
 * empty, and that is no failure; a faulty or a full card is. */
static unsigned ready[64], ready_count;

static int spark_told(const struct args *a, int worst)
{
    struct text out = {0};
    gpucheck_spark(ready, ready_count, &out);
    int code = cli_print(a, &out);
    text_free(&out);
    return code != EXIT_DONE ? code : ready_count ? EXIT_DONE : worst;
}

/* A signal came: who reads a list or samples gets those there are, and is not left with nothing. */
static int broken_off(const struct args *a, const struct gpucheck *g, const struct err *e)
{
    const char *format = args_value(a, "format");
    struct text out = {0};
    if (g->count && format && strcmp(format, "spark") == 0)
        gpucheck_spark(ready, ready_count, &out);
    else if (g->count && format && strcmp(format, "prom") == 0)
        gpucheck_prom(g, (int)err_exit(e), &out);
    int code = out.length ? cli_print(a, &out) : EXIT_DONE;
    text_free(&out);
    return code == EXIT_DONE ? cli_fail(a, e, NULL) : code;
}

static int spark(struct args *a, struct gpucheck_options *o, struct gpucheck *g, struct err *e)
{
    bool all = !overrides_one_card(&o->command);
    char index[16];
    int worst = EXIT_DONE;
    for (unsigned i = 0; i < 64 && (i == 0 || (all && i < g->visible)); i++) {
        snprintf(index, sizeof index, "%u", i);
        if (all)
            o->command.device = index;
        if (!gpucheck_run(o, g, e))
            return broken_off(a, g, e);
        if (g->verdict == GPU_READY)
            ready[ready_count++] = g->index;
        if (g->verdict == GPU_BUSY || g->verdict == GPU_FAULTY)
            worst = gpucheck_exit(g);
    }
    return spark_told(a, worst);
}

static int told(const struct args *a, const struct gpucheck *g, const char *format)
{
    int code;
    if (a->json || strcmp(format, "json") == 0) {
        struct json_out o = {0};
        gpucheck_json(g, &o);
        code = cli_json(a, &o, false);
    } else {
        struct text out = {0};
        if (strcmp(format, "prom") == 0)
            gpucheck_prom(g, gpucheck_exit(g), &out);
        else
            gpucheck_text(g, &out);
        code = cli_print(a, &out);
        text_free(&out);
    }
    return code == EXIT_DONE ? gpucheck_exit(g) : code;
}

/* What was found, and the check that never ended. */
static int gpucheck_stopped(const struct args *a, const struct err *why)
{
    const char *format = args_value(a, "format");
    const struct gpucheck *g = gpucheck_stuck(why);
    if (!g)
        return cli_fail(a, why, NULL);
    if (format && strcmp(format, "spark") == 0)
        return spark_told(a, gpucheck_exit(g));
    return told(a, g, format ? format : "text");
}

static int gpucheck_command(struct args *a)
{
    struct err e = {0};
    struct gpucheck_options o;
    struct gpucheck *g = mem_zero(1, sizeof *g);
    const char *format = args_value(a, "format");
    int code;
    a->json = a->json || (format && strcmp(format, "json") == 0);
    if (!options_of(a, &o, &e))
        code = cli_fail(a, &e, NULL);
    else if (format && strcmp(format, "spark") == 0)
        code = spark(a, &o, g, &e);
    else
        code = gpucheck_run(&o, g, &e) ? told(a, g, format ? format : "text")
                                       : broken_off(a, g, &e);
    cli_drop(o.command.sets);
    mem_free(g);
    return code;
}

const struct command command_gpucheck = {
    .name = "gpucheck",
    .usage = "gpucheck [--level quick|full|soak] [--minutes N] [--json] "
             "[--format text|json|spark|prom]",
    .summary = "Prove that this machine's GPU trains, and is right; or say what is missing.",
    .examples = "  dnn gpucheck\n"
                "  dnn gpucheck --level soak --minutes 30 --device 1\n"
                "  dnn gpucheck --format prom >gpu.prom\n",
    .notes = "Exit: 0 ready; 69 none, or an emulated one; 75 busy or full; 81 faulty. Every kernel "
             "is compared with the CPU's, and small networks are trained below TMPDIR. --format "
             "spark ends with 0 where there is no GPU. The checks nvml and libraries are at most "
             "warnings.",
    .options = gpucheck_options_table,
    .computes = true,
    .has_json = true,
    .run = gpucheck_command,
    .stuck = gpucheck_stopped,
};

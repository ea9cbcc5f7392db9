/* cmd_gpucheck.c - `dnn gpucheck`: can this machine train on its GPU, and is it right? */
#include "check/gpucheck.h"

#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/fault.h"
#include "base/mem.h"
#include "base/stop.h"
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

/* --- Spark --- */

static int list(const struct args *a, const struct gpu_cards *cards)
{
    struct text out = {0};
    gpucheck_spark(cards->ready, cards->count, &out);
    int code = cli_print(a, &out);
    text_free(&out);
    return code;
}

/* Its own watch tells which call hangs, and is to come first. */
static double limit_of(const struct gpucheck_options *o)
{
    const char *word = fault_setting("GPUCHECK_LIMIT");
    double limit = o->level == GPU_QUICK ? 1.5 * MACHINE_PATIENCE : 3 * MACHINE_PATIENCE;
    if (word && text_to_double(word, &limit))
        return limit;
    return limit + (o->level == GPU_SOAK ? 60 * o->minutes : 0);
}

/* The command line of the check of one card is this one's, but as JSON. */
static int spark(const struct args *a, const struct gpucheck_options *o, struct err *e)
{
    struct text *options = mem_zero(a->value_count + 1, sizeof *options);
    const char **words = mem_zero(a->value_count + 4, sizeof *words);
    struct gpu_cards cards;
    size_t n = 0;
    words[n++] = "dnn";
    words[n++] = a->command->name;
    words[n++] = "--json";
    for (size_t i = 0; i < a->value_count; i++) {
        const struct arg_value *v = &a->values[i];
        if (strcmp(v->option->name, "format") == 0)
            continue;
        text_printf(&options[i], "--%s%s%s", v->option->name, v->option->value ? "=" : "", v->text);
        words[n++] = options[i].data;
    }
    struct gpu_cards_wish w = {.words = words,
                               .word_count = n,
                               .all = !overrides_one_card(&o->command),
                               .limit_s = limit_of(o)};
    bool good = gpucheck_cards(&w, &cards, e);
    /* who reads a list is not left with nothing where a signal came, or the host fails */
    int code = good || err_exit(e) != EXIT_USAGE ? list(a, &cards) : EXIT_DONE;
    if (!good && code == EXIT_DONE)
        code = cli_fail(a, e, NULL);
    else if (code == EXIT_DONE && cards.count == 0) /* none is no failure, a faulty one is */
        code = cards.worst;
    for (size_t i = 0; i < a->value_count; i++)
        text_free(&options[i]);
    mem_free(options);
    mem_free(words);
    return code;
}

/* --- one card --- */

/* A signal came: who reads samples gets those there are, and is not left with nothing. */
static int broken_off(const struct args *a, const struct gpucheck *g, const struct err *e)
{
    const char *format = args_value(a, "format");
    struct text out = {0};
    if (g->count && format && strcmp(format, "prom") == 0)
        gpucheck_prom(g, (int)err_exit(e), &out);
    int code = out.length ? cli_print(a, &out) : EXIT_DONE;
    text_free(&out);
    return code == EXIT_DONE ? cli_fail(a, e, NULL) : code;
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
    if (!g || stop_is(why))
        return cli_fail(a, why, NULL);
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
        code = spark(a, &o, &e);
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
             "spark checks every visible GPU, each in a process of its own, tells on standard "
             "error of those that are not ready, and ends with 0 where there is none. The checks "
             "nvml and libraries are at most warnings.",
    .options = gpucheck_options_table,
    .computes = true,
    .has_json = true,
    .run = gpucheck_command,
    .stuck = gpucheck_stopped,
};

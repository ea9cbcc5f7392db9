/* cmd_gpucheck.c - `dnn gpucheck`: can this machine train on its GPU, and is it right? */
#include "check/gpucheck.h"

#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "cli/cli.h"

static const char *const levels[] = {"quick", "full", "soak", NULL}; /* as enum gpu_level */
enum { TEXT, JSON, SPARK, PROM };
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
    const int format = args_word(a, "format", JSON);
    *o = (struct gpucheck_options){.level = (enum gpu_level)args_word(a, "level", GPU_QUICK),
                                   .minutes = (double)args_int(a, "minutes", 10),
                                   .command = cli_overrides(a)};
    if (args_value(a, "minutes") && o->level != GPU_SOAK) {
        err_set(e, ERR_USAGE, "--minutes is for --level soak");
        return err_expected(e, "dnn %s", a->command->usage);
    }
    if (a->json && format != JSON) {
        err_set(e, ERR_USAGE, "--json and --format %s contradict each other", formats[format]);
        return err_expected(e, "one of them");
    }
    return true;
}

/* --- Spark --- */

static int list(const struct args *a, const struct gpu_cards *cards)
{
    struct text out = {0};
    gpucheck_spark(cards->ready, cards->count, &out);
    return cli_print(a, &out);
}

/* A card that was checked: into the list when ready, else a line on standard error. */
static void keep_card(const struct gpucheck *g, unsigned index, struct gpu_cards *cards)
{
    const struct gpu_check *bad = gpucheck_failure(g);
    const char *id = bad ? bad->id : "", *reason = bad ? bad->reason : "";
    if (g->verdict == GPU_READY)
        cards->ready[cards->count++] = index;
    else if (g->verdict == GPU_EMULATED)
        log_note("GPU %u is emulated: it is not listed", index);
    else if (g->verdict == GPU_NONE && g->device_count)
        log_note("GPU %u cannot be used: %s: %s", index, id, reason);
    if (g->verdict != GPU_BUSY && g->verdict != GPU_FAULTY)
        return;
    cards->worst = gpucheck_exit(g);
    log_warning("GPU %u is %s: %s: %s", index, g->verdict == GPU_BUSY ? "busy" : "faulty", id,
                reason);
}

/* Checks the cards one after another, up to a faulty one: after it CUDA serves this process no
 * longer. The number of cards is CUDA's once a card was opened, before that NVML's. Without a card
 * the exit code is 0; if none is ready, a busy or faulty one decides it. */
static int spark(const struct args *a, struct gpucheck_options *o, struct gpucheck *g,
                 struct err *e)
{
    struct gpu_cards cards = {.count = 0};
    char device[24];
    bool all = !overrides_one_card(&o->command), good = true;
    o->cards = &cards;
    unsigned i = 0, most = 1;
    for (; good && i < most && i < GPU_INDICES && cards.worst != EXIT_GPUFAULT; i++) {
        snprintf(device, sizeof device, "%u", i);
        if (all)
            o->command.device = device;
        good = gpucheck_run(o, g, e);
        if (good)
            keep_card(g, all || !g->visible ? i : g->index, &cards);
        unsigned known = g->visible ? g->visible : g->device_count;
        most = all && known > most ? known : most;
    }
    if (good && i < most)
        log_warning("GPU %u and later are not checked after a fault: `dnn gpucheck --format spark "
                    "--device %u` checks one", i, i);
    /* after a signal or a failure of the host the list is printed all the same */
    int code = good || err_exit(e) != EXIT_USAGE ? list(a, &cards) : EXIT_DONE;
    if (!good && code == EXIT_DONE)
        code = cli_fail(a, e, NULL);
    else if (code == EXIT_DONE && cards.count == 0)
        code = cards.worst;
    return code;
}

/* --- one card --- */

/* A signal came: who reads samples gets those there are, and is not left with nothing. */
static int broken_off(const struct args *a, const struct gpucheck *g, const struct err *e)
{
    struct text out = {0};
    if (g->count && args_word(a, "format", TEXT) == PROM)
        gpucheck_prom(g, (int)err_exit(e), &out);
    int code = out.length ? cli_print(a, &out) : EXIT_DONE;
    return code == EXIT_DONE ? cli_fail(a, e, NULL) : code;
}

static int told(const struct args *a, const struct gpucheck *g)
{
    int code;
    if (a->json) {
        struct json_out o = {0};
        gpucheck_json(g, &o);
        code = cli_json(a, &o, false);
    } else {
        struct text out = {0};
        if (args_word(a, "format", TEXT) == PROM)
            gpucheck_prom(g, gpucheck_exit(g), &out);
        else
            gpucheck_text(g, &out);
        code = cli_print(a, &out);
    }
    return code == EXIT_DONE ? gpucheck_exit(g) : code;
}

/* Reports the checks so far; the one that hangs has failed. */
static int gpucheck_stopped(const struct args *a, const struct err *why)
{
    struct gpucheck *g = a->work;
    if (!g || !gpucheck_stuck(g, why))
        return cli_fail(a, why, NULL);
    if (g->cards) {
        log_setup(LOG_WARNING, log_json()); /* the checks were silent */
        keep_card(g, g->index, g->cards);
        int code = list(a, g->cards);
        return code == EXIT_DONE ? gpucheck_exit(g) : code;
    }
    return told(a, g);
}

static int gpucheck_command(struct args *a)
{
    struct err e = {0};
    struct gpucheck_options o;
    struct gpucheck *g = mem_zero(1, sizeof *g);
    const int format = args_word(a, "format", TEXT);
    int code;
    a->work = g;
    a->json = a->json || format == JSON;
    if (!options_of(a, &o, &e))
        code = cli_fail(a, &e, NULL);
    else if (format == SPARK)
        code = spark(a, &o, g, &e);
    else
        code = gpucheck_run(&o, g, &e) ? told(a, g) : broken_off(a, g, &e);
    mem_free(g);
    return code;
}

const struct command command_gpucheck = {
    .name = "gpucheck",
    .usage = "gpucheck [--level quick|full|soak] [--minutes N] [--json] "
             "[--format text|json|spark|prom]",
    .summary = "Test that this machine's GPU trains correctly, or report what is missing.",
    .examples = "  dnn gpucheck\n"
                "  dnn gpucheck --level soak --minutes 30 --device 1\n"
                "  dnn gpucheck --format prom >gpu.prom\n",
    .notes = "Exit: 0 ready; 69 none, or an emulated one; 75 busy or full; 81 faulty. Every kernel "
             "is compared with the CPU's, and small networks are trained below TMPDIR. --format "
             "spark checks every visible GPU in turn, lists the ready ones and reports the others "
             "on standard error; without a GPU it ends with 0. The checks nvml and libraries are "
             "at most warnings.",
    .options = gpucheck_options_table,
    .flags = COMMAND_COMPUTES | COMMAND_JSON,
    .run = gpucheck_command,
    .stuck = gpucheck_stopped,
};

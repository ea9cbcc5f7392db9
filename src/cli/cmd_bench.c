/* cmd_bench.c - `dnn bench`: how fast, how near to this machine's limits, what a GPU gives. */
#include "check/bench.h"

#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"

static const struct arg_option bench_options_table[] = {
    {"operation", 0, "NAME", NULL, ARG_MANY, 0, 0,
     "An operation, or train, predict or evaluate; may stand many times. All of them if not given; "
     "of a MODEL the jobs alone."},
    {"size", 0, "SIZE", bench_size_names, 0, 0, 0,
     "small: batches of 256, layers 128 wide. medium: 4096, 256. large: 16384, 512. All of them if "
     "not given."},
    {"iterations", 0, "N", NULL, ARG_INT, 1, 1000000,
     "How often each row is timed; if not given, as often as there is time for."},
    {"gpu", 0, NULL, NULL, 0, 0, 0, "The GPU alone: as --backend dnn_gpu."},
    {"no-gpu", 0, NULL, NULL, 0, 0, 0, "The CPU alone: as --backend dnn_cpu."},
    {NULL, 0, NULL, NULL, 0, 0, 0, NULL}};

/* --gpu and --no-gpu in place of --backend. */
static bool sides(const struct args *a, struct overrides *o, struct err *e)
{
    bool gpu = args_value(a, "gpu") != NULL, cpu = args_value(a, "no-gpu") != NULL;
    if (gpu && cpu)
        return err_set(e, ERR_OPTION_CONFLICT, "--gpu and --no-gpu contradict each other");
    if ((gpu || cpu) && o->backend)
        return err_set(e, ERR_OPTION_CONFLICT, "--backend and --%s both name the machine",
                       gpu ? "gpu" : "no-gpu");
    if (gpu || cpu)
        o->backend = gpu ? "dnn_gpu" : "dnn_cpu";
    return true;
}

static bool known(const char *name, struct err *e)
{
    const char *names[BENCH_ROWS];
    size_t count = 0;
    for (; count < BENCH_ROWS && bench_name(count); count++) {
        names[count] = bench_name(count);
        if (strcmp(names[count], name) == 0)
            return true;
    }
    err_set(e, ERR_OPTION_VALUE, "--operation \"%s\" is nothing that is timed", text_quote_z(name));
    const char *near = text_nearest(name, names, count);
    if (near)
        err_help(e, "did you mean %s?", near);
    return err_words(e, names, count);
}

static int told(struct args *a, const struct bench *b)
{
    if (a->json) {
        struct json_out o = {0};
        bench_json(b, &o);
        return cli_json(a, &o, false);
    }
    struct text out = {0};
    bench_text(b, &out);
    return cli_print(a, &out);
}

static int bench_command(struct args *a)
{
    struct err e = {0};
    struct bench *b = mem_zero(1, sizeof *b);
    struct bench_request q = {.size = args_word(a, "size", -1),
                              .model = a->positional_count ? a->positionals[0] : NULL,
                              .iterations = args_int(a, "iterations", 0),
                              .command = cli_overrides(a)};
    q.operations = args_list(a, "operation", &q.operation_count);
    bool good = sides(a, &q.command, &e);
    for (size_t i = 0; good && i < q.operation_count; i++)
        good = known(q.operations[i], &e);
    good = good && bench_run(&q, b, &e);
    int code = good ? told(a, b) : cli_fail(a, &e, NULL);
    mem_free(b);
    return code;
}

const struct command command_bench = {
    .name = "bench",
    .usage = "bench [MODEL] [--operation NAME]... [--size small|medium|large] [--batch-size N] "
             "[--iterations N] [--gpu|--no-gpu] [--json]",
    .summary = "Time every operation, training and answers on the CPU and the GPU.",
    .examples = "  dnn bench --size small\n"
                "  dnn bench --operation dense --operation train --size medium --json\n"
                "  dnn bench leads.dnn --size small --backend dnn_cpu --threads 4\n",
    .notes = "Each time is the middle one of some repeats. Its percentage is that of the least "
             "time in which this machine could do the same arithmetic, or move the same bytes, by "
             "loops of our own in the same run; what is only read may come to more than a copy "
             "allows. It takes less than a minute; rows that do not fit into the time are "
             "skipped, and their number is printed. Without a GPU there are rows of the CPU alone. "
             "dense_cublaslt, dense_back_cublaslt and train_lstm_cudnn have a library of NVIDIA in "
             "the place of our own kernels, whose rows are dense, dense_back and train_lstm; "
             "without that library they are left out.",
    .options = bench_options_table,
    .flags = COMMAND_COMPUTES | COMMAND_JSON,
    .arguments = {0, 1},
    .run = bench_command,
};

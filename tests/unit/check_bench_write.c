/* check_bench_write.c - a benchmark as it is told: what the GPU gains over the CPU, of figures that
 * are made up, in JSON and as a table. */
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "check/bench.h"
#include "tap.h"

static struct bench_figure figure(double seconds, double throughput)
{
    return (struct bench_figure){.made = true, .seconds = seconds, .throughput = throughput,
                                 .success = 1, .percent = 50};
}

static struct bench *two_rows(void)
{
    struct bench *b = mem_zero(1, sizeof *b);
    b->has[BENCH_CPU] = b->has[BENCH_GPU] = true;
    snprintf(b->device[BENCH_CPU], sizeof b->device[BENCH_CPU], "cpu");
    snprintf(b->device[BENCH_GPU], sizeof b->device[BENCH_GPU], "a card");
    b->rows[0].name = "dense";
    b->rows[0].figures[BENCH_SMALL][BENCH_CPU] = figure(0.001, 1000);
    b->rows[0].figures[BENCH_SMALL][BENCH_GPU] = figure(0.004, 250);
    b->rows[0].figures[BENCH_MEDIUM][BENCH_CPU] = figure(0.0105, 1000);
    b->rows[0].figures[BENCH_MEDIUM][BENCH_GPU] = figure(0.010, 1050);
    b->rows[0].figures[BENCH_LARGE][BENCH_CPU] = figure(0.8, 10);
    b->rows[0].figures[BENCH_LARGE][BENCH_GPU] = figure(0.1, 80);
    b->rows[1].name = "add"; /* of the CPU alone */
    b->rows[1].figures[BENCH_LARGE][BENCH_CPU] = figure(0.5, 20);
    b->count = 2;
    return b;
}

static char *json_of(const struct bench *b, struct json_out *out)
{
    bench_json(b, out);
    text_char(&out->text, '\0');
    return out->text.data;
}

static bool says(const char *json, const char *piece)
{
    return strstr(json, piece) != NULL;
}

static void test_gains(void)
{
    struct bench *b = two_rows();
    struct json_out out = {0};
    const char *json = json_of(b, &out);
    ok(says(json, "\"small\":{\"time_improvement_percent\":-300,"
                  "\"throughput_improvement_percent\":-75,\"recommendation\":\"use the CPU\"}"),
       "a GPU that takes four times as long");
    ok(says(json, "\"recommendation\":\"either will do\""), "a twentieth is no gain");
    ok(says(json, "\"large\":{\"time_improvement_percent\":87.5,"
                  "\"throughput_improvement_percent\":700,\"recommendation\":\"use the GPU\"}"),
       "a GPU that takes an eighth");
    ok(says(json, "\"add\":{\"large\":{\"gpu_false\""), "a row of the CPU alone is a result");
    ok(!says(strstr(json, "performance_gains"), "\"add\""), "and nothing is gained there");
    text_free(&out.text);
    mem_free(b);
}

static void test_emulated(void)
{
    struct bench *b = two_rows();
    struct json_out out = {0};
    b->emulated = true;
    ok(says(json_of(b, &out), "\"performance_gains\":{}"), "an emulated device gains nothing");
    text_free(&out.text);
    mem_free(b);
}

static void test_table(void)
{
    struct bench *b = two_rows();
    struct text out = {0};
    bench_text(b, &out);
    text_char(&out, '\0');
    ok(says(out.data, "  8x, use the GPU\n"), "the table says so as well");
    ok(says(out.data, "  0.25x, use the CPU\n"), "and where the CPU is faster");
    text_free(&out);
    mem_free(b);
}

int main(void)
{
    test_gains();
    test_emulated();
    test_table();
    return done();
}

/* check_gpucheck_cards.c - what the check of one card says, as the process reads it that asked for
 * it. */
#include <string.h>

#include "check/gpucheck_parts.h"
#include "tap.h"

#define REPORT(verdict, checks, devices) \
    "{\"schema\":\"dnn.gpucheck/1\",\"verdict\":\"" verdict "\",\"exit\":0,\"checks\":[" checks \
    "],\"devices\":[" devices "],\"versions\":{}}\n"
#define CHECK(id, status, measured, reason) \
    "{\"id\":\"" id "\",\"status\":\"" status "\",\"measured\":" measured \
    ",\"threshold\":null,\"reason\":\"" reason "\",\"fix\":null}"

static struct gpu_told told;
static struct err e;

static bool read_it(const char *text)
{
    told = (struct gpu_told){.index = 5};
    err_clear(&e);
    return gpucheck_told(text, text ? strlen(text) : 0, &told, &e);
}

static void test_reports(void)
{
    ok(read_it(REPORT("ready", CHECK("device", "pass", "\"3 (NVIDIA H200)\"", "device 2 is used"),
                      "")), "a card that is ready");
    ok(told.verdict == GPU_READY && !told.missing, "is ready");
    is_int(told.index, 2, "and which one it is");
    is_int(told.visible, 3, "of how many");
    ok(read_it(REPORT(
           "faulty",
           CHECK("device", "pass", "\"2 (A \\\"card\\\")\"", "device 0 is used; x") "," CHECK(
               "kernel.dense", "fail", "null", "it failed") "," CHECK("health", "fail", "null",
                                                                      "too"),
           "")),
       "a faulty one");
    ok(told.verdict == GPU_FAULTY && told.visible == 2, "counts its neighbours");
    is_string(told.id, "kernel.dense", "its first failure");
    is_string(told.reason, "it failed", "and why");
    ok(read_it(REPORT("none",
                      CHECK("device", "pass", "\"0\"", "the driver shows 0 cards") "," CHECK(
                          "architecture", "fail", "null", "too old"),
                      "{},{}")),
       "too old a card");
    ok(!told.missing && told.device && told.visible == 2, "has neighbours, as NVML says");
    ok(read_it(REPORT("none", CHECK("device", "fail", "\"0\"", "there is no device"), "{},{}")),
       "no such index");
    ok(told.missing && !told.visible, "is none");
    ok(read_it(REPORT("none", CHECK("driver", "fail", "null", "no driver") ","
                      CHECK("device", "skip", "null", "needs driver"), "")), "no driver");
    ok(told.missing, "is none");
    ok(read_it(REPORT("busy", CHECK("device", "fail", "null", "Prohibited"), "{}")),
       "a closed card");
    ok(told.verdict == GPU_BUSY && told.device && !told.missing && told.visible == 1, "is there");
    ok(read_it(REPORT("faulty", CHECK("device", "skip", "null", "needs context"), "")),
       "a driver that hangs as it is opened");
    ok(!told.missing && !told.device && !told.visible, "tells of no device at all");
}

static void test_others(void)
{
    ok(!read_it(
           "{\"schema\":\"dnn.error/1\",\"id\":\"E1902\",\"exit\":75,\"file\":null,\"line\":null,"
           "\"column\":null,\"message\":\"stopped\",\"expected\":null,\"help\":\"again\"}"),
       "an error is no report");
    ok(e.id == ERR_STOPPED && err_exit(&e) == EXIT_TRYLATER, "but that error");
    is_string(e.what, "stopped", "in its words");
    is_string(e.help, "again", "with its help");
    static const char *const wrong[] = {"",
                                        "no JSON",
                                        "{}",
                                        "[]",
                                        "null",
                                        "{\"schema\":\"dnn.gpucheck/1\"}",
                                        "{\"schema\":\"dnn.gpucheck/1\",\"verdict\":\"well\"}",
                                        "{\"schema\":\"dnn.gpucheck/1\",\"verdict\":\"ready\"}",
                                        "{\"schema\":\"dnn.train/1\"}",
                                        "{\"schema\":\"dnn.error/1\",\"id\":\"E9\"}",
                                        "{\"schema\":\"dnn.gpuche"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ok(!read_it(wrong[i]) && e.id == ERR_NONE, "%s", wrong[i]);
    ok(!read_it(NULL) && e.id == ERR_NONE, "nothing at all");
}

int main(void)
{
    test_reports();
    test_others();
    return done();
}

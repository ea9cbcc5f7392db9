/* cudart_plan.cc - what is to go wrong in a whole program: the words of DNN_EMULATE. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart.h"

/* What a whole program leaves behind. */
static void report(void)
{
    fprintf(stderr, "emulated: %u calls, %u after a fault, %u findings, %u left, %u allocations, "
                    "%u kernels\n",
            cudart_calls(NULL), cudart_calls_after_fault(), emulate_findings(), cudart.left,
            cudart_calls("Malloc"), cudart.kernels);
}

/* Without the questions whether something is done: how many they are is chance. */
static void report_calls(void)
{
    fprintf(stderr, "emulated: %u waits, %u other calls, %u kernels, %u graphs, %u copies\n",
            cudart.waits, cudart_calls(NULL) - cudart_calls("EventQuery"),
            cudart_calls("LaunchKernelExC"), cudart_calls("GraphLaunch"),
            cudart_calls("MemcpyAsync"));
}

/* One word of DNN_EMULATE. */
static void plan_word(char *word)
{
    char *first = strchr(word, ':'), *second = first ? strchr(first + 1, ':') : NULL;
    if (first)
        *first++ = 0;
    if (second)
        *second++ = 0;
    unsigned long a = first ? strtoul(first, NULL, 10) : 1,
                  b = second ? strtoul(second, NULL, 10) : 2;
    if (strcmp(word, "break") == 0)
        cudart_break_after((unsigned)a, (cudaError_t)b);
    else if (strcmp(word, "hang") == 0)
        cudart_hang_after((unsigned)a);
    else if (strcmp(word, "devices") == 0)
        cudart_devices((unsigned)a, b);
    else if (strcmp(word, "sm") == 0)
        cudart.capability = (unsigned)a;
    else if (strcmp(word, "driver") == 0)
        cudart.driver = (unsigned)a;
    else if (strcmp(word, "vanish") == 0)
        cudart_vanish();
    else if (strcmp(word, "order") == 0)
        emulate_order((unsigned)a % ORDER_COUNT);
    else if (strcmp(word, "stall") == 0)
        cudart.stall_after = (unsigned)a;
    else if (strcmp(word, "term") == 0) {
        cudart.signal_after = (unsigned)a;
        cudart.signal_number = second ? (int)b : SIGTERM;
    } else if (strcmp(word, "on") == 0)
        cudart.only = (unsigned)a + 1;
    else if (strcmp(word, "wrong") == 0)
        cudart.wrong_after = (unsigned)a;
    else if (strcmp(word, "dry") == 0)
        cudart.dry = true;
    else if (strcmp(word, "report") == 0)
        cudart.reports = atexit(report) == 0;
    else if (strcmp(word, "calls") == 0)
        atexit(report_calls);
    else if (strcmp(word, "hide") == 0)
        memory_hide(true);
    else
        cudart_fail(word, (unsigned)a, (cudaError_t)b);
}

void cudart_plan(void)
{
    const char *plan = getenv("DNN_EMULATE");
    char words[256], *rest = words;
    snprintf(words, sizeof words, "%s", plan ? plan : "");
    for (char *word; (word = strtok_r(rest, ",", &rest));)
        plan_word(word);
}

/* profile.c - see profile.h. */
#include "base/process/profile.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file/file.h"
#include "base/json/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/file/outfile.h"
#include "base/text.h"

#define TRACE_BEGIN "{\"displayTimeUnit\":\"ms\","
static const double US = 1e6;

struct timed {
    const char *name; /* lives as long as the program */
    int64_t count;
    double began, seconds;
    enum profile_lane lane;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the spans */
/* One trace a process: it shows all threads on one clock. */
static struct {
    const char *_Atomic path; /* NULL: off */
    double zero;
    struct timed *spans;
    size_t count, dropped;
    bool worked; /* a machine has, for the trace */
    const char *phase;
    double phase_began;
    char machine[128];
} profile;

bool profile_on(void)
{
    return profile.path != NULL;
}

bool profile_begin(const char *path, struct err *e)
{
    struct outfile probe = {0};
    if (!file_is_ours(path, TRACE_BEGIN, "a profile by dnn", "choose another file for --profile",
                        e) ||
        !outfile_open(&probe, path, e))
        return false;
    outfile_abort(&probe);
    profile.worked = false;
    profile.zero = profile.phase ? profile.phase_began : clock_now();
    profile.spans = mem_alloc(PROFILE_SPANS, sizeof *profile.spans);
    snprintf(profile.machine, sizeof profile.machine, "machine");
    profile.path = path;
    return true;
}

void profile_machine(const char *name)
{
    snprintf(profile.machine, sizeof profile.machine, "%s", name);
}

void profile_work(enum profile_lane lane, const char *name, int64_t count, double began,
                  double seconds)
{
    if (!profile.path)
        return;
    pthread_mutex_lock(&lock);
    profile.worked |= lane != PROFILE_HOST;
    if (profile.count == PROFILE_SPANS)
        profile.dropped++;
    else
        profile.spans[profile.count++] = (struct timed){name, count, began, seconds, lane};
    pthread_mutex_unlock(&lock);
}

void profile_span(const char *name, int64_t count, double began)
{
    profile_work(PROFILE_HOST, name, count, began, clock_now() - began);
}

void profile_phase(const char *name)
{
    if (profile.phase)
        profile_span(profile.phase, 0, profile.phase_began);
    profile.phase = *name ? name : NULL;
    profile.phase_began = clock_now();
}

/* --- the file --- */

static void put_meta(const char *what, int pid, int tid, const char *name, struct json_out *out)
{
    json_open(out, NULL, '{');
    json_put_string(out, "name", what);
    json_put_string(out, "ph", "M");
    json_put_int(out, "pid", pid);
    json_put_int(out, "tid", tid);
    json_open(out, "args", '{');
    json_put_string(out, "name", name);
    json_close(out, '}');
    json_close(out, '}');
}

static void put_time(const char *key, double seconds, struct json_out *out)
{
    char text[32]; /* to the nanosecond */
    snprintf(text, sizeof text, "%.3f", seconds > 0 ? seconds * US : 0);
    json_put_raw(out, key, text);
}

static void put_span(const struct timed *s, struct json_out *out)
{
    json_open(out, NULL, '{');
    json_put_string(out, "name", s->name);
    json_put_string(out, "ph", "X");
    json_put_int(out, "pid", s->lane == PROFILE_HOST ? 1 : 2);
    json_put_int(out, "tid", s->lane < PROFILE_OPERATIONS ? 1 : s->lane);
    put_time("ts", s->began - profile.zero, out);
    put_time("dur", s->seconds, out);
    if (s->count) {
        json_open(out, "args", '{');
        json_put_int(out, "n", s->count);
        json_close(out, '}');
    }
    json_close(out, '}');
}

static void put_all(struct json_out *out)
{
    json_open(out, NULL, '{');
    json_put_string(out, "displayTimeUnit", "ms");
    json_open(out, "otherData", '{');
    json_put_string(out, "schema", "dnn.profile/1");
    json_put_int(out, "spans_left_out", (int64_t)profile.dropped);
    json_close(out, '}');
    json_open(out, "traceEvents", '[');
    put_meta("process_name", 1, 1, "dnn", out);
    put_meta("thread_name", 1, 1, "host", out);
    put_meta("process_name", 2, 1, profile.machine, out);
    put_meta("thread_name", 2, 1, "steps", out);
    put_meta("thread_name", 2, PROFILE_OPERATIONS, "operations of the first steps", out);
    put_meta("thread_name", 2, PROFILE_LAYERS, "layers of the first steps", out);
    for (size_t i = 0; i < profile.count; i++)
        put_span(&profile.spans[i], out);
    json_close(out, ']');
    json_close(out, '}');
}

/* Logs the share of each layer in the first steps, both ways together, in the order of the way
 * forward; operations of no layer by their own name. */
static void tell_layers(void)
{
    struct timed *sums = mem_alloc(profile.count, sizeof *sums);
    size_t count = 0, steps = 0, at;
    double all = 0;
    for (size_t i = 0; i < profile.count; i++) {
        const struct timed *s = &profile.spans[i];
        steps += strcmp(s->name, PROFILE_STEP) == 0;
        if (s->lane != PROFILE_LAYERS)
            continue;
        for (at = 0; at < count; at++)
            if (sums[at].count == s->count && strcmp(sums[at].name, s->name) == 0)
                break;
        if (at == count)
            sums[count++] = (struct timed){.name = s->name, .count = s->count};
        sums[at].seconds += s->seconds;
        all += s->seconds;
    }
    for (at = 0; at < count && steps && all > 0; at++) {
        char number[24] = "";
        if (sums[at].count)
            snprintf(number, sizeof number, " %lld", (long long)sums[at].count);
        log_line("profile: %s%s: %.1f %% of a step, %.3g ms", sums[at].name, number,
                 100 * sums[at].seconds / all, 1000 * sums[at].seconds / (double)steps);
    }
    mem_free(sums);
}

bool profile_end(bool good, struct err *e)
{
    struct json_out out = {0};
    struct outfile file = {0};
    if (!profile.path)
        return true;
    profile_phase("");
    bool kept = !good && !profile.worked, written = kept;
    if (!kept) {
        tell_layers();
        put_all(&out);
        written = outfile_open(&file, profile.path, e) &&
                  outfile_write(&file, out.text.data, out.text.length, e) &&
                  outfile_write(&file, "\n", 1, e) && outfile_prepare(&file, e);
        if (written)
            written = outfile_commit(&file, e);
        else
            outfile_abort(&file);
        text_free(&out.text);
    }
    mem_free(profile.spans);
    profile.spans = NULL;
    profile.path = NULL;
    profile.count = 0;
    return written;
}

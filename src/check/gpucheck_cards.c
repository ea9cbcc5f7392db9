/* gpucheck_cards.c - every card in its turn, each by a process of its own: see gpucheck_cards. A
 * process says what it found as JSON; one that says nothing has lost its card. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stop.h"
#include "base/sys.h"
#include "check/gpucheck_parts.h"

/* What a process that was told to stop may take to tidy up, and one that has said all to end. */
static const double GRACE_S = 4 * STOP_GRACE_S + 2;

/* --- what it says --- */

static const char *string_of(const struct json *object, const char *key)
{
    const struct json *value = json_get(object, key);
    return value ? json_string(value) : "";
}

static bool is_string(const struct json *object, const char *key, const char *text)
{
    return strcmp(string_of(object, key), text) == 0;
}

/* "3 (NVIDIA H200)" is told of a card that was opened, and counts what CUDA shows; of one that was
 * not, NVML's count is told, and of those some may be hidden. */
static void note_device(const struct json *check, struct gpu_told *t)
{
    unsigned visible, index;
    char bracket;
    t->device = is_string(check, "status", "pass") ||
                (t->verdict == GPU_BUSY && is_string(check, "status", "fail"));
    if (sscanf(string_of(check, "measured"), "%u %c", &visible, &bracket) == 2 && bracket == '(')
        t->visible = visible;
    if (sscanf(string_of(check, "reason"), "device %u ", &index) == 1)
        t->index = index;
}

/* The error that a process ended with, as if it had been met here. */
static bool was_error(const struct json *root, struct err *e)
{
    unsigned id;
    if (sscanf(string_of(root, "id"), "E%u", &id) == 1 && err_info((int)id)) {
        err_at(e, (enum err_id)id, string_of(root, "file"), 0, 0, "%s",
               string_of(root, "message"));
        if (*string_of(root, "expected"))
            err_expected(e, "%s", string_of(root, "expected"));
        if (*string_of(root, "help"))
            err_help(e, "%s", string_of(root, "help"));
    }
    return false;
}

static bool read_report(const struct json *root, struct gpu_told *t, struct err *e)
{
    static const char *const verdicts[] = {"ready", "none", "busy", "faulty", "emulated"};
    const struct json *checks = json_get(root, "checks"), *devices = json_get(root, "devices");
    size_t verdict = 0;
    if (is_string(root, "schema", "dnn.error/1"))
        return was_error(root, e);
    while (verdict < sizeof verdicts / sizeof *verdicts &&
           !is_string(root, "verdict", verdicts[verdict]))
        verdict++;
    if (!is_string(root, "schema", "dnn.gpucheck/1") || verdict > GPU_EMULATED || !checks ||
        !devices)
        return false;
    t->verdict = (enum gpu_verdict)verdict;
    for (size_t i = 0; i < json_count(checks); i++) {
        const struct json *check = json_at(checks, i);
        if (is_string(check, "id", "device"))
            note_device(check, t);
        if (!t->id[0] && is_string(check, "status", "fail")) {
            snprintf(t->id, sizeof t->id, "%s", string_of(check, "id"));
            snprintf(t->reason, sizeof t->reason, "%s", string_of(check, "reason"));
        }
    }
    t->missing = t->verdict == GPU_NONE && !t->device;
    if (!t->visible && t->device)
        t->visible = (unsigned)json_count(devices);
    return true;
}

bool gpucheck_told(const char *text, size_t length, struct gpu_told *t, struct err *e)
{
    struct err ignored = {0};
    while (length > 0 && text[length - 1] == '\n')
        length--;
    struct json_doc *doc = json_parse_own(text ? text : "", length, "gpucheck", &ignored);
    bool good = doc && read_report(json_root(doc), t, e);
    json_free(doc);
    return good;
}

/* --- one card --- */

/* Until it has said all. False: it was told to stop, or *late. */
static bool hear(const struct child *c, double limit_s, struct text *said, bool *late)
{
    char piece[4096];
    size_t got;
    bool told = false;
    for (double until = clock_now() + limit_s; !*late; *late = clock_now() >= until) {
        if (!told && stop_wanted()) {
            child_tell(c, SIGTERM);
            told = true;
            until = clock_now() + GRACE_S;
        }
        if (!sys_ready(c->out, 100))
            continue;
        if (sys_read(c->out, piece, sizeof piece, SYS_HERE, &got) != 0 || got == 0)
            return !told;
        if (said->length < JSON_OWN_BYTES)
            text_add(said, piece, got);
    }
    return !told;
}

/* No word of it: that is the card's fault, or of what drives it. */
static void silent(struct gpu_told *t, int code, bool late, double limit_s)
{
    t->verdict = GPU_FAULTY;
    snprintf(t->id, sizeof t->id, "context");
    if (code == CHILD_LOST)
        snprintf(t->reason, sizeof t->reason, "its check hangs in the driver: not even SIGKILL "
                                              "ends it");
    else if (late)
        snprintf(t->reason, sizeof t->reason, "its check had not come to an end after %.3g seconds",
                 limit_s);
    else if (code < 0)
        snprintf(t->reason, sizeof t->reason, "its check was ended by signal %d (%s)", -code,
                 strsignal(-code));
    else
        snprintf(t->reason, sizeof t->reason, "its check ended with exit %d and no report", code);
}

static bool check_card(const struct gpu_cards_wish *w, unsigned index, struct gpu_told *t,
                       struct err *e)
{
    char device[24];
    struct child child;
    struct text said = {0};
    bool late = false;
    const char **words = mem_zero(w->word_count + 2, sizeof *words);
    memcpy(words, w->words, w->word_count * sizeof *words);
    snprintf(device, sizeof device, "--device=%u", index);
    if (w->all)
        words[w->word_count] = device;
    *t = (struct gpu_told){.index = index};
    int error = child_begin(&child, words);
    mem_free(words);
    if (error)
        return err_errno(e, "/proc/self/exe", error, false, "a process that checks one GPU");
    bool heard = hear(&child, w->limit_s, &said, &late);
    int code = child_end(&child, late ? 0 : GRACE_S);
    bool good = heard && gpucheck_told(said.data, said.length, t, e);
    text_free(&said);
    if (!heard)
        return stop_error("the checks were done", e);
    if (!good && e->id == ERR_NONE) {
        silent(t, code, late, w->limit_s);
        good = true;
    }
    return good;
}

/* --- all of them --- */

static void keep(const struct gpu_told *t, struct gpu_cards *cards)
{
    struct gpucheck g = {.verdict = t->verdict};
    if (t->verdict == GPU_READY)
        cards->ready[cards->count++] = t->index;
    else if (t->verdict == GPU_EMULATED)
        log_note("GPU %u is emulated: it is given to nobody", t->index);
    else if (t->verdict == GPU_NONE && !t->missing)
        log_note("GPU %u cannot be used: %s: %s", t->index, t->id, t->reason);
    if (t->verdict != GPU_BUSY && t->verdict != GPU_FAULTY)
        return;
    cards->worst = gpucheck_exit(&g);
    log_warning("GPU %u is %s: %s: %s", t->index, t->verdict == GPU_BUSY ? "busy" : "faulty", t->id,
                t->reason);
}

/* How many indices there are, as far as one process knows: a device that it saw without knowing how
 * many there are may have a next one, and before anybody saw one the device files count. */
static unsigned indices(const struct gpu_told *t, unsigned nodes)
{
    unsigned most = t->visible ? t->visible : t->device ? t->index + 2 : nodes;
    return most < GPU_INDICES ? most : GPU_INDICES;
}

bool gpucheck_cards(const struct gpu_cards_wish *w, struct gpu_cards *cards, struct err *e)
{
    struct gpu_host host;
    struct gpu_told told;
    stop_phase("gpucheck", false);
    gpucheck_host(&host);
    *cards = (struct gpu_cards){0};
    for (unsigned i = 0, most = 1; i < most; i++) {
        if (stop_wanted())
            return stop_error("the checks were done", e);
        if (!check_card(w, i, &told, e))
            return false;
        keep(&told, cards);
        if (told.missing || !w->all)
            break;
        most = indices(&told, host.nodes) > most ? indices(&told, host.nodes) : most;
    }
    return true;
}

/* progress.c - see progress.h. The bar is one line without a newline. Every log line first removes
 * it (log_on_line); the next step draws it again. */
#include "base/process/progress.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/json/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/text.h"

enum { CELLS = 20, CELLS_LEAST = 4, COLUMNS_MOST = 200, COLUMNS_USUAL = 80 };
static const double REDRAW = 0.1, LATER = 10; /* seconds between plain lines */

struct progress {
    bool bar, plain, sparse; /* sparse: not every epoch has its line */
    int64_t epochs;
    const char *metric_name;
    double metric; /* of the last epoch; NaN before */
    double drawn_at, told_at;
};
static _Atomic bool drawn; /* a bar stands in the terminal's last line */

static void put(const char *bytes, size_t length)
{
    size_t done;
    (void)sys_write(STDERR_FILENO, bytes, length, SYS_HERE,
                    &done); /* a failure to show progress is not an error */
}

static void clear(void)
{
    if (atomic_exchange(&drawn, false))
        put("\r\033[K", 4);
}

static bool terminal(void)
{
    const char *kind = getenv("TERM");
    return isatty(STDERR_FILENO) && kind && *kind && strcmp(kind, "dumb") != 0;
}

static void choose(enum progress_style style, bool *bar, bool *plain)
{
    bool wanted = log_level() >= LOG_NOTE && style != PROGRESS_NONE;
    *bar =
        wanted && !log_json() && (style == PROGRESS_BAR || (style == PROGRESS_AUTO && terminal()));
    *plain = wanted && !*bar;
}

struct progress *progress_open(enum progress_style style, int64_t epochs, const char *metric_name)
{
    struct progress *p = mem_zero(1, sizeof *p);
    choose(style, &p->bar, &p->plain);
    p->sparse = style == PROGRESS_AUTO;
    p->epochs = epochs;
    p->metric_name = metric_name;
    p->metric = NAN;
    if (p->bar)
        log_on_line(clear);
    return p;
}

const char *progress_time(double seconds)
{
    static _Thread_local char buffers[4][32];
    static _Thread_local unsigned next;
    char *out = buffers[next++ % 4];
    if (!(seconds >= 0) || seconds > 1e8) {
        snprintf(out, 32, "?");
    } else if (seconds < 60) {
        snprintf(out, 32, seconds < 10 ? "%.2f s" : "%.0f s", seconds);
    } else {
        long whole = (long)(seconds + 0.5), hours = whole / 3600;
        if (hours)
            snprintf(out, 32, "%ld:%02ld:%02ld", hours, whole / 60 % 60, whole % 60);
        else
            snprintf(out, 32, "%ld:%02ld", whole / 60, whole % 60);
    }
    return out;
}

static size_t columns(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 10)
        return COLUMNS_USUAL;
    return size.ws_col < COLUMNS_MOST ? size.ws_col : COLUMNS_MOST;
}

/* --- the line of the bar: its pieces in order --- */

enum { AT_EPOCH, AT_BAR, AT_LOSS, AT_METRIC, AT_RATE, AT_LEFT, PIECES, PIECE = 80 };
struct piece {
    char text[PIECE];
};

static size_t length_of(const struct piece *pieces)
{
    size_t length = 0;
    for (int i = 0; i < PIECES; i++)
        length += strlen(pieces[i].text);
    return length;
}

/* In a narrow terminal the bar gets shorter first; then whole pieces are left out, so that no
 * number is cut. The epoch stays longest, then the time that is left. */
static void fit(struct piece *pieces, double whole, size_t most)
{
    static const int order[] = {AT_RATE, AT_METRIC, AT_LOSS, AT_LEFT, AT_EPOCH};
    const size_t frame = 3; /* " [" and "]" */
    size_t others = length_of(pieces), cells = 0;
    if (others + frame < most)
        cells = most - others - frame;
    cells = cells < CELLS ? cells : CELLS;
    if (cells >= CELLS_LEAST) {
        char *bar = pieces[AT_BAR].text;
        size_t full = (size_t)(whole * (double)cells);
        memcpy(bar, " [", 2);
        memset(bar + 2, '-', cells);
        memset(bar + 2, '#', full < cells ? full : cells);
        bar[2 + cells] = ']';
    }
    for (size_t i = 0; i < sizeof order / sizeof *order && length_of(pieces) > most; i++)
        pieces[order[i]].text[0] = '\0';
}

/* Four decimals, so that figures stand below each other; four digits for small and large ones. */
enum { FIGURE = 32 };
static const char *figure(char room[FIGURE], double x)
{
    bool plain = !isfinite(x) || x == 0 || (fabs(x) >= 0.01 && fabs(x) < 1e6);
    if (plain)
        snprintf(room, FIGURE, "%.4f", x);
    else
        snprintf(room, FIGURE, "%s", text_figure(x, 4));
    return room;
}

void progress_step(struct progress *p, int64_t epoch, double fraction, double loss,
                   double rows_per_s, double seconds_left)
{
    double now = p->bar ? clock_now() : 0;
    if (!p->bar || (drawn && now - p->drawn_at < REDRAW))
        return;
    struct piece pieces[PIECES] = {{{0}}};
    snprintf(pieces[AT_EPOCH].text, PIECE, "epoch %lld/%lld", (long long)epoch,
             (long long)p->epochs);
    char figures[2][FIGURE];
    snprintf(pieces[AT_LOSS].text, PIECE, " loss %s", figure(figures[0], loss));
    if (p->metric_name && isfinite(p->metric))
        snprintf(pieces[AT_METRIC].text, PIECE, ", valid %s %s", p->metric_name,
                 figure(figures[1], p->metric));
    snprintf(pieces[AT_RATE].text, PIECE, ", %.0f rows/s", rows_per_s);
    if (seconds_left >= 0)
        snprintf(pieces[AT_LEFT].text, PIECE, ", %s left", progress_time(seconds_left));
    fit(pieces, ((double)(epoch - 1) + fraction) / (double)p->epochs, columns() - 1);
    char out[PIECES * PIECE + 8] = "\r";
    size_t n = 1;
    for (int i = 0; i < PIECES; i++)
        n += (size_t)snprintf(out + n, sizeof out - n, "%s", pieces[i].text);
    n += (size_t)snprintf(out + n, sizeof out - n, "\033[K");
    put(out, n);
    drawn = true;
    p->drawn_at = now;
}

void progress_epoch(struct progress *p, int64_t epoch, double loss, double metric, bool best,
                    double rows_per_s, double seconds)
{
    p->metric = metric;
    if (!p->plain)
        return;
    const double now = p->sparse ? clock_now() : 0;
    if (p->sparse && epoch > 1 && now - p->told_at < LATER)
        return;
    p->told_at = now;
    char valid[80] = "", figures[2][FIGURE];
    if (p->metric_name)
        snprintf(valid, sizeof valid, ", valid %s %s%s", p->metric_name,
                 figure(figures[1], metric), best ? " (best so far)" : "");
    char line[240];
    snprintf(line, sizeof line, "epoch %lld/%lld loss %s%s, %.0f rows/s, %.2f s", (long long)epoch,
             (long long)p->epochs, figure(figures[0], loss), valid, rows_per_s, seconds);
    if (!log_json() || log_level() < LOG_NOTE) {
        log_line("%s", line);
        return;
    }
    struct json_out o = {0}; /* for programs: the figures as members, beside the words */
    json_open(&o, NULL, '{');
    json_put_string(&o, "level", "info");
    json_put_string(&o, "message", line);
    json_put_int(&o, "epoch", epoch);
    json_put_int(&o, "epochs", p->epochs);
    json_put_number(&o, "loss", loss);
    json_put_string(&o, "metric", p->metric_name);
    json_put_number(&o, "value", metric);
    json_put_bool(&o, "best", best);
    json_put_number(&o, "rows_per_s", rows_per_s);
    json_put_number(&o, "seconds", seconds);
    json_close(&o, '}');
    text_char(&o.text, '\n');
    log_object(o.text.data, o.text.length);
    text_free(&o.text);
}

void progress_close(struct progress *p)
{
    if (!p)
        return;
    if (p->bar) {
        clear();
        log_on_line(NULL);
    }
    mem_free(p);
}

/* --- work that has an amount --- */

static const double FIRST = 2; /* seconds until the first line */

void progress_amount_open(struct progress_amount *p, enum progress_style style, const char *what,
                          const char *unit)
{
    *p = (struct progress_amount){.what = what, .unit = unit, .began = clock_now()};
    choose(style, &p->bar, &p->plain);
    p->next = p->began + (fault_setting("PROGRESS") ? 0 : FIRST);
    if (p->bar)
        log_on_line(clear);
}

void progress_amount(struct progress_amount *p, double done, double of)
{
    double now = p->bar || p->plain ? clock_now() : 0;
    if (now < p->next || !(p->bar || p->plain))
        return;
    double passed = now - p->began, scale = p->unit ? 1 : 1024.0 * 1024;
    const char *unit = p->unit ? p->unit : "MiB";
    char line[160];
    int n = of > 0 ? snprintf(line, sizeof line, "%s %.0f of %.0f %s", p->what, done / scale,
                              of / scale, unit)
                   : snprintf(line, sizeof line, "%s %.0f %s", p->what, done / scale, unit);
    if (of > 0 && done > 0 && done <= of)
        snprintf(line + n, sizeof line - (size_t)n, ", %s left",
                 progress_time(passed * (of - done) / done));
    p->next = now + (p->bar ? REDRAW : passed > LATER ? passed : LATER);
    if (!p->bar) {
        log_line("%s", line);
        return;
    }
    put("\r", 1);
    put(line, strlen(line) < columns() ? strlen(line) : columns() - 1);
    put("\033[K", 3);
    drawn = true;
}

void progress_amount_close(struct progress_amount *p)
{
    if (p->bar) {
        clear();
        log_on_line(NULL);
    }
    *p = (struct progress_amount){0};
}

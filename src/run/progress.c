/* progress.c - see progress.h. The bar is one line without a newline: every log line first takes it
 * away (log_on_line), and the next step draws it again. It has no colours. */
#include "run/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/text.h"

enum { CELLS = 20, COLUMNS_MOST = 200, COLUMNS_USUAL = 80 };
static const double REDRAW = 0.1;

struct progress {
    bool bar, plain;
    int64_t epochs;
    const char *metric_name;
    double metric; /* of the last epoch; NaN before */
    double drawn_at;
    bool drawn;
};
static struct progress *shown; /* the one that has a bar */

static void put(const char *bytes, size_t length)
{
    size_t done;
    (void)sys_write(STDERR_FILENO, bytes, length, SYS_HERE,
                    &done); /* nobody looks: not a reason to fail */
}

static void clear(void)
{
    if (!shown || !shown->drawn)
        return;
    shown->drawn = false;
    shown->drawn_at = 0;
    put("\r\033[K", 4);
}

static bool terminal(void)
{
    const char *kind = getenv("TERM");
    return isatty(STDERR_FILENO) && kind && *kind && strcmp(kind, "dumb") != 0;
}

struct progress *progress_open(enum progress_style style, int64_t epochs, const char *metric_name)
{
    struct progress *p = mem_zero(1, sizeof *p);
    bool wanted = log_level() >= LOG_NOTE && style != PROGRESS_NONE;
    p->bar =
        wanted && !log_json() && (style == PROGRESS_BAR || (style == PROGRESS_AUTO && terminal()));
    p->plain = wanted && !p->bar;
    p->epochs = epochs;
    p->metric_name = metric_name;
    p->metric = NAN;
    if (p->bar) {
        shown = p;
        log_on_line(clear);
    }
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

void progress_step(struct progress *p, int64_t epoch, double fraction, double loss,
                   double rows_per_s, double seconds_left)
{
    double now = p->bar ? clock_now() : 0;
    if (!p->bar || now - p->drawn_at < REDRAW)
        return;
    char cells[CELLS + 1], line[COLUMNS_MOST * 2], metric[64] = "", left[64] = "";
    double whole = ((double)(epoch - 1) + fraction) / (double)p->epochs;
    int full = (int)(whole * CELLS);
    for (int i = 0; i < CELLS; i++)
        cells[i] = i < full ? '#' : '-';
    cells[CELLS] = '\0';
    if (p->metric_name && isfinite(p->metric))
        snprintf(metric, sizeof metric, " %s %.4f", p->metric_name, p->metric);
    if (seconds_left >= 0)
        snprintf(left, sizeof left, ", %s left", progress_time(seconds_left));
    snprintf(line, sizeof line, "epoch %lld/%lld [%s] loss %.4f%s, %.0f rows/s%s", (long long)epoch,
             (long long)p->epochs, cells, loss, metric, rows_per_s, left);
    size_t most = columns() - 1;
    if (strlen(line) > most)
        line[most] = '\0';
    char out[sizeof line + 8];
    int n = snprintf(out, sizeof out, "\r%s\033[K", line);
    put(out, (size_t)n);
    p->drawn = true;
    p->drawn_at = now;
}

void progress_epoch(struct progress *p, int64_t epoch, double loss, double metric, bool best,
                    double rows_per_s, double seconds)
{
    p->metric = metric;
    if (!p->plain)
        return;
    char valid[80] = "";
    if (p->metric_name)
        snprintf(valid, sizeof valid, " valid %s %.4f%s", p->metric_name, metric,
                 best ? " best" : "");
    log_line("epoch %lld/%lld loss %.4f%s %.0f rows/s %.2f s", (long long)epoch,
             (long long)p->epochs, loss, valid, rows_per_s, seconds);
}

void progress_close(struct progress *p)
{
    if (!p)
        return;
    if (shown == p) {
        clear();
        log_on_line(NULL);
        shown = NULL;
    }
    mem_free(p);
}

/* base_progress.c - progress of work with an amount: silent in its first two seconds, then a
 * line. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/process/progress.h"
#include "tap.h"

static char told[1024];
static int lines;

/* What standard error gets from one step of work that began `ago` seconds before. */
static void step(enum progress_style style, double ago, double done, double of, const char *unit)
{
    struct progress_amount p;
    FILE *to = tmpfile();
    int kept = dup(STDERR_FILENO);
    dup2(fileno(to), STDERR_FILENO);
    progress_amount_open(&p, style, "reading", unit);
    p.began -= ago;
    p.next -= ago;
    progress_amount(&p, done, of);
    progress_amount(&p, done, of); /* too soon for a second one */
    progress_amount_close(&p);
    dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(to);
    size_t length = fread(told, 1, sizeof told - 1, to);
    told[length] = '\0';
    lines = 0;
    for (char *c = told; *c; c++)
        if (*c == '\n') {
            lines++;
            *c = ' ';
        }
    fclose(to);
}

int main(void)
{
    const double mib = 1024.0 * 1024;
    step(PROGRESS_PLAIN, 0, mib, 4 * mib, NULL);
    is_string(told, "", "nothing in the first two seconds");
    step(PROGRESS_PLAIN, 100, 3 * mib, 4 * mib, NULL);
    is_string(told, "dnn: reading 3 of 4 MiB, 33 s left ", "then a line");
    is_int(lines, 1, "the next one is not yet due");
    step(PROGRESS_PLAIN, 100, 15, 17, "columns");
    is_string(told, "dnn: reading 15 of 17 columns, 13 s left ", "another unit");
    step(PROGRESS_PLAIN, 4, 7 * mib, 0, NULL);
    is_string(told, "dnn: reading 7 MiB ", "an end that is not known");
    step(PROGRESS_BAR, 100, 3 * mib, 4 * mib, NULL);
    is_string(told, "\rreading 3 of 4 MiB, 33 s left\033[K\r\033[K", "a bar is drawn and removed");
    step(PROGRESS_NONE, 4, mib, 4 * mib, NULL);
    is_string(told, "", "none: nothing");
    log_setup(LOG_WARNING, false);
    step(PROGRESS_PLAIN, 100, 3 * mib, 4 * mib, NULL);
    is_string(told, "", "--quiet: nothing");
    return done();
}

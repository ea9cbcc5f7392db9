/* init_time.c - see init_time.h. */
#include "cli/init/init_time.h"

#include <string.h>

#include "base/log.h"
#include "base/process/progress.h"
#include "check/forecast.h"

/* "about 35 s", or "2 to 13 s" if early stopping may end it. */
static void put_time(const struct forecast *f, struct text *out)
{
    if (f->least < f->seconds)
        text_printf(out, "%.2g to %.3g s", f->least, f->seconds);
    else
        text_printf(out, "about %.3g s", f->seconds);
    if (f->seconds >= 100)
        text_printf(out, " (%s)", progress_time(f->seconds));
}

void init_time(const struct text *config, const char *name, const char *preset, uint64_t rows)
{
    struct forecast own, fast;
    struct text line = {0};
    if (!forecast_make(config->data, config->length, name, NULL, rows, &own))
        return;
    text_printf(&line, "training on this machine (CPU, %u thread%s): ", own.threads,
                own.threads == 1 ? "" : "s");
    put_time(&own, &line);
    text_printf(&line, " with %s%s", preset ? "preset " : "preset auto",
                preset ? text_quote_z(preset) : "");
    if (!preset && forecast_make(config->data, config->length, name, "mlp", rows, &fast)) {
        text_put(&line, ", ");
        put_time(&fast, &line);
        text_put(&line, " with --set model.preset=mlp");
    }
    log_note("%s", line.data);
    text_free(&line);
}

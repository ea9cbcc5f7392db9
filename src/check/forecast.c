/* forecast.c - see forecast.h. */
#include "check/forecast.h"

#include <math.h>
#include <stdio.h>

#include "base/log.h"
#include "base/process/stop.h"
#include "check/check.h"
#include "table/schema/part.h"

/* Rows: enough for some steps of every network. In a file sorted by label the first rows may have
 * one label alone: then more. */
static const uint64_t LOOKED[] = {1000, 60000};

static bool look(struct config *c, uint64_t limit, uint64_t rows, struct forecast *f,
                 struct err *e)
{
    struct check_result r = {0};
    if (!check_run(c, &(struct check_request){.limit = limit, .quick = true}, &r, e))
        return false;
    double looked = 0;
    for (int p = 0; p < PARTS; p++)
        looked += (double)r.rows[p];
    f->seconds = r.seconds * (looked > 0 ? fmax(1, (double)rows / looked) : 1);
    if (c->train.time_limit_s > 0)
        f->seconds = fmin(f->seconds, c->train.time_limit_s);
    f->least = f->seconds;
    const int64_t patience = c->train.early_stopping.patience;
    if (!r.run_count && r.work == CHECK_EPOCHS && patience > 0)
        f->least *= fmin(1, (double)(patience + 1) / (double)c->train.epochs);
    f->threads = r.backend.threads;
    check_free(&r);
    return true;
}

bool forecast_make(const char *config, size_t length, const char *name, const char *preset,
                   uint64_t rows, struct forecast *f)
{
    char set[64];
    snprintf(set, sizeof set, "model.preset=%s", preset ? preset : "");
    const char *sets[] = {set};
    struct overrides o = {.sets = sets,
                          .set_count = preset != NULL,
                          .backend = "dnn_cpu",
                          .threads = -1,
                          .batch_size = -1,
                          .time_limit_s = -1};
    struct err e = {0};
    const int level = log_level();
    log_setup(LOG_SILENT, log_json());
    bool good = false;
    for (size_t i = 0; !good && i < sizeof LOOKED / sizeof *LOOKED; i++) {
        if (i && (rows <= LOOKED[i - 1] || stop_wanted()))
            break;
        err_clear(&e);
        struct config *c = config_parse_members(config, length, name, &o, &e);
        good = c && look(c, LOOKED[i], rows, f, &e);
        config_free(c);
    }
    log_setup(level, log_json());
    return good;
}

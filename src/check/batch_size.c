/* batch_size.c - see check_parts.h. */
#include "check/check_parts.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/process/stop.h"
#include "train/ensemble.h"

enum { SIZES_MOST = 20 }; /* powers of two up to TRAIN_BATCH_MOST, and both ends */
static const double CLOSE = 0.95;

bool batch_size_time(struct run *r, double trial, double (*clock)(void), double *step_s,
                     struct err *e)
{
    struct hyper still[1] = {{.lr = 0, .weight_decay = 0}};
    double taken = 0;
    int64_t steps = 0;
    if (!network_epoch(r->network, 0, still, 1, e))
        return false;
    for (uint32_t stretch = 1; taken < trial && steps < r->steps; stretch *= 2) {
        int64_t left = r->steps - steps;
        uint32_t now = left < (int64_t)stretch ? (uint32_t)left : stretch;
        double began = clock();
        if (!step_train(r->stepper, now, e) && e->id != ERR_NONE)
            return false;
        if (stop_wanted())
            return stop_error("the plan was made", e);
        taken += clock() - began;
        steps += now;
    }
    *step_s = taken / (double)steps;
    return true;
}

bool batch_size_find(struct train_job *j, const struct check_request *q, struct check_result *r,
                     struct err *e)
{
    uint64_t rows = j->table->split.record_count[PART_TRAIN], most = r->largest_batch_train;
    most = most < rows ? most : rows;
    most = most < q->most ? most : q->most;
    if (run_is_path(&j->run)) {
        err_set(e, ERR_CONFIG_CONFLICT,
                "--find-batch-size: %s is solved from all rows at once, and has no batches",
                !j->ensemble->alone ? "the first network of this config" : "this network");
        return err_help(e, "name a network that trains in batches: --set model.preset=%s",
                        j->config->data.sequence ? "transformer" : "mlp");
    }
    if (most < q->least) {
        err_set(e, ERR_MEMORY,
                "--find-batch-size: no batch of %u rows or more: %llu training rows, and the "
                "largest batch that fits has %llu", q->least,
                (unsigned long long)rows, (unsigned long long)r->largest_batch_train);
        return err_help(e, "give a smaller --min");
    }
    r->tried = mem_zero(SIZES_MOST, sizeof *r->tried);
    double fastest = 0;
    for (uint64_t size = q->least, next; size <= most; size = next) {
        struct check_batch *b = &r->tried[r->tried_count];
        struct network_options o;
        struct network_bytes need;
        if (!run_rebuild(&j->run, (int64_t)size, e) ||
            !batch_size_time(&j->run, STEPS_TIMED, clock_now, &b->step_s, e))
            return false;
        if (!batch_size_time(&j->run, STEPS_TIMED, clock_now, &b->step_s, e))
            return false; /* the first ones touched fresh memory */
        o = run_network_options(&j->run);
        if (!network_need(&o, j->machine, &need, e))
            return false;
        r->tried_count++;
        b->rows = (uint32_t)size;
        b->bytes = need.total;
        double rate = (double)size * j->run.micro / b->step_s;
        b->rows_per_s = rate;
        fastest = rate > fastest ? rate : fastest;
        for (next = 1; next <= size; next *= 2)
            ;
        next = size < most && next > most ? most : next;
    }
    for (uint32_t i = 0; i < r->tried_count && !r->best_batch; i++)
        if (r->tried[i].rows_per_s >= CLOSE * fastest)
            r->best_batch = r->tried[i].rows;
    return true;
}

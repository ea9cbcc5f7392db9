/* lift.c - see lift.h. */
#include "measure/lift.h"

#include <math.h>

const double lift_cuts[LIFT_CUTS] = {0.05, 0.1, 0.2};

struct walk {
    double weight;         /* of all rows */
    double above, hits;    /* so far: rows, and positive ones */
    double got[LIFT_CUTS]; /* weight of the positive rows above the cut */
};

static bool walk_group(void *context, double score, double positive, double negative)
{
    struct walk *w = context;
    const double all = positive + negative;
    (void)score;
    for (int i = 0; i < LIFT_CUTS; i++) {
        const double room = lift_cuts[i] * w->weight - w->above;
        if (room >= all)
            w->got[i] = w->hits + positive;
        else if (room > 0)
            w->got[i] = w->hits + positive * (room / all);
    }
    w->above += all;
    w->hits += positive;
    return w->above < lift_cuts[LIFT_CUTS - 1] * w->weight;
}

void lift_of(struct rank *r, struct lift out[LIFT_CUTS])
{
    struct walk w = {.weight = r->positive + r->negative};
    rank_groups(r, walk_group, &w);
    for (int i = 0; i < LIFT_CUTS; i++) {
        const double found = r->positive > 0 ? fmin(w.got[i] / r->positive, 1) : (double)NAN;
        out[i] = (struct lift){.top = lift_cuts[i],
                               .precision = found * (r->positive / w.weight) / lift_cuts[i],
                               .found = found,
                               .lift = found / lift_cuts[i]};
    }
}

void lift_write(const struct lift l[LIFT_CUTS], struct json_out *out)
{
    json_open(out, "lift", '[');
    for (int i = 0; i < LIFT_CUTS; i++) {
        json_open(out, NULL, '{');
        json_put_number(out, "top", l[i].top);
        json_put_number(out, "precision", l[i].precision);
        json_put_number(out, "found", l[i].found);
        json_put_number(out, "lift", l[i].lift);
        json_close(out, '}');
    }
    json_close(out, ']');
}

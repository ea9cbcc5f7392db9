/* nettracks.c - which networks are trained in tracks, and in how many. Micro-batches of few
 * sequences keep their activations in cache. */
#include "model/network/netarena.h"

static bool in_tracks(struct layer *const *layers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct layer_type *t = layers[i]->type;
        if (t->recurrent || t->fit ||
            !in_tracks(layers[i]->children, layers[i]->child_count))
            return false;
    }
    return true;
}

/* Micro-batches of few sequences are as good as larger ones: no sums over the batch, no layer that
 * has all sequences in a product, no tables of the first stage. */
static bool model_in_tracks(const struct model *m)
{
    return features_steps(&m->inputs.features) > 1 && !m->buffers && !m->inputs.params &&
           !m->carried && !m->layers[0]->pairs.count && !m->layers[0]->texts.count &&
           in_tracks(m->layers, m->layer_count);
}

/* Steps of a micro-batch, unless that gives too many micro-batches: a routine lists the operations
 * of each. */
enum { TRACK_STEPS = 256, MICROS_MOST = 256 };

/* A track costs a gradient of all weights: one for 4 micro-batches, or for 16 sequences if these
 * are more (the shards of plan_series_shards). */
static uint32_t tracks_of(uint32_t whole, uint32_t micro)
{
    uint32_t wanted = micro / 4 > whole / 16 ? micro / 4 : whole / 16;
    uint32_t most = micro < NET_TRACKS_MOST ? micro : NET_TRACKS_MOST;
    return wanted < 2 ? 2 : wanted < most ? wanted : most;
}

void network_plan_tracks(const struct architecture *a, const struct features *f,
                         const struct machine *m, struct plan *plan)
{
    struct err e = {0};
    uint32_t steps = features_steps(f), whole = plan->batch * plan->micro;
    uint32_t most = steps < TRACK_STEPS ? TRACK_STEPS / steps : 1;
    uint32_t least = (whole + MICROS_MOST - 1) / MICROS_MOST;
    most = most < least ? least : most;
    struct model *of = machine_in_place(m) && steps > 1 && whole > most
                           ? model_plan(a, f, 1, 1, true, &e) : NULL;
    if (of && model_in_tracks(of)) {
        uint32_t micro = (whole + most - 1) / most;
        machine_plan(m, (whole + micro - 1) / micro, micro, plan);
        plan->shards = plan->tracks = tracks_of(whole, micro);
    }
    model_free(of);
}

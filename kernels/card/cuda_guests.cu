/* cuda_guests.cu - what the libraries of NVIDIA have in common: who asks for them, at which sizes
 * they are faster, their names in a plan, their failures. */
#include <stdio.h>
#include <string.h>

#include "card/cuda_guests.cuh"

extern "C" {
#include "base/fault.h"
#include "base/log.h"
}

/* The config asks for the library; a test build by DNN_GUESTS=always or its name, and any other
 * word says no. */
static bool asked(const struct card *m, const struct card_guest *g)
{
    static const unsigned bits[GUESTS] = {GUESTS_CUBLASLT, GUESTS_CUDNN, 0};
    const char *word = fault_setting("GUESTS");
    if (!word)
        return (m->guests & bits[g->id]) != 0;
    return strcmp(word, "always") == 0 || strcmp(word, guest_name(g->id)) == 0;
}

static bool is_emulated(const struct card *m)
{
    return strcmp(m->device.core, "emulated") == 0;
}

bool cuda_guest_may(const struct card *m)
{
    const char *word = fault_setting("GUESTS");
    return word ? strcmp(word, "rule") == 0 : (m->guests & GUESTS_BY_TABLE) && !is_emulated(m);
}

const struct guest_row *cuda_guest_row(const struct card *m, const struct guest_row *rows,
                                       size_t count, uint32_t of, double size)
{
    int capability = is_emulated(m) ? (int)GUEST_EMULATED : m->device.capability;
    const struct guest_row *best = NULL;
    for (size_t i = 0; i < count; i++)
        if (rows[i].capability == capability && rows[i].of == of && rows[i].least <= size &&
            (!best || best->least <= rows[i].least))
            best = &rows[i];
    return best;
}

double cuda_guest_saves(const struct guest_row *row, double operations)
{
    return row ? operations / row->ours - operations / row->theirs : 0;
}

/* --- opening --- */

/* "cuBLASLt 13.1.0", as in a plan. */
static const char *full_name(const struct card_guest *g, char *to, size_t room)
{
    snprintf(to, room, "%s %s", guest_name(g->id), guest_version_text(g->library.version));
    return to;
}

bool cuda_guest_load(struct card_guest *g)
{
    if (!g->loaded)
        g->find(g);
    g->loaded = true;
    return g->library.library != NULL;
}

void cuda_guest_want(struct card *m, struct card_guest *g, bool wanted)
{
    if (wanted && !g->tried && !cuda_lost(m)) {
        g->tried = true;
        g->open(m, g);
    }
    g->on = wanted && g->handle && !g->failed;
}

void cuda_guest_init(struct card *m, struct card_guest *g, enum guest_id id)
{
    g->id = id;
    g->all = asked(m, g);
    cuda_guest_want(m, g, g->all);
}

void cuda_guest_obey(struct card *m, struct card_guest *g, const struct plan *plan)
{
    char name[64];
    cuda_guest_want(m, g, strstr(plan->guests, guest_name(g->id)) && cuda_guest_load(g) &&
                              strstr(plan->guests, full_name(g, name, sizeof name)));
}

void cuda_guest_opened(struct card_guest *g)
{
    char name[64];
    log_line("dnn_gpu: in the place of our kernels: %s", full_name(g, name, sizeof name));
}

void cuda_guest_cannot(const struct card_guest *g, bool warns, const char *why)
{
    (warns ? log_warning : log_debug)("dnn_gpu: %s cannot serve (%s): our own kernels do",
                                      guest_name(g->id), why);
}

void cuda_guest_add(const struct card_guest *g, struct plan *plan)
{
    char name[64];
    size_t used = strlen(plan->guests);
    if (g->on)
        snprintf(plan->guests + used, sizeof plan->guests - used, "%s%s", used ? "; " : "",
                 full_name(g, name, sizeof name));
}

/* The library has its own runtime. Ours learns of its errors only by a query of the stream, which a
 * capture forbids. */
void cuda_guest_fail(struct card *m, struct card_guest *g, const char *call, int status)
{
    cudaError_t code = m->capturing ? call_PeekAtLastError(m->runtime)
                                    : call_StreamQuery(m->runtime, m->stream);
    g->on = false;
    g->failed = true;
    if (cuda_ended(m->runtime)) { /* the card itself has failed */
        cuda_good(m, code, call);
        return;
    }
    log_warning("dnn_gpu: %s failed (%s: %d); our own kernels serve from here on: the result is as "
                "good, but not the same bytes as without the failure", guest_name(g->id), call,
                status);
}

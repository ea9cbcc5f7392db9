/* cuda_guest.cu - guests on a card: which may serve, opened before the plan is made, so that the
 * plan tells; obeyed as a plan has it; off after their first failure. */
#include <stdio.h>
#include <string.h>

#include "cuda_guest.cuh"

/* As before the first failure: kernels that nobody has used yet may not begin in a capture. */
static bool everything(const struct machine *machine)
{
    const struct card *m = card_of(machine);
    bool serves = false;
    for (int i = 0; m->guests && i < GUESTS; i++)
        serves |= m->guests->use[i].on || m->guests->use[i].failed;
    return serves && guest_rule_always();
}

static const struct guest_door door = {everything, cublaslt_takes, cublaslt_product, cudnn_act,
                                       cudnn_act_back};
static const struct {
    enum guest_id id;
    bool (*open)(struct card *m);
    void (*close)(struct card *m);
} kinds[] = {{GUEST_CUBLASLT, cublaslt_open, cublaslt_close},
             {GUEST_CUDNN, cudnn_open, cudnn_close}};

/* What a library may use while it computes: as NVIDIA advises for the kind of card, of small cards
 * a part. */
static size_t workspace_of(const struct card *m)
{
    size_t advised = (size_t)(m->device.capability >= 90 ? 32 : 4) << 20;
    size_t part = (size_t)(m->device.total / 64);
    return part < advised ? part / 256 * 256 : advised;
}

/* A guest has a runtime of its own, whose errors ours does not know until it looks at the card,
 * which in a capture it may not. */
void guest_failed(struct card *m, enum guest_id id, const char *call, int status)
{
    struct guests *g = m->guests;
    cudaError_t code = m->capturing ? call_PeekAtLastError() : call_StreamQuery(m->stream);
    g->use[id].on = false;
    g->use[id].failed = true;
    if (cuda_ended()) { /* no fault of the library's alone */
        cuda_good(m, code, call);
        return;
    }
    log_warning("dnn_gpu: %s failed (%s: %d); our own kernels serve from here on: the result is as "
                "good, but not the same bytes as without the failure",
                guest_name(id), call, status);
}

bool guest_other(enum guest_id id, const char *call, int status)
{
    unsigned newer = guest_find(id)->version;
    if (cuda_ended() || !guest_next(id))
        return false;
    log_note("dnn_gpu: %s %s cannot serve (%s: %d); %s is tried", guest_name(id),
             guest_version_text(newer), call, status, guest_version_text(guest_find(id)->version));
    return true;
}

/* One that is there and cannot serve is worth a warning, one that is not there a note. */
static void say_why_not(enum guest_id id)
{
    const struct guest *found = guest_find(id);
    if (strstr(found->why, "is not found"))
        log_note("dnn_gpu: no %s (%s): our own kernels serve", guest_name(id), found->why);
    else
        log_warning("dnn_gpu: %s cannot serve (%s): our own kernels do", guest_name(id),
                    found->why);
}

/* --- which is faster here --- */

static float milliseconds(struct card *m, guest_run *run, const void *with, int *status)
{
    enum { TIMES = 5 };
    cudaEvent_t events[2] = {};
    float ms = -1;
    bool good = true;
    for (int i = 0; i < 2 && good; i++)
        good = CUDA(m, EventCreateWithFlags, (&events[i], cudaEventDefault));
    for (int i = 0; i <= TIMES && good && *status == 0; i++) {
        *status = run(m, with);
        if (i == 0) /* the first loads its code */
            good = CUDA(m, EventRecord, (events[0], m->stream));
    }
    good = good && CUDA(m, EventRecord, (events[1], m->stream)) &&
           cuda_await(m, events[1], m->patience) &&
           CUDA(m, EventElapsedTime, (&ms, events[0], events[1]));
    for (int i = 0; i < 2; i++)
        if (events[i] && !cuda_gone(m))
            CUDA(m, EventDestroy, (events[i]));
    return good ? ms / TIMES : -1;
}

int guest_faster(struct card *m, enum guest_id id, const char *what, guest_run *own,
                 guest_run *guest, const void *with, bool *faster)
{
    int status = 0;
    float ours = milliseconds(m, own, with, &status);
    float theirs = milliseconds(m, guest, with, &status);
    *faster = status == 0 && theirs >= 0 && theirs < ours;
    if (status == 0 && !cuda_lost(m))
        log_info("dnn_gpu: %s: %s %.1f us, our kernel %.1f us", what, guest_name(id),
                 (double)theirs * 1e3, (double)ours * 1e3);
    return status;
}

/* --- opening --- */

static void say_choice(enum guest_id id, const struct guest_rule *rule)
{
    char text[64] = "";
    guest_rule_write(id, guest_find(id)->version, rule, text, sizeof text);
    log_line("dnn_gpu: in the place of our kernels: %s", text);
}

static void open_guest(struct card *m, size_t kind, const struct guest_rule *rule)
{
    enum guest_id id = kinds[kind].id;
    struct guest_use *use = &m->guests->use[id];
    use->rule = *rule;
    if (!use->tried && !guest_find(id)->library)
        say_why_not(id);
    else if (!use->tried)
        use->on = kinds[kind].open(m);
    else
        use->on = use->handle && !use->failed;
    if (use->on)
        guest_door = &door;
    if (use->on && !use->tried && m->guests->trains)
        say_choice(id, rule);
    use->tried = true;
}

/* Those that the rules of this card name for its precision. */
static void open_by_rules(struct card *m)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !cuda_lost(m); i++) {
        struct guest_rule rule = {1, 1, true};
        if (m->guests->use[kinds[i].id].tried)
            continue;
        if (m->guests->timed || guest_rule_find(kinds[i].id, m->device.core,
                                                cuda_precision_name(m), &rule))
            open_guest(m, i, &rule);
    }
}

void cuda_guests_begin(struct card *m, const struct machine_options *o)
{
    struct guests *g = m->guests = (struct guests *)mem_zero(1, sizeof *g);
    g->may = o->blas || guest_rule_always();
    g->trains = o->blas;
    g->timed = o->blas && o->timed;
    g->workspace = workspace_of(m);
    if (g->may)
        open_by_rules(m);
}

void cuda_guests_end(struct card *m)
{
    if (!m->guests)
        return;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !cuda_gone(m); i++)
        if (m->guests->use[kinds[i].id].handle)
            kinds[i].close(m);
    mem_free(m->guests->served);
    mem_free(m->guests);
    m->guests = NULL;
}

void cuda_guests_plan(const struct card *m, struct plan *plan)
{
    plan->guests[0] = '\0';
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct guest_use *use = &m->guests->use[kinds[i].id];
        if (use->on)
            guest_rule_write(kinds[i].id, guest_find(kinds[i].id)->version, &use->rule,
                             plan->guests, sizeof plan->guests);
    }
}

void cuda_guests_obey(struct card *m, const struct plan *plan)
{
    struct guests *g = m->guests;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && g->may && !cuda_lost(m); i++) {
        enum guest_id id = kinds[i].id;
        struct guest_rule rule;
        if (!strstr(plan->guests, guest_name(id))) {
            g->use[id].on = false;
            continue;
        }
        if (!guest_rule_read(plan->guests, id, guest_find(id)->version, &rule)) {
            g->use[id].on = false; /* another version: other bits */
            continue;
        }
        open_guest(m, i, &rule);
    }
}

size_t cuda_guests_scratch(const struct card *m, enum op_id op)
{
    bool product = op == OP_dense || op == OP_dense_back;
    return product && m->guests->use[GUEST_CUBLASLT].on ? SCRATCH_HEAD + m->guests->workspace : 0;
}

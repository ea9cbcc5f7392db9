/* copies.cc - asynchronous copies: each lands at a moment drawn between its issue and its wait, so
 * that a read too early and a source overwritten both show. */
#include <string.h>

#include "device.cuh"
#include "emulate.h"

/* Counts one event of this lane; copies whose time has come land. */
static void pass(struct lane *l)
{
    for (unsigned i = 0; i < l->pending_count; i++) {
        struct pending_copy *p = &l->pending[i];
        if (!p->delivered && p->after-- == 0) {
            memcpy(p->to, p->from, p->bytes);
            p->delivered = true;
        }
    }
}

void emulate_copy(void *to, const void *from, unsigned bytes)
{
    struct lane *l = emulate.lane;
    if (((uintptr_t)to | (uintptr_t)from) % bytes)
        emulate_find(FIND_BOUNDS, "copy_async of %u bytes between addresses not multiples of it",
                     bytes);
    const unsigned char *room = l->block->shared;
    if (to < (const void *)room || to >= (const void *)(room + SHARED_BYTES))
        emulate_find(FIND_BOUNDS, "copy_async to what is no shared memory of the block");
    if (l->pending_count == PENDING) {
        emulate_find(FIND_LAUNCH, "more than %d copies of one lane on their way", PENDING);
        emulate_copy_wait(0);
    }
    shadow_copy_issued(to, from, bytes, __builtin_return_address(0));
    emulate_counts.copied += bytes;
    l->pending[l->pending_count++] = {to, from, bytes, l->open_group, emulate_draw() % 8, false};
    pass(l);
}

void emulate_copy_commit(void)
{
    emulate.lane->open_group++;
    pass(emulate.lane);
}

/* Groups below open_group - left are complete; copies of the group still open are not waited for.
 */
void emulate_copy_wait(unsigned left)
{
    struct lane *l = emulate.lane;
    unsigned kept = 0;
    for (unsigned i = 0; i < l->pending_count; i++) {
        struct pending_copy *p = &l->pending[i];
        bool complete = p->group + left < l->open_group;
        if (complete) {
            if (!p->delivered)
                memcpy(p->to, p->from, p->bytes);
            shadow_copy_landed(p->to, p->from, p->bytes);
        } else {
            l->pending[kept++] = *p;
        }
    }
    l->pending_count = kept;
    pass(l);
}

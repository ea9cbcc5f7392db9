/* step.cu - the end of a step as a kernel of its own; usually it is part of the optimiser
 * (optim.cu). */
#include "ops/step.cuh"

enum { LANES_OF_BLOCK = 256 };

KERNEL_BOUNDED(LANES_OF_BLOCK, end_step)(struct op_advance a)
{
    SHARED(struct step_inputs, ending, 1);
    if (thread_id() == 0)
        step_end_read(ending, a);
    sync_block();
    end_of_step(a, ending);
}

void cuda_advance(struct machine *m, const struct op_advance *a)
{
    LAUNCH(end_step, dim3(1), dim3(LANES_OF_BLOCK), 0, m, *a);
}

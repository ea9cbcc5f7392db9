/* processor.h - what DNN_CPU lets be used of this processor. Private to src/csv and src/table. */
#ifndef DNN_CSV_PROCESSOR_H
#define DNN_CSV_PROCESSOR_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Unset, or set to this kind: c, sse2, avx2, avx512. Whether the processor has it is asked apart.
 */
static inline bool processor_may(const char *kind)
{
    const char *said = getenv("DNN_CPU");
    return !said || !*said || strcmp(said, kind) == 0;
}

#endif

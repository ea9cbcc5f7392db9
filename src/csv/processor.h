/* processor.h - which vector code a test allows. Private to src/csv and src/table. */
#ifndef DNN_CSV_PROCESSOR_H
#define DNN_CSV_PROCESSOR_H

#include <stdbool.h>
#include <string.h>

#include "base/fault.h"

/* False: a test has set another kind than this one (c, sse2, avx2, avx512). Says nothing about what
 * the processor has. */
static inline bool processor_may(const char *kind)
{
    const char *said = fault_setting("CPU");
    return !said || strcmp(said, kind) == 0;
}

#endif

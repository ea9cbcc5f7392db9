/* processor.h - the vector code that a test allows. Private to src/csv and src/table. */
#ifndef DNN_CSV_PROCESSOR_H
#define DNN_CSV_PROCESSOR_H

#include <stdbool.h>
#include <string.h>

#include "base/fault.h"

/* False if a test forces another kind of code (c, sse2, avx2, avx512). Does not check the
 * processor. */
static inline bool processor_may(const char *kind)
{
    const char *said = fault_setting("CPU");
    return !said || strcmp(said, kind) == 0;
}

#endif

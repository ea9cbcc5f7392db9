/* record.h - reads one value of a record (base/rowfmt.h) at any alignment. */
#ifndef DNN_TABLE_RECORD_H
#define DNN_TABLE_RECORD_H

#include <string.h>

#include "base/rowfmt.h"

static inline float record_number(const unsigned char *record, uint32_t slot)
{
    float v;
    memcpy(&v, record + 4 * (size_t)slot, sizeof v);
    return v;
}

static inline float record_float(const unsigned char *record, uint32_t at)
{
    float v;
    memcpy(&v, record + at, sizeof v);
    return v;
}

static inline int32_t record_int(const unsigned char *record, uint32_t at)
{
    int32_t v;
    memcpy(&v, record + at, sizeof v);
    return v;
}

#endif

/* schema_saved.h - how a fitted schema lies in a model file. Private to schema_save.c
 * and schema_load.c.
 *
 *   schema.settings   I64 [SAVED_SETTINGS]          enum saved_setting
 *   schema.columns    I64 [columns][SAVED_COLUMN]   enum saved_column
 *   schema.numbers    F64 [numbers][SAVED_NUMBER]   enum saved_number; absent without numbers
 *   schema.quantiles  F32 [knots]                   of all quantile scales; absent without one
 *   schema.target     F64 [2]                       center and scale of a regression target
 *   schema.T_offsets  I64 [n + 1]                   n texts: text i is bytes offsets[i] ..
 *   schema.T_bytes    U8  [total + 1]               offsets[i + 1]; a 0 byte ends them all
 *
 * T: names (of the columns), missing, labels, and categories (column by column, in the order of
 * their slots). */
#ifndef DNN_TABLE_SCHEMA_SAVED_H
#define DNN_TABLE_SCHEMA_SAVED_H

#include "base/json.h"

/* Of data.missing: as many texts as a config has room for, each with its quotes and a comma. */
#define SAVED_MISSING_MOST (JSON_MOST_BYTES / 3)

/* The names, for the writer, the reader and schema_tensor. */
#define SAVED_IN_SETTINGS "schema.settings"
#define SAVED_IN_COLUMNS "schema.columns"
#define SAVED_IN_NUMBERS "schema.numbers"
#define SAVED_IN_QUANTILES "schema.quantiles"
#define SAVED_IN_TARGET "schema.target"
#define SAVED_TEXTS(T) "schema." T "_offsets", "schema." T "_bytes"
#define SAVED_IN_NAMES SAVED_TEXTS("names")
#define SAVED_IN_MISSING SAVED_TEXTS("missing")
#define SAVED_IN_LABELS SAVED_TEXTS("labels")
#define SAVED_IN_CATEGORIES SAVED_TEXTS("categories")
#define SAVED_TENSORS                                                                       \
    SAVED_IN_SETTINGS, SAVED_IN_COLUMNS, SAVED_IN_NUMBERS, SAVED_IN_QUANTILES, SAVED_IN_TARGET, \
        SAVED_IN_NAMES, SAVED_IN_MISSING, SAVED_IN_LABELS, SAVED_IN_CATEGORIES

enum saved_setting {
    SAVED_LAYOUT, /* SAVED_LAYOUT_NOW */
    SAVED_TASK, SAVED_DELIMITER, SAVED_HEADER, SAVED_TSV, SAVED_ENCODING, SAVED_DECIMAL,
    SAVED_TARGET, SAVED_FILE_COLUMNS, SAVED_SETTINGS
};
enum { SAVED_LAYOUT_FIRST = 1, SAVED_LAYOUT_NOW = 2 };

enum saved_column {
    SAVED_TYPE, SAVED_SCALE, SAVED_IMPUTE, SAVED_UNKNOWN, SAVED_ENCODE, SAVED_MIN_COUNT, SAVED_DIM,
    SAVED_MISSING, SAVED_VALUES, SAVED_COLUMN
};

enum saved_number {
    SAVED_OFFSET, SAVED_NUMBER_SCALE, SAVED_CENTER, SAVED_FACTOR, SAVED_FILL, SAVED_INDICATOR,
    SAVED_KNOTS, SAVED_LOW, SAVED_HIGH, SAVED_NUMBER_FIRST, /* all that layout 1 has */
    SAVED_LEAST = SAVED_NUMBER_FIRST, SAVED_MOST, SAVED_NUMBER
};

#endif

/* label_list.h - labels that are lists: cells of several labels, as a|b, a;b, a, b or ['a', 'b'].
 * dnn learns one label a row, and each combination would be a class of its own. */
#ifndef DNN_TABLE_LABEL_LIST_H
#define DNN_TABLE_LABEL_LIST_H

#include "base/text.h"
#include "table/schema/vocab.h"

/* True if labels are lists by one separator: their pieces recur in other labels, or pieces of | and
 * ; are also labels alone (a|b and a), or all labels are as ['a', 'b']. Adds to `out` what
 * that means and what to do. target: its name. */
bool label_list_tell(const struct vocab *labels, const char *target, struct text *out);

#endif

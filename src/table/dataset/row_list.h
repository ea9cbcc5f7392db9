/* row_list.h - the windows that a run reads of some groups. */
#ifndef DNN_TABLE_ROW_LIST_H
#define DNN_TABLE_ROW_LIST_H

#include "table/dataset/dataset.h"

/* Lists the windows of some groups, and their answers: of each row with a target, or of each window
 * whose last row has one. Windows without an answer are left out, unless state is carried. Caller:
 * row_list_free. */
void row_list_windows(const struct dataset *d, const uint32_t *groups, uint64_t count,
                      struct row_list *to);

#endif

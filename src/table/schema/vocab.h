/* vocab.h - a set of distinct texts with an index each: categories, names, keys. */
#ifndef DNN_TABLE_VOCAB_H
#define DNN_TABLE_VOCAB_H

#include <stddef.h>
#include <stdint.h>

struct vocab;
struct vocab *vocab_new(void);
void vocab_free(struct vocab *v);
/* Most categories of one column in a model. vocab_add has no such limit. */
#define VOCAB_MOST 1048576u
/* Adds a text if it is new. Returns its index, from 0 in order of arrival. */
uint32_t vocab_add(struct vocab *v, const char *text, size_t length);
/* Returns the index; UINT32_MAX: absent. */
uint32_t vocab_find(const struct vocab *v, const char *text, size_t length);
uint32_t vocab_count(const struct vocab *v);
/* Returns text i, NUL-terminated. length may be NULL. */
const char *vocab_text(const struct vocab *v, uint32_t i, size_t *length);
/* Sorts: by value if all are numbers ("+1", too), else by bytes. order[old] = new. */
void vocab_sort(struct vocab *v, uint32_t *order);
/* Finds equal numbers in a sorted vocabulary of numbers: the first value equal to its predecessor
 * ("1.0" after "1"); UINT32_MAX: none. */
uint32_t vocab_same_number(const struct vocab *v);
/* Moves value i to place order[i]. */
void vocab_order(struct vocab *v, const uint32_t *order);

#endif

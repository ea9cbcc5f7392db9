/* vocab.h - texts that differ, each with a number: the categories of a column, names, keys. */
#ifndef DNN_TABLE_VOCAB_H
#define DNN_TABLE_VOCAB_H

#include <stddef.h>
#include <stdint.h>

struct vocab;
struct vocab *vocab_new(void);
void vocab_free(struct vocab *v);
/* Categories of one column that a model may hold; vocab_add itself has no such limit. */
#define VOCAB_MOST 1048576u
/* The index, from 0 in order of arrival. */
uint32_t vocab_add(struct vocab *v, const char *text, size_t length);
/* UINT32_MAX when absent. */
uint32_t vocab_find(const struct vocab *v, const char *text, size_t length);
uint32_t vocab_count(const struct vocab *v);
/* NUL-terminated; length may be NULL. */
const char *vocab_text(const struct vocab *v, uint32_t i, size_t *length);
/* Numbers as numbers if all are ("+1", too), else by bytes; order[old] = new. */
void vocab_sort(struct vocab *v, uint32_t *order);
/* Of values that are all numbers, equal ones side by side: the first that is the same number as the
 * one before it ("1.0" behind "1"); UINT32_MAX: none is. */
uint32_t vocab_same_number(const struct vocab *v);
/* Puts value i in place order[i]. */
void vocab_order(struct vocab *v, const uint32_t *order);
/* Keeps the values with keep[i] != 0, in their order; order[old] = new, UINT32_MAX for those
 * dropped. */
void vocab_keep(struct vocab *v, const uint8_t *keep, uint32_t *order);

#endif

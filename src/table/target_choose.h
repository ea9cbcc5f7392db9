/* target_choose.h - target_transform "auto": which function of a regression target to learn. Each
 * is tried with an additive model (one effect for each value of a category and each of some 32
 * ranges of a number, fitted one column after another with a penalty: Hastie and Tibshirani,
 * Generalized Additive Models, 1990, chapter 4), on training rows; the smallest root mean squared
 * error on the validation rows, in the units of the file, wins. "none" wins unless another one is
 * 1 % better. Private to encoder*.c. */
#ifndef DNN_TABLE_TARGET_CHOOSE_H
#define DNN_TABLE_TARGET_CHOOSE_H

#include "table/encoder_fit.h"

/* Chooses by f->rows and f->judges, evenly spread samples of them; without judges every fourth of
 * the rows judges. Behind numbers and categories; raw rows. The answer depends on those rows alone,
 * not on threads. log is tried where all these targets are above 0. Fills *choice. */
void target_choose(const struct fit *f, struct target_choice *choice);

#endif

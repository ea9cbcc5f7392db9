/* tally_less.c - the sums of all rows without those of a group. */
#include "measure/tally.h"

#define ROUNDING 1e-12 /* of a sum: less is nothing */

static double less(double all, double part)
{
    const double rest = all - part;
    return rest > ROUNDING * all || rest < -ROUNDING * all ? rest : 0;
}

static void less_each(double *rest, const double *all, const double *part, size_t count)
{
    for (size_t i = 0; i < count; i++)
        rest[i] = less(all[i], part[i]);
}

static void less_classes(struct tally *rest, const struct tally *all, const struct tally *part)
{
    less_each(rest->support, all->support, part->support, all->classes);
    less_each(rest->answered, all->answered, part->answered, all->classes);
    less_each(rest->hit, all->hit, part->hit, all->classes);
    for (size_t i = 0; i < TALLY_BINS; i++) {
        struct tally_bin *r = &rest->bins[i];
        const struct tally_bin *a = &all->bins[i], *p = &part->bins[i];
        *r = (struct tally_bin){less(a->rows, p->rows), less(a->weight, p->weight),
                                less(a->predicted, p->predicted), less(a->observed, p->observed)};
    }
    rest->loss.sum = less(all->loss.sum, part->loss.sum);
    rest->brier.sum = less(all->brier.sum, part->brier.sum);
    rest->right = less(all->right, part->right);
    less_each(rest->own.right, all->own.right, part->own.right, F1_CLASSES);
    less_each(rest->own.all, all->own.all, part->own.all, F1_CLASSES);
}

static void less_values(struct tally *rest, const struct tally *all, const struct tally *part)
{
    rest->square.sum = less(all->square.sum, part->square.sum);
    rest->absolute.sum = less(all->absolute.sum, part->absolute.sum);
    rest->pinball.sum = less(all->pinball.sum, part->pinball.sum);
    less_each(rest->below, all->below, part->below, QUANTILES_MOST);
    rest->covered = less(all->covered, part->covered);
    /* Chan, Golub and LeVeque, 1979: the squares of the whole are the squares of both parts, plus
     * the distance of their means */
    const double w = rest->weight;
    if (!(w > 0))
        return;
    rest->target_mean = all->target_mean +
                        (all->target_mean - part->target_mean) * (part->weight / w);
    const double apart = rest->target_mean - part->target_mean;
    rest->target_square = less(all->target_square,
                               part->target_square +
                                   apart * apart * w * part->weight / all->weight);
}

void tally_less(struct tally *rest, const struct tally *all, const struct tally *part)
{
    rest->rows = all->rows - part->rows;
    rest->weight = less(all->weight, part->weight);
    rest->inside = less(all->inside, part->inside);
    rest->size.sum = less(all->size.sum, part->size.sum);
    rest->own.loss = less(all->own.loss, part->own.loss);
    rest->own.weight = less(all->own.weight, part->own.weight);
    if (all->classes)
        less_classes(rest, all, part);
    else
        less_values(rest, all, part);
}

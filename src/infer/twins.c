/* twins.c - values that are one but for the way they are written, and codes that are one as
 * numbers. */
#include "base/text.h"
#include "infer/survey.h"
#include "table/schema/twins.h"

/* 110E1 and 11E2 are one number. Of a target, infer_target decides (label.h). */
static void find_codes(const struct column_profile *w, struct infer_column *c)
{
    uint32_t one, other;
    if (c->type != COLUMN_NUMERIC || c->form || w->texts || !twins_codes(w->values, &one, &other))
        return;
    c->numbers = true;
    infer_set(c, COLUMN_CATEGORICAL,
              "codes, taken as categories: as numbers \"%.40s\" and \"%.40s\" would be one; for "
              "numbers give it the type numeric",
              text_quote_z(vocab_text(w->values, one, NULL)),
              text_quote_z(vocab_text(w->values, other, NULL)));
}

void infer_twins(const struct survey *s, struct infer *i)
{
    for (size_t k = 0; k < s->count; k++) {
        const struct column_profile *w = &s->profiles[k];
        struct infer_column *c = &i->columns[k];
        struct text list = {0};
        find_codes(w, c);
        if (c->type == COLUMN_CATEGORICAL && !w->texts && twins_list(w->values, &list))
            c->twins = list.data; /* the target's are told by infer_labels */
        else
            text_free(&list);
    }
}

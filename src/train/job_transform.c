/* job_transform.c - says what target_transform "auto" chose. */
#include "base/log.h"
#include "base/text.h"
#include "train/ensemble.h"
#include "train/job.h"

void transforms_add(struct transforms *t, const struct target_choice *c)
{
    if (!c->made)
        return;
    if (!t->all++)
        t->first = *c;
    t->of[c->transform]++;
}

void transforms_add_runs(struct transforms *t, const struct ensemble *n)
{
    for (uint32_t i = 0; i < n->runs; i++)
        transforms_add(t, &n->encoders[i]->choice);
}

static void say_one(const struct target_choice *c, struct text *line)
{
    text_printf(line, "%s", target_transform_names[c->transform]);
    if (!c->judged)
        text_printf(line, ": rows or columns are too few to choose by");
    for (int k = TARGET_NONE; c->judged && k < TARGET_AUTO; k++)
        if (c->error[k] == c->error[k])
            text_printf(line, "%s%s %s", k ? ", " : " (rmse of a quick model: ",
                        target_transform_names[k], text_figure(c->error[k], 4));
    if (c->judged)
        text_printf(line, ")");
}

void transforms_say(const struct transforms *t)
{
    struct text line = {0};
    const char *and = "";
    if (!t->all)
        return;
    text_printf(&line, "target_transform auto: ");
    if (t->all == 1)
        say_one(&t->first, &line);
    for (int k = TARGET_NONE; t->all > 1 && k < TARGET_AUTO; k++)
        if (t->of[k]) {
            text_printf(&line, "%s%s in %u of %u networks", and, target_transform_names[k],
                        t->of[k], t->all);
            and = ", ";
        }
    log_note("%s", line.data);
    text_free(&line);
}

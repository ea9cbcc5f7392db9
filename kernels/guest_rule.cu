/* guest_rule.cu - when a guest serves: the table, what the environment says in its place, and the
 * choice as a plan keeps it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest.cuh"

extern "C" {
#include "base/fault.h"
}

struct row { enum guest_id id; const char *core, *precision; struct guest_rule rule; };
#define RULE(id, core, precision, side, work) {id, core, precision, {side, work, false}},
static const struct row rows[] = {
#include "guest_rules.def"
    {GUESTS, "", "", {0, 0, false}}};
#undef RULE

static const char *asked(void)
{
    return fault_setting("GUESTS");
}

bool guest_rule_always(void)
{
    const char *word = asked();
    return word && strcmp(word, "always") == 0;
}

/* "cuBLASLt:fp32:64:1048576,cuDNN:fp32:16:4096" */
static bool from_list(const char *list, enum guest_id id, const char *precision,
                      struct guest_rule *r)
{
    while (list) {
        char library[16], how[8];
        unsigned side;
        unsigned long long work;
        if (sscanf(list, "%15[^:,]:%7[^:,]:%u:%llu", library, how, &side, &work) == 4 &&
            strcmp(library, guest_name(id)) == 0 && strcmp(how, precision) == 0) {
            *r = guest_rule{side, work, false};
            return true;
        }
        list = strchr(list, ',');
        list = list ? list + 1 : NULL;
    }
    return false;
}

bool guest_rule_find(enum guest_id id, const char *core, const char *precision,
                     struct guest_rule *r)
{
    const char *word = asked();
    *r = guest_rule{1, 1, false};
    if (guest_rule_always())
        return true;
    if (word)
        return from_list(word, id, precision, r);
    for (const struct row *at = rows; at->id != GUESTS; at++)
        if (at->id == id && strcmp(at->core, core) == 0 && strcmp(at->precision, precision) == 0) {
            *r = at->rule;
            return true;
        }
    return false;
}

void guest_rule_write(enum guest_id id, unsigned version, const struct guest_rule *r, char *to,
                      size_t room)
{
    size_t used = strlen(to);
    const char *between = used ? "; " : "", *name = guest_name(id);
    if (r->timed)
        snprintf(to + used, room - used, "%s%s %s timed", between, name,
                 guest_version_text(version));
    else
        snprintf(to + used, room - used, "%s%s %s from %u and %llu", between, name,
                 guest_version_text(version), r->side, (unsigned long long)r->work);
}

bool guest_rule_read(const char *plan, enum guest_id id, unsigned version, struct guest_rule *r)
{
    char begin[48];
    unsigned side;
    unsigned long long work;
    snprintf(begin, sizeof begin, "%s %s ", guest_name(id), guest_version_text(version));
    const char *at = strstr(plan, begin);
    if (!at)
        return false;
    at += strlen(begin);
    *r = guest_rule{1, 1, strncmp(at, "timed", 5) == 0};
    if (r->timed)
        return true;
    if (sscanf(at, "from %u and %llu", &side, &work) != 2)
        return false;
    r->side = side;
    r->work = work;
    return true;
}

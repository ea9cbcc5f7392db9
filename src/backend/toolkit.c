/* toolkit.c - see toolkit.h. Oldest first. Builds of 11.8 would run with driver 450.80.02, but
 * kernels are started by a call that drivers have from 11.8 on (kernels/card/cudart.def). */
#include "backend/toolkit.h"

static const struct toolkit toolkits[] = {
    {118, 118, "520.61.05", "8.6 to 9.10", 75, 90, "Hopper (H100, H200)"},
    {120, 127, "525.60.13", "8.8 or newer", 75, 90, "Hopper (H100, H200)"},
    {128, 129, "525.60.13 (Blackwell: 570.26)", "9.7 or newer", 75, 121,
     "Blackwell (B200, RTX 50)"},
    {130, 139, "580.65.06", "9.12 or newer", 75, 121, "Blackwell (B200, RTX 50)"},
};
enum { TOOLKITS = sizeof toolkits / sizeof *toolkits };

const struct toolkit *toolkit_at(size_t i)
{
    return i < TOOLKITS ? &toolkits[i] : NULL;
}

const struct toolkit *toolkit_of(unsigned release)
{
    const struct toolkit *found = NULL;
    for (size_t i = 0; i < TOOLKITS; i++)
        if (toolkits[i].first <= release)
            found = &toolkits[i];
    return found;
}

const struct toolkit *toolkit_for(unsigned capability)
{
    for (size_t i = 0; i < TOOLKITS; i++)
        if (toolkits[i].least <= capability && capability <= toolkits[i].most)
            return &toolkits[i];
    return NULL;
}

/* backend_card.c - the row of a card is found by its name, else by its architecture; a part of a
 * card has a part of its figures. */
#include "backend/card.h"

#include "tap.h"

static const char *row(const char *name, const char *architecture)
{
    static struct card_figures f;
    card_find(name, architecture, &f);
    return f.name;
}

static bool near(double a, double b)
{
    return a > b * 0.999 && a < b * 1.001;
}

int main(void)
{
    is_string(row("NVIDIA H200", "sm_90"), "H200", "by its name");
    is_string(row("NVIDIA GH200 480GB", "sm_90"), "GH200", "a word is a whole word");
    is_string(row("NVIDIA A100-SXM4-80GB", "sm_80"), "A100 80GB", "dashes part words");
    is_string(row("NVIDIA A100-PCIE-40GB", "sm_80"), "A100", "the wider row");
    is_string(row("NVIDIA H100 80GB HBM3", "sm_90"), "H100", "words between do not matter");
    is_string(row("NVIDIA L40S", "sm_89"), "L40S", "L40S is no L4");
    is_string(row("NVIDIA L4", "sm_89"), "L4", "and no L40");
    is_string(row("NVIDIA GeForce RTX 3080 Ti", "sm_86"), "RTX 3080", "its sister");
    is_string(row("Tesla T4", "sm_75"), "T4", "an old name");
    is_string(row("NVIDIA Something New", "sm_90"), "unknown", "a new card");

    struct card_figures whole, part, other, none;
    card_find("NVIDIA A100-SXM4-40GB", "sm_80", &whole);
    card_find("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "sm_80", &part);
    ok(whole.known && near(part.fp32 * 7, whole.fp32) && near(part.memory * 7, whole.memory),
       "one of seven slices");
    ok(near(part.copy, whole.copy), "copies are not parted");
    card_find("NVIDIA GeForce RTX 4090 Laptop GPU", "sm_89", &part);
    card_find("NVIDIA GeForce RTX 4090", "sm_89", &whole);
    ok(near(part.fp32 * 2, whole.fp32), "in a laptop");
    card_find("NVIDIA Something New", "sm_90", &other);
    card_find("", "", &none);
    ok(!other.known && other.fp32 > none.fp32 && none.fp32 > 0, "by architecture, or by nothing");
    card_find("emulated", "emulated", &none);
    ok(none.copy <= 0 && none.fp32 <= 0 && none.memory <= 0 && none.start_s > 0,
       "nothing is claimed of an emulated card");

    card_find("NVIDIA H200", "sm_90", &whole);
    ok(near(card_rate(&whole, "fp32"), 55e12) && near(card_rate(&whole, "tf32"), 395e12) &&
           near(card_rate(&whole, "bf16"), 790e12), "a rate for each precision");
    card_find("Tesla T4", "sm_75", &part);
    ok(near(card_rate(&part, "tf32"), part.fp32) && card_rate(&part, "fp16") > part.fp32,
       "what a card lacks is fp32");
    return done();
}

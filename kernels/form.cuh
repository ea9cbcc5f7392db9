/* form.cuh - matrices whose numbers are fp32 or 16 bits, whichever their form says (enum act_form
 * in backend/ops.h): reading gives fp32, writing rounds to nearest.
 *
 * The layout: row by row, rows `ld` numbers apart, (row, col) at (row ld + col); no swizzle, no
 * tiles. If a training keeps 16 bits (form_kept), widths are multiples of 8, ld is the width, and
 * memory begins at a multiple of 64 bytes: each row at a multiple of 16.
 *
 *     activations x, y, z and their gradients   [rows][width]
 *     a weight's copy (shadow)                  [in][out] as the weight itself, each at a multiple
 *                                               of 32 bytes; out may be any number
 *
 * Matrices of parameters, gradients of parameters, logits and what gather writes are fp32. */
#ifndef DNN_KERNELS_FORM_CUH
#define DNN_KERNELS_FORM_CUH

#include "device.cuh"
#include "kernels.h"

HOST_DEVICE struct act form_act(const void *memory, uint32_t form)
{
    return {const_cast<void *>(memory), form, 0};
}
HOST_DEVICE struct act plain_act(const float *memory)
{
    return form_act(memory, FORM_REAL);
}
HOST_DEVICE uint32_t form_bytes(uint32_t form)
{
    return form == FORM_REAL ? 4 : 2;
}
/* `n` numbers further on. */
HOST_DEVICE struct act form_past(struct act p, uint64_t n)
{
    return form_act((char *)p.at + n * form_bytes(p.form), p.form);
}
HOST_DEVICE bool is_plain(struct act p)
{
    return p.form == FORM_REAL;
}
/* Four numbers at once begin at a multiple of four numbers. */
HOST_DEVICE bool form_fours(struct act p)
{
    return (uintptr_t)p.at % (4 * form_bytes(p.form)) == 0;
}

DEVICE float to_float(float x) { return x; }

/* --- one --- */

DEVICE float bits_to_float(uint32_t form, uint16_t bits)
{
    return form == FORM_BF16 ? to_float(bf16{bits}) : to_float(fp16{bits});
}
DEVICE uint16_t float_to_bits(uint32_t form, float x)
{
    return form == FORM_BF16 ? to_bf16(x).bits : to_fp16(x).bits;
}
DEVICE float form_get(struct act p, uint64_t i)
{
    uint32_t form = p.form;
    if (form == FORM_REAL)
        return ((const float *)p.at)[i];
    return bits_to_float(form, ((const uint16_t *)p.at)[i]);
}
/* form_get in two: the bits, and the number, which waits for them. */
DEVICE uint32_t form_bits(struct act p, uint64_t i)
{
    return p.form == FORM_REAL ? ((const uint32_t *)p.at)[i] : ((const uint16_t *)p.at)[i];
}
DEVICE float form_number(uint32_t form, uint32_t bits)
{
    return form == FORM_REAL ? float_of_word(bits) : bits_to_float(form, (uint16_t)bits);
}
DEVICE void form_put(struct act p, uint64_t i, float x)
{
    uint32_t form = p.form;
    if (form == FORM_REAL)
        ((float *)p.at)[i] = x;
    else
        ((uint16_t *)p.at)[i] = float_to_bits(form, x);
}

/* x rounded to the form of the matrix. */
DEVICE float form_round(struct act p, float x)
{
    uint32_t form = p.form;
    return form == FORM_REAL ? x : bits_to_float(form, float_to_bits(form, x));
}

/* --- V at once: one, or four at a multiple of four --- */

struct alignas(8) four_bits { uint32_t word[2]; };

template <int V> DEVICE void run_load(float (&v)[V], const float *p)
{
    if constexpr (V == 4) {
        four q = load4(p);
        UNROLL
        for (int i = 0; i < 4; i++)
            v[i] = q.v[i];
    } else {
        v[0] = *p;
    }
}
template <int V> DEVICE void run_store(float *p, const float (&v)[V])
{
    if constexpr (V == 4)
        store4(p, four{{v[0], v[1], v[2], v[3]}});
    else
        *p = v[0];
}
template <int V> DEVICE void run_load(float (&v)[V], struct act p, uint64_t i)
{
    uint32_t form = p.form;
    if (form == FORM_REAL) {
        run_load(v, (const float *)p.at + i);
    } else if constexpr (V == 4) {
        const uint16_t *at = (const uint16_t *)p.at + i;
        struct four_bits bits = *(const struct four_bits *)(const void *)at;
        UNROLL
        for (int k = 0; k < 4; k++)
            v[k] = bits_to_float(form, (uint16_t)(bits.word[k / 2] >> 16 * (k % 2)));
    } else {
        v[0] = form_get(p, i);
    }
}
template <int V> DEVICE void run_store(struct act p, uint64_t i, const float (&v)[V])
{
    uint32_t form = p.form;
    if (form == FORM_REAL) {
        run_store((float *)p.at + i, v);
    } else if constexpr (V == 4) {
        struct four_bits bits = {};
        UNROLL
        for (int k = 0; k < 4; k++)
            bits.word[k / 2] |= (uint32_t)float_to_bits(form, v[k]) << 16 * (k % 2);
        *(struct four_bits *)(void *)((uint16_t *)p.at + i) = bits;
    } else {
        form_put(p, i, v[0]);
    }
}

#endif

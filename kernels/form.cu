/* form.cu - the rules by which products are rounded and activations kept in 16 bits, by shape. */
#include "form.cuh"

enum product product_of(struct products by, uint32_t rows, uint32_t in, uint32_t out, bool exact)
{
    enum { NARROW = 16 };
    bool pays = !exact && in >= NARROW && out >= NARROW && (uint64_t)rows * in * out >= by.least;
    return pays ? by.how : PRODUCT_FP32;
}

uint32_t form_product(enum product how)
{
    return how == PRODUCT_BF16 ? FORM_BF16 : how == PRODUCT_FP16 ? FORM_FP16 : FORM_REAL;
}

uint32_t form_kept(struct products by, uint32_t rows, uint32_t width, bool back)
{
    enum { LEAST_WIDTH = 32, STEP = 8 };
    bool scaled = back && by.how == PRODUCT_FP16;
    bool pays = width >= LEAST_WIDTH && width % STEP == 0 && (uint64_t)rows * width >= by.kept;
    return pays && !scaled ? form_product(by.how) : (uint32_t)FORM_REAL;
}

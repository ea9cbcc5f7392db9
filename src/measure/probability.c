/* probability.c - softmax, the target's units, and numbers as text. */
#include "measure/probability.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

void answer_probabilities(const real *logits, uint64_t rows, uint32_t classes, double *probability)
{
    for (uint64_t r = 0; r < rows; r++) {
        const real *z = logits + r * classes;
        double *p = probability + r * classes;
        double top = (double)z[0], sum = 0;
        for (uint32_t c = 1; c < classes; c++)
            if ((double)z[c] > top)
                top = (double)z[c];
        for (uint32_t c = 0; c < classes; c++) {
            p[c] = exp((double)z[c] - top);
            sum += p[c];
        }
        for (uint32_t c = 0; c < classes; c++)
            p[c] /= sum;
    }
}

void answer_mean_probabilities(const struct answer_mean *m, uint64_t begin, uint64_t end,
                               uint32_t classes, double *probability)
{
    const uint64_t count = (end - begin) * classes, stride = m->rows * classes;
    double *one = m->members > 1 ? mem_alloc(count + 1, sizeof *one) : NULL;
    if (m->members == 1)
        answer_probabilities(m->logits + begin * classes, end - begin, classes, probability);
    for (uint32_t k = 0; one && k < m->members; k++) {
        answer_probabilities(m->logits + k * stride + begin * classes, end - begin, classes, one);
        for (uint64_t i = 0; i < count; i++)
            probability[i] = (k ? probability[i] : 0) + m->weights[k] * one[i];
    }
    if (m->calibration)
        calibration_apply(m->calibration, end - begin, probability);
    mem_free(one);
}

void answer_values(const struct target_coding *coding, const real *outputs, uint64_t rows,
                   uint32_t values, double *value)
{
    for (uint64_t r = 0; r < rows; r++, outputs += values, value += values)
        for (uint32_t k = 0; k < values; k++) {
            double z = (double)outputs[k], v = coding ? coding_decode(coding, z) : z;
            uint32_t at = k;
            for (; at && value[at - 1] > v; at--)
                value[at] = value[at - 1];
            value[at] = v;
        }
}

/* The values of one network. */
static void own_values(const struct answer_mean *m, uint32_t k, uint64_t row, double *value)
{
    answer_values(m->codings ? m->codings[k] : NULL,
                  m->logits + (k * m->rows + row) * m->values, 1, m->values, value);
}

static double own_value(const struct answer_mean *m, uint32_t k, uint64_t row)
{
    double value[QUANTILES_MOST];
    own_values(m, k, row, value);
    return value[m->middle];
}

static double limited(const struct answer_mean *m, double value)
{
    return m->calibration ? calibration_limit(m->calibration, value) : value;
}

/* The unlimited mean over the networks; one network's own values, without a weight. */
static void free_values(const struct answer_mean *m, uint64_t row, double *value)
{
    double own[QUANTILES_MOST];
    if (m->members == 1) {
        own_values(m, 0, row, value);
        return;
    }
    memset(value, 0, m->values * sizeof *value);
    for (uint32_t k = 0; k < m->members; k++) {
        own_values(m, k, row, own);
        for (uint32_t i = 0; i < m->values; i++)
            value[i] += m->weights[k] * own[i];
    }
}

void answer_mean_values(const struct answer_mean *m, uint64_t row, double *value)
{
    free_values(m, row, value);
    for (uint32_t i = 0; i < m->values; i++)
        value[i] = limited(m, value[i]);
}

double answer_mean_value(const struct answer_mean *m, uint64_t row)
{
    double value[QUANTILES_MOST];
    answer_mean_values(m, row, value);
    return value[m->middle];
}

int answer_mean_held(const struct answer_mean *m, uint64_t row)
{
    if (!m->calibration || !m->calibration->limited)
        return 0;
    double value[QUANTILES_MOST];
    free_values(m, row, value);
    return value[0] < m->calibration->low ? -1 : value[m->values - 1] > m->calibration->high;
}

bool answer_coarse(double center, double scale)
{
    const double size = fabs(center);
    return size > 0 && 1e4 * pow(10, floor(log10(size)) - 8) > scale;
}

double answer_mean_spread(const struct answer_mean *m, uint64_t row, uint32_t classes,
                          const double *probability, uint32_t label)
{
    if (m->members == 1)
        return 0;
    double *one = mem_alloc(classes, sizeof *one), sum = 0;
    for (uint32_t k = 0; k < m->members; k++) {
        answer_probabilities(m->logits + (k * m->rows + row) * classes, 1, classes, one);
        if (m->calibration)
            calibration_apply(m->calibration, 1, one);
        double d = one[label] - probability[label];
        sum += m->weights[k] * d * d;
    }
    mem_free(one);
    return sqrt(sum);
}

double answer_mean_value_spread(const struct answer_mean *m, uint64_t row, double value)
{
    double sum = 0;
    for (uint32_t k = 0; m->members > 1 && k < m->members; k++) {
        double d = limited(m, own_value(m, k, row)) - value;
        sum += m->weights[k] * d * d;
    }
    return sqrt(sum);
}

static const struct calibration none = {0}; /* no limits */

/* struct conformal: the mean over the folds of the deviation inside each. */
static double fold_spread(const struct answer_mean *m, uint64_t row, uint32_t folds)
{
    double all = 0;
    for (uint32_t f = 0; f < folds; f++) {
        double weight = 0, mean = 0, sum = 0;
        for (uint32_t k = f; k < m->members; k += folds) {
            weight += m->weights[k];
            mean += m->weights[k] * own_value(m, k, row);
        }
        for (uint32_t k = f; k < m->members; k += folds) {
            double d = own_value(m, k, row) - mean / weight;
            sum += m->weights[k] * d * d;
        }
        all += weight > 0 ? sqrt(sum / weight) / folds : 0;
    }
    return all;
}

void answer_mean_interval(const struct answer_mean *m, uint64_t row, double value, double ends[2])
{
    const struct conformal *c = m->conformal;
    double spread = c->rule == CONFORMAL_SPREAD ? fold_spread(m, row, c->folds) : 0;
    conformal_interval(c, m->calibration ? m->calibration : &none, m->codings[0], value, spread,
                       ends);
}

void answer_intervals(const struct conformal *c, const struct calibration *limits,
                      const struct target_coding *coding, uint64_t count, const double *value,
                      double *low, double *high)
{
    for (uint64_t i = 0; i < count; i++) {
        double ends[2];
        conformal_interval(c, limits ? limits : &none, coding, value[i], 0, ends);
        low[i] = ends[0];
        high[i] = ends[1];
    }
}

double answer_class_odds(const double *probability, uint32_t classes, uint32_t c)
{
    double rest = 0;
    if (classes > 2 && probability[c] < 0.5)
        return answer_odds(probability[c], 1 - probability[c]);
    for (uint32_t k = 0; k < classes; k++)
        rest += k == c ? 0 : probability[k];
    return answer_odds(probability[c], rest);
}

/* --- numbers as text --- */

__extension__ typedef unsigned __int128 wide; /* 53 bits of a double times 10^22 (74 bits) fit */

#define DIGITS 9
#define TENS_MOST 22

static const uint64_t tens[] = {
    1,       10,       100,       1000,       10000,       100000,
    1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000,
};

static wide ten_to(unsigned power)
{
    return power <= 11 ? (wide)tens[power] : (wide)tens[11] * tens[power - 11];
}

/* round(fraction * 2^exponent * 10^power) to an integer, halves to even, exactly; the result is
 * below 2^63. */
static uint64_t scaled(uint64_t fraction, int exponent, int power)
{
    wide top = fraction, bottom = 1;
    if (power >= 0)
        top *= ten_to((unsigned)power);
    else
        bottom = ten_to((unsigned)-power);
    if (exponent >= 0) {
        top <<= exponent;
    } else if (power >= 0) {
        unsigned shift = (unsigned)-exponent;
        if (shift > 127)
            return 0;
        wide whole = top >> shift, rest = top - (whole << shift), half = (wide)1 << (shift - 1);
        return (uint64_t)whole + (rest > half || (rest == half && ((uint64_t)whole & 1)));
    } else {
        bottom <<= -exponent;
    }
    wide whole = top / bottom, rest = top - whole * bottom;
    return (uint64_t)whole + (2 * rest > bottom || (2 * rest == bottom && ((uint64_t)whole & 1)));
}

/* The nine digits of size, 1e-13 to 1e15, rounded halves to even; the power of ten of the first. */
static int digits_of(double size, char text[DIGITS])
{
    uint64_t bits;
    memcpy(&bits, &size, sizeof bits);
    int exponent = (int)(bits >> 52) - 1075;
    uint64_t fraction = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    int top = exponent + 52, zeros = __builtin_ctzll(fraction);
    fraction >>= zeros; /* a short fraction keeps every product small */
    exponent += zeros;

    /* from an estimate that is exact or one too low */
    int decimal = (top * 1233) >> 12; /* floor(log10(2^top)) */
    uint64_t digits = scaled(fraction, exponent, DIGITS - 1 - decimal);
    if (digits >= tens[DIGITS]) { /* one too low, or rounding reached the next power */
        decimal++;
        digits = scaled(fraction, exponent, DIGITS - 1 - decimal);
    }
    uint32_t rest = (uint32_t)digits;
    for (int i = DIGITS - 1; i >= 0; i--) {
        text[i] = (char)('0' + rest % 10);
        rest /= 10;
    }
    return decimal;
}

/* "." and digits [from, count), or nothing when there are none. */
static char *put_fraction(char *to, const char *text, int from, int count)
{
    if (count <= from)
        return to;
    *to++ = '.';
    memcpy(to, text + from, (size_t)(count - from));
    return to + (count - from);
}

/* 1.5e-07 */
static char *put_scientific(char *to, const char *text, int count, int decimal)
{
    unsigned power = (unsigned)(decimal < 0 ? -decimal : decimal);
    *to++ = text[0];
    to = put_fraction(to, text, 1, count);
    *to++ = 'e';
    *to++ = decimal < 0 ? '-' : '+';
    *to++ = (char)('0' + power / 10);
    *to++ = (char)('0' + power % 10);
    return to;
}

/* 0.0015, 1.5, 1500 */
static char *put_plain(char *to, const char *text, int count, int decimal)
{
    if (decimal < 0) {
        *to++ = '0';
        *to++ = '.';
        for (int i = -1; i > decimal; i--)
            *to++ = '0';
        memcpy(to, text, (size_t)count);
        return to + count;
    }
    for (int i = 0; i <= decimal; i++)
        *to++ = i < count ? text[i] : '0';
    return put_fraction(to, text, decimal + 1, count);
}

size_t answer_number(char *out, double value)
{
    double size = fabs(value);
    if (size == 0) {
        out[0] = '0';
        return 1;
    }
    if (!(size >= 1e-13 && size < 1e15))
        return text_number(out, value);
    char text[DIGITS], *to = out;
    int decimal = digits_of(size, text), count = DIGITS;
    while (count > 1 && text[count - 1] == '0')
        count--;
    if (value < 0)
        *to++ = '-';
    if (decimal < -4 || decimal >= DIGITS)
        to = put_scientific(to, text, count, decimal);
    else
        to = put_plain(to, text, count, decimal);
    return (size_t)(to - out);
}

size_t answer_value(char *out, double value, bool fine)
{
    return fine ? (size_t)snprintf(out, 32, "%.17g", value) : answer_number(out, value);
}

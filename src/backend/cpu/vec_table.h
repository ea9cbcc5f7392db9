/* vec_table.h - all of one instruction set, and the table of its functions; the last include of a
 * vec_*.c. */
#include "backend/cpu/vec_math.h"
#include "backend/cpu/vec_product.h"
#include "backend/cpu/vec_layer.h"
#include "backend/cpu/vec_sparse.h"
#include "backend/cpu/vec_ple.h"
#include "backend/cpu/vec_blend.h"
#include "backend/cpu/vec_series.h"
#include "backend/cpu/vec_dropout.h"
#include "backend/cpu/vec_param.h"

#define TABLE_OF(name) vec_##name
#define TABLE(name) TABLE_OF(name)
#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)
#define SAME(name) .name = name

const struct vec TABLE(VEC_NAME) = {
    .name = TEXT(VEC_NAME),
    SAME(product), SAME(narrow), SAME(outer), SAME(outer_pack), SAME(narrow_outer), SAME(across),
    SAME(narrow_across), SAME(sparse), SAME(nonzero), SAME(turn), SAME(onehot), SAME(onehot_back),
    SAME(ple), SAME(ple_back), SAME(lstm), SAME(lstm_back), SAME(gru), SAME(gru_back),
    SAME(softmax_row), SAME(softmax_row_back), SAME(rocket_taps), SAME(rocket_above), SAME(deltas),
    SAME(act), SAME(act_back), SAME(blend), SAME(blend_back), .add = add_run, SAME(dropout),
    SAME(permute), SAME(softmax), SAME(norm_columns), SAME(row_moments), SAME(norm_row),
    SAME(norm_row_back), SAME(sum_shards), SAME(adam), SAME(rmsprop), SAME(sgd),
};

/* vec_table.h - the function table of one instruction set; the last include of a vec_*.c. */
#define TABLE_OF(name) vec_##name
#define TABLE(name) TABLE_OF(name)
#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

const struct vec TABLE(VEC_NAME) = {
    .name = TEXT(VEC_NAME),
    .product = product,
    .narrow = narrow,
    .outer = outer,
    .narrow_outer = narrow_outer,
    .across = across,
    .narrow_across = narrow_across,
    .sparse = sparse,
    .nonzero = nonzero,
    .turn = turn,
    .hot = hot,
    .hot_back = hot_back,
    .ple = ple,
    .ple_back = ple_back,
    .lstm = lstm,
    .lstm_back = lstm_back,
    .gru = gru,
    .gru_back = gru_back,
    .deltas = deltas,
    .act = act,
    .act_back = act_back,
    .blend = blend,
    .blend_back = blend_back,
    .add = add_run,
    .dropout = dropout,
    .permute = permute,
    .softmax = softmax,
    .norm_columns = norm_columns,
    .row_moments = row_moments,
    .norm_row = norm_row,
    .norm_row_back = norm_row_back,
    .sum_shards = sum_shards,
    .adam = adam,
    .rmsprop = rmsprop,
    .sgd = sgd,
};

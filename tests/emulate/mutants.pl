#!/usr/bin/env perl
# mutants.pl DIR COMMAND... - each kernel is spoilt in one place (a wrong index, a barrier left out, a tail dropped), and a test
# must notice. DIR holds the shadow build (libemulate.a, obj/); COMMAND compiles kernels for it. TAP. Two at a time; MUTANTS=N: so
# many of them, others on each day; MUTANT=TEXT: those whose description holds it.
use strict; use warnings;
use File::Copy 'copy';
use File::Path qw(make_path remove_tree);
my ($dir, @compile) = @ARGV;
# the compiler may be several words: ccache g++
my ($first) = grep { $compile[$_] =~ /^-/ } 0 .. $#compile;
my @linker = @compile[0 .. $first - 1];
# test (and its operation), kernel, file to spoil, what is wrong, what to look for, what to put there
my @mutants = (
    [gemm => 'gemm_simt', 'gemm_simt.cu', 'no barrier before the tile is read', qr/ {8}sync_block\(\);\n {8}uint32_t left/, '        uint32_t left'],
    [gemm => 'gemm_simt', 'gemm_simt.cu', 'no barrier before a stripe leaves', qr/sync_block\(\);\n {4}gemm_finish/, 'gemm_finish'],
    [gemm => 'gemm_simt', 'gemm_simt.cu', 'no barrier before a stripe is put where tiles were', qr/ {4}sync_block\(\);\n {4}UNROLL\n {4}for \(int i = 0; i < TM/, '    for (int i = 0; i < TM'],
    ['ops dense_back' => 'gemm_simt', 'gemm_simt.cu', 'a sum of columns without its last row', qr/d < depth && summing/, 'd + 1 < depth && summing'],
    ['ops dense_back' => 'gemm_simt', 'gemm_simt.cu', 'the product behind', qr/block >= t\.first\[which \+ 1\]/, 'block > t.first[which + 1]'],
    [gemm => 'gemm_simt', 'gemm_simt.cu', 'the last step of k is dropped', qr/d < depth/, 'd + 1 < depth'],
    [gemm => 'gemm_simt', 'gemm_simt.cu', 'a wrong column', qr/BN \+ col \+ j\]/, 'BN + (col + j + 1) % BN]'],
    [gemm => 'gemm_mma', 'gemm_mma.cu', 'no barrier before the next tile', qr/ {8}sync_block\(\);\n {4}\}\n/, "    }\n"],
    [gemm => 'gemm_mma', 'mma.cuh', 'a wrong register of A', qr/at\[8 \* words \+ 4\]/, 'at[8 * words]'],
    [gemm => 'gemm_mma', 'mma.cuh', 'half of B', qr/b\[1\] = at\[4\]/, 'b[1] = at[0]'],
    [gemm => 'gemm_mma', 'gemm.cuh', 'the wrong operand is scaled', qr/s\.a = g\.scaled == SCALED_A/, 's.a = g.scaled == SCALED_B'],
    [gemm => 'gemm_mma', 'gemm_mma.cu', 'what was scaled is not divided again', qr/ \* scale\.back/, ' / scale.back'],
    [wide => 'gemm_wide', 'gemm_wide.cu', 'no barrier before the tile is read', qr/ {8}sync_block\(\);\n {8}k \+= DEPTH/, '        k += DEPTH'],
    [wide => 'gemm_wide', 'gemm_wide.cu', 'no barrier before sums are put where tiles were', qr/ {4}\}\n {4}sync_block\(\);\n {4}float \*room/, "    }\n    float *room"],
    [wide => 'gemm_wide', 'gemm_wide.cu', 'one half for both tiles', qr/half \* 2 \* ROOM/, '0 * 2 * ROOM'],
    [wide => 'gemm_wide', 'gemm_wide.cu', 'a row too many is read', qr/row < o\.rows && at < k_end/, 'row <= o.rows && at < k_end'],
    [wide => 'gemm_wide', 'gemm_wide.cu', 'k beyond the part is read', qr/row < o\.rows && at < k_end/, 'row < o.rows && at <= k_end'],
    [wide => 'gemm_wide', 'wide.cuh', 'columns without their last warp', qr/w < V \* WIDE_LANES \/ SIDE; w/, 'w + 1 < V * WIDE_LANES / SIDE; w'],
    [wide => 'gemm_wide', 'gemm_wide.cu', 'sums are counted by every tile of a column', qr/ && row0 == 0;/, ';'],
    [wide => 'gemm_wide', 'gemm.cuh', 'the wrong operand is scaled', qr/s\.b = g\.scaled == SCALED_B/, 's.b = g.scaled == SCALED_A'],
    [wide => 'gemm_wide', 'mma.cuh', 'two numbers of a word change places', qr/tile_round<how>\(low\) \|/, 'tile_round<how>(low) * 0 |'],
    [wide => 'gemm_half', 'gemm_half.cu', 'no barrier before a stage is read', qr/ {8}sync_block\(\); \/\* this stage/, '        /* this stage'],
    [wide => 'gemm_half', 'gemm_half.cu', 'a stage is read before it is there', qr/copy_wait<STAGES - 2>/, 'copy_wait<STAGES - 1>'],
    [wide => 'gemm_half', 'gemm_half.cu', 'a stage too few', qr/filled \+ 1 < STAGES/, 'filled + 2 < STAGES'],
    [wide => 'gemm_half', 'gemm_half.cu', 'the end of k is not cleared', qr/ {8}else\n {12}\*\(struct unit/, "        else if (k == 0)\n            *(struct unit"],
    [wide => 'gemm_half', 'gemm_half.cu', 'a row too many is read', qr/row < o\.rows && at < k_end/, 'row <= o.rows && at < k_end'],
    [wide => 'gemm_half', 'gemm_half.cu', 'sums are counted by every tile of a column', qr/ && row0 == 0;/, ';'],
    [wide => 'gemm_half', 'mma.cuh', 'a matrix is not turned', qr/i = across \? 2 \* place \+ h : group, at = across \? group/, 'i = across ? group : group, at = across ? 2 * place + h'],
    [wide => 'gemm_half', 'form.cuh', 'two numbers of a word change places', qr/v\[k\]\) << 16 \* \(k % 2\)/, 'v[k ^ 1]) << 16 * (k % 2)'],
    [gemm => 'form', 'form.cu', 'gradients of fp16 are kept without a scale', qr/scaled = back &&/, 'scaled = !back &&'],
    [wgmma => 'gemm_wgmma', 'gemm_wgmma.cu', 'no barrier before the products', qr/ {8}wgmma_ready\(\);\n {8}sync_block\(\);\n/, "        wgmma_ready();\n"],
    [wgmma => 'gemm_wgmma', 'gemm_wgmma.cu', 'no barrier before a stage that was copied', qr/ {8}sync_block\(\); \/\* this stage/, '        /* this stage'],
    [wgmma => 'gemm_wgmma', 'gemm_wgmma.cu', 'tensor cores are not told of what was copied', qr/ {8}wgmma_ready\(\);\n {8}sync_block\(\); \/\* this/, '        sync_block(); /* this'],
    [wgmma => 'gemm_wgmma', 'gemm_wgmma.cu', 'a stage is multiplied before it is there', qr/copy_wait<AHEAD - 1>/, 'copy_wait<AHEAD>'],
    [wgmma => 'gemm_wgmma', 'gemm_wgmma.cu', 'a stage is copied over while it is multiplied', qr/left_of\(WAY\)>/, 'left_of(WAY) + 1>'],
    [wgmma => 'gemm_wgmma', 'gemm_wgmma.cu', 'the end of k is not cleared', qr/ {8}else\n {12}\*\(struct unit \*\)/, "        else if (k == 0)\n            *(struct unit *)"],
    [wgmma => 'gemm_wgmma', 'gemm_wgmma.cu', 'tensor cores are not told of what was written', qr/ {8}wgmma_ready\(\);\n/, ''],
    [wgmma => 'gemm_wgmma', 'gemm_wgmma.cu', 'no fence before the products', qr/ {4}wgmma_fence\(sum\);\n/, ''],
    [wgmma => 'gemm_wgmma', 'gemm_wgmma.cu', 'sums leave before the last products', qr/\n {4}wgmma_wait<0>\(sum\);\n/, "\n"],
    [wgmma => 'gemm_wgmma', 'gemm_wgmma.cu', 'a stage is written while it is multiplied', qr/ {8}wgmma_wait<left_of\(BY_REGISTERS\)>\(sum\);\n/, ''],
    [wgmma => 'gemm_wgmma', 'gemm_wgmma.cu', 'two stages for three', qr/\(stages_of\(BY_REGISTERS\) - 1\)/, '(stages_of(BY_REGISTERS) - 2)'],
    [wgmma => 'gemm_wgmma', 'gemm_wgmma.cu', 'one warpgroup has the rows of the other', qr/group \* \(TILE \/ 2\)/, '0 * group'],
    [wgmma => 'gemm_wgmma', 'gemm_wgmma.cu', 'k beyond the part is read', qr/\(K_FAST \? 4 \* half : 0\) < k_end/, '(K_FAST ? 4 * half : 0) <= k_end'],
    [wgmma => 'gemm_wgmma', 'gemm_wgmma.cu', 'a wrong column leaves', qr/2 \* place \+ i % 2\]/, '2 * place + 1 - i % 2]'],
    [wgmma => 'gemm_wgmma', 'wide.cuh', 'a bias that is not added', qr/x \+= bias\[q\]/, 'x += 0 * bias[q]'],
    [wgmma => 'gemm_wgmma', 'wide.cuh', 'relu where there is none', qr/END == END_LAYER && relu && x/, 'END == END_LAYER && x'],
    [wgmma => 'gemm_wgmma', 'wgmma.cuh', 'pieces of a line are not swizzled', qr/\(piece \^ \(line % 8\)\)/, 'piece'],
    [wgmma => 'gemm_wgmma', 'wgmma.cuh', 'a descriptor says another swizzling', qr/swizzle_of_128_bytes = 1;/, 'swizzle_of_128_bytes = 2;'],
    [wgmma => 'gemm_wgmma', 'wgmma.cuh', 'a wrong leading offset', qr/16 : WGMMA_TILE_DEPTH \* WGMMA_LINE/, '16 : WGMMA_PATTERN'],
    [wgmma => 'gemm_wgmma', 'wgmma.cuh', 'tiles begin where the block\'s memory does', qr/return memory \+ \(WGMMA_PATTERN/, 'return memory + 0 * (WGMMA_PATTERN'],
    [wgmma => 'gemm_wgmma', 'wgmma.cuh', 'a step of k is too short', qr/K_FAST \? 2 \* k/, 'K_FAST ? k'],
    [gemm => 'form', 'form.cu', 'answers are rounded', qr/pays = !exact && in/, 'pays = (!exact || in) && in'],
    ['ops advance' => 'step', 'step.cuh', 'the loss of a step is its weight', qr/e->loss, e->weight, a/, 'e->weight, e->weight, a'],
    [gemm => 'gemm_simt', 'gemm.cuh', 'the last row is dropped', qr/rows - row : 0/, 'rows - row - 1 : 0'],
    [gemm => 'gemm_simt', 'gemm.cuh', 'a row too many is read', qr/rows - row : 0/, 'rows - row + 1 : 0'],
    [gemm => 'gemm_simt', 'gemm.cuh', 'columns beyond the matrix are written', qr/ \|\| col >= g->n/, ''],
    [gemm => 'gemm_simt', 'gemm.cuh', 'an unknown category counts', qr/id < one\.count/, 'true'],
    [gemm => 'dense', 'columns.cuh', 'no barrier in the sums of columns', qr/\n {4}sync_block\(\);\n {4}for/, "\n    for"],
    [gemm => 'dense', 'columns.cuh', 'a warp is left out of the sums', qr/w = 1; w < warps/, 'w = 2; w < warps'],
    [gemm => 'gemm_simt', 'columns.cuh', 'the last row has no one-hot gradient', qr/row < end \? \(uint32_t\)/, 'row + 1 < end ? (uint32_t)'],
    [guest => 'guest', 'guest.cu', 'columns beyond the product are finished', qr/if \(col >= g\.n\)\n {8}return;/, ''],
    [guest => 'guest', 'guest.cu', 'rows lie too close', qr/row \* g\.c_row \+ col/, 'row * g.n + col'],
    [guest => 'recur_guest', 'recur_guest.cu', 'gates of a gru change places', qr/\(\(uint32_t\)gate \+ 2\) % 3/, '(uint32_t)gate'],
    [guest => 'recur_guest', 'recur_guest.cu', 'a matrix of weights is not turned', qr/place \+ unit \+ at \/ columns/, 'place + at'],
    [guest => 'recur_guest', 'recur_guest.cu', 'other shards keep what they had', qr/s < a\.shards && !a\.more/, 's + 9 < a.shards'],
    [guest => 'recur_guest', 'recur_guest.cu', 'padding is turned as well', qr/length - 1 - t : t/, 'a.steps - 1 - t : t'],
    [peak => 'peak', 'peak.cu', 'the last piece is not copied', qr/; at < quads; at/, '; at + 1 < quads; at'],
    ['ops keep' => 'keep', 'device.cuh', 'no barrier in block_sum', qr/v;\n {4}sync_block\(\);/, 'v;'],
    ['ops keep' => 'keep', 'keep.cu', 'a part runs into the next', qr/block_x\(\) \+ 1\)/, 'block_x() + 2)'],
    [kernels => 'gather', 'gather.cuh', 'a row past the data is shown', qr/at >= count/, 'at > count'],
    [kernels => 'gather', 'gather.cu', 'the wrong bit', qr/>> bit % 32/, '>> bit % 31'],
    [kernels => 'gather', 'gather.cuh', 'a row past the step is shown', qr/ \|\| \(a\.whole && \*at - a\.now->row0 >= a\.whole\)/, ''],
    [kernels => 'gather', 'gather.cu', 'all indicators are in the first word', qr/ \+ bit \/ 32\]/, ']'],
    [kernels => 'gather', 'gather.cuh', 'rows have the order of another view', qr/order_place\(a\.from, a\.now, view/, 'order_place(a.from, a.now, view + 1'],
    [kernels => 'gather', 'gather.cuh', 'each micro-batch has the rows of the first', qr/ \+ \(uint64_t\)a\.micro \* a\.rows/, ''],
    [kernels => 'gather', 'gather.cuh', 'a label that is none weighs', qr/one of them \*\/\n {12}w = 0;/, 'one of them */'],
    [kernels => 'gather', 'gather.cuh', 'all classes have the weight of the first', qr/class_weight\[word\]/, 'class_weight[0]'],
    [kernels => 'gather', 'gather.cu', 'no barrier before the records are read', qr/ {4}sync_block\(\);\n/, ''],
    ['ops gather' => 'gather', 'gather.cu', 'a lane takes words of its neighbour', qr/thread_id\(\) % each\}/, '(thread_id() + 1) % each}'],
    ['ops gather' => 'gather', 'gather.cu', 'the last columns have no block', qr/\(width \+ parts - 1\) \/ parts/, 'width / parts'],
    ['ops gather' => 'gather', 'gather.cu', 'the last block is left out', qr/blocks = parts\(of\.rows, of\.each\)/, 'blocks = of.rows / of.each + (of.rows < of.each)'],
    [mlp => 'optim', 'optim.cu', 'the last shard is dropped where groups are even', qr/s \+ a < from->shards\)\n {20}run_load/, "s + a + 1 < from->shards)\n                    run_load"],
    ['ops norm2' => 'optim', 'optim.cu', 'the last shard is dropped where they are not', qr/s < from->shards && \(/, 's + 1 < from->shards && ('],
    ['ops norm2' => 'optim', 'optim.cu', 'a run that is cut short is left out', qr/sum_even<1, V - 1>\(to, from, rest, end/, 'sum_even<1, V - 1>(to, from, rest, rest'],
    ['ops adam' => 'optim', 'optim.cu', 'a bad step goes through', qr/unit < units && !bad/, 'unit < units'],
    ['ops adam' => 'optim', 'optim.cu', 'what a step shares is read too early', qr/end\);\n {4}sync_block\(\);/, 'end);'],
    ['ops adam' => 'optim', 'optim.cu', 'a group ends one later', qr/while \(i \+ k >= of->end\)/, 'while (i + k > of->end)'],
    ['ops bnorm_stats' => 'bnorm', 'bnorm.cu', 'the centre is read too early', qr/ {4}sync_block\(\);\n {4}float c =/, '    float c ='],
    ['ops bnorm_stats' => 'bnorm', 'sheet.cuh', 'a block does not wait for its lanes before it says that it is done', qr/said\)\n\{\n {4}sync_block\(\);/, "said)\n{"],
    ['ops bnorm_stats' => 'bnorm', 'sheet.cuh', 'rows past the data count', qr/return left < rows \? \(uint32_t\)left : rows/, 'return left < rows ? rows : rows'],
    ['ops lnorm_back' => 'lnorm', 'lnorm.cu', 'a shard reads the rows of the next', qr/shards, shard \+ 1\), room/, 'shards, shard + 1) + 1, room'],
    ['ops loss_class' => 'loss', 'loss.cuh', 'the last class is dropped', qr/k < a\.classes; k \+= G\) \{/, 'k + 1 < a.classes; k += G) {'],
    ['ops loss_class' => 'loss', 'loss.cu', 'rows are counted by every lane', qr/if \(G == 1 \|\| lane_id\(\) == 0\)/, 'if (true)'],
    ['ops loss_class' => 'loss', 'loss.cuh', 'the largest of half a row', qr/int bits = 16; bits > 0 && G/, 'int bits = 8; bits > 0 && G'],
    ['ops loss_class' => 'loss', 'loss.cuh', 'smoothing without its mean', qr/ - a\.smoothing \* mean;/, ' - 0 * a.smoothing * mean;'],
    ['ops loss_class' => 'loss', 'loss.cuh', 'a focal loss with the slope of another', qr/gamma \* p \* power \/ others/, 'gamma * p * power'],
    ['ops loss_class' => 'loss', 'loss.cu', 'a sum that is no number', qr/ : 0\) \+ loss;/, ' : 0) + loss * __builtin_nan("");'],
    ['ops loss_class' => 'loss', 'loss.cu', 'parts of a further micro-batch begin anew', qr/\(more \? part_loss\[block_x\(\)\] : 0\)/, '0'],
    ['ops loss_value' => 'loss', 'loss.cuh', 'huber with the whole of its delta', qr/a\.delta \* \(fabs\(d\) - a\.delta \/ 2\)/, 'a.delta * (fabs(d) - a.delta)'],
    ['ops loss_value' => 'loss', 'loss.cuh', 'a quantile on the wrong side', qr/return d < 0 \? -a\.q \* d/, 'return d > 0 ? -a.q * d'],
    ['ops loss_value' => 'loss', 'loss.cuh', 'a gradient without its weight', qr/\(float\)\(\(double\)weight \* slope\)/, '(float)slope'],
    ['ops loss_value' => 'loss', 'loss.cu', 'the last row of a shard is left out', qr/row < end;\n {9}row \+= block_size\(\)\)/, "row + 1 < end;\n         row += block_size())"],
    ['ops score' => 'score', 'score.cu', 'a row past the data counts', qr/at >= last\)/, 'at > last)'],
    ['ops score' => 'score', 'score.cu', 'rows that nobody asked for count', qr/at < first \|\| /, ''],
    ['ops score' => 'score', 'score.cu', 'a block takes a row of the next', qr/row < end && row < a\.rows/, 'row <= end && row < a.rows'],
    ['ops score' => 'score', 'score.cu', 'the last block is not added', qr/unsigned i = 0; i < grid_x\(\); i/, 'unsigned i = 0; i + 1 < grid_x(); i'],
    ['ops score' => 'score', 'score.cu', 'a row is counted by every lane', qr/if \(lane == 0\) \{/, 'if (true) {'],
    ['ops score' => 'score', 'score.cu', 'logits stand where they stood in the batch', qr/\(at - first\) \* a\.outputs/, 'at * a.outputs'],
    ['ops score' => 'score', 'score.cu', 'the second of three classes is never the answer', qr/k = 1; k < outputs && outputs != 2/, 'k = 2; k < outputs && outputs != 2'],
    ['ops score' => 'score', 'score.cu', 'one row may weigh more than all', qr/return loss > to->most.*;/, 'return loss;'],
    ['ops score' => 'score', 'score.cu', 'the next batch begins where this one did', qr/row0 \+ a\.rows;/, 'row0;'],
    ['ops lnorm' => 'lnorm', 'lnorm.cuh', 'a sum without the end of the row', qr/square = 0;\n {4}for \(uint32_t k = lane_id\(\) \* V; k </, "square = 0;\n    for (uint32_t k = lane_id() * V; k + V <"],
    ['ops lnorm' => 'lnorm', 'lnorm.cuh', 'a variance without epsilon', qr/ \+ epsilon\)/, ' + 0 * epsilon)'],
    ['ops lnorm' => 'lnorm', 'lnorm.cu', 'the mean stands for the scale', qr/a\.inv\[row\] = s\.inv/, 'a.inv[row] = s.mean'],
    ['ops lnorm_back' => 'lnorm', 'lnorm.cuh', 'dx without the mean of g h', qr/ - \(v\[i\] - s\.mean\) \* s\.inv \* product/, ''],
    ['ops lnorm_back' => 'lnorm', 'lnorm.cu', 'the gradient that was there does not count', qr/if \(a\.add_dx\)/, 'if (false)'],
    ['ops lnorm_back' => 'lnorm', 'lnorm.cu', 'dbeta of a further micro-batch begins anew', qr/\(a\.more \? \*dbeta : 0\)/, '0'],
    ['ops lnorm_back' => 'lnorm', 'lnorm.cu', 'columns beyond the row are read', qr/col < a\.width \? col : 0/, 'col'],
    ['ops embed_back' => 'embed', 'embed.cu', 'what was there counts though nobody asked', qr/if \(a\.more && col/, 'if (col'],
    ['ops embed_back' => 'embed', 'embed.cu', 'columns beyond a table are written', qr/if \(col \+ i \* WARP < one\.dim\)\n {20}to/, 'to'],
    ['ops series' => 'series', 'series.cu', 'a sequence ends before its last value', qr/\+ length - 1\] > 0/, '+ length - 1] >= 0'],
    ['ops tokens' => 'series', 'series.cu', 'a text ends at its first token', qr/id \? t \+ 1 : length/, 'id && !length ? t + 1 : length'],
    ['ops recur' => 'recur_walk', 'recur_walk.cu', 'padding is computed', qr/if \(t < length\)\n/, "if (true)\n"],
    ['ops recur' => 'recur_walk', 'recur_walk.cu', 'the step before is not there', qr/t \+ 1 < b\.longest : i \|\| a/, 't + 1 < b.longest : i > 1 || a'],
    ['ops recur' => 'recur_walk', 'walk.cuh', 'a sequence goes on in the next', qr/state\.from && !state\.begins\[row\]/, 'state.from'],
    ['ops recur' => 'recur_walk', 'recur_walk.cu', 'padding is passed on', qr/t \+ 1 == length\)/, 't + 1 == a.steps)'],
    ['ops recur' => 'recur_walk', 'recur_walk.cu', 'no barrier between a product and its units', qr/ {12}\}\);\n {8}sync_block\(\);\n {8}float/, "            });\n        float"],
    ['ops recur' => 'recur_walk', 'recur_walk.cu', 'the next step is not waited for', qr/ {8}copy_wait<0>\(\);\n {8}sync_block\(\);\n {4}\}\n\}\n\nvoid/, "        sync_block();\n    }\n}\nvoid"],
    ['ops recur' => 'recur_walk', 'recur_walk.cu', 'both steps are copied to one place', qr/room \+ i % 2 \* s\.rows \* row_of, row_of/, 'room + (i - i) * s.rows * row_of, row_of'],
    ['ops recur' => 'recur_walk', 'walk.cuh', 'the last units of a sum are left out', qr/ {4}for \(; k < n; k\+\+\) \{\n/, "    for (; k + 1 < n; k++) {\n"],
    ['ops recur' => 'recur_walk', 'recur_walk.cu', 'the sum of q goes on from step to step', qr/u\.v\[3 \* padded\] = 0;/, ''],
    ['recur' => 'recur_walk', 'walk.cuh', 'a room in memory is taken for shared', qr/if constexpr \(WHERE == WALK_LARGE\) \/\*/, 'if constexpr (false) /*'],
    ['recur' => 'recur_walk', 'walk.cuh', 'what is held is not the own column', qr/held\[k\] = gate/, 'held[k ^ 1] = gate'],
    ['ops recur_back' => 'recur_back', 'recur_back.cu', 'the cell at the begin is 0', qr/= began \? began\[n \+ j\] : 0;\n {8}\}\);\n\}/, "= 0 * (began != NULL);\n        });\n}"],
    ['ops recur_back' => 'recur_back', 'recur_back.cu', 'the cell carries nothing back', qr/u\.left\[u\.left_next\] = dc \* v\[1\];/, ''],
    ['ops recur_back' => 'recur_back', 'recur_back.cu', 'the update gate carries nothing back', qr/u\.left\[0\] = dh \* v\[2\];/, ''],
    ['ops recur_back' => 'recur', 'recur.cu', 'u is not turned', qr/across \? u\[j \* columns \+ line\]/, 'across ? u[line * n + j]'],
    ['ops attention' => 'attention', 'attention.cu', 'no barrier before strips are read', qr/sync_block\(\);\n {4}strips_share\(share, log, b\);\n {4}strips_sum/, "strips_share(share, log, b);\n    strips_sum"],
    ['ops attention' => 'attention', 'attention.cuh', 'no barrier before a tile is read', qr/ {12}sync_block\(\);\n {12}for \(uint32_t k/, '            for (uint32_t k'],
    ['ops attention' => 'attention', 'attention.cuh', 'a tile is loaded while it is read', qr/ {12}sync_block\(\);\n {12}if \(step ==/, '            if (step =='],
    ['ops attention' => 'attention', 'attention.cuh', 'own columns are those of the first tile', qr/ \|\| b\.each > COLUMNS\)/, ')'],
    ['ops attention' => 'attention', 'attention.cuh', 'a query sees the next step', qr/b\.to \? t \+ 1/, 'b.to ? t + 2'],
    ['ops attention' => 'attention', 'attention.cuh', 'padding is a query', qr/ \|\| t >= b\.length\)/, ')'],
    ['ops attention' => 'attention', 'attention.cuh', 'two numbers of a word change places', qr/v\.word\[k \/ 2\] >> 16 \* \(k % 2\)/, 'v.word[k / 2] >> 16 * (1 - k % 2)'],
    ['ops attention_back' => 'attention', 'attention.cuh', 'steps are looked at by those before', qr/b\.from \? t :/, 'b.from && t ? t - 1 :'],
    ['ops attention_back' => 'attention', 'attention.cu', 'the mean of the gradients is not kept', qr/room\[1\] = mean\[i\]/, 'room[1] = 0'],
    ['ops attention_back' => 'attention', 'attention.cu', 'strips of shares and gradients overlap', qr/\*d = share \+ plan\.owns \* plan\.ld/, '*d = share + (plan.owns - 1) * plan.ld'],
    ['ops pool' => 'series', 'series.cu', 'padding counts in the mean', qr/sum \/= \(float\)length/, 'sum /= (float)a.steps'],
    ['ops pool_back' => 'series', 'series.cu', 'the gradient that was there does not count', qr/a\.add_dx \? form_get\(a\.dx, at\) \+ part : part/, 'part'],
    ['ops ple' => 'ple', 'ple.cu', 'a missing number has components', qr/a\.shares\[at\] = none \? 0 : /, 'a.shares[at] = '],
    ['ops ple_dense' => 'ple', 'ple.cu', 'the bins before the own one cost nothing', qr/, before\)/, ', 0)'],
    ['ops ple_dense_back' => 'ple', 'ple.cu', 'the gradient that was there does not count', qr/a\.more \? \*to : 0/, '0'],
    ['ops view_scale' => 'view', 'view.cu', 'all rows are the first', qr/at \/ all \* a\.width \+ of/, 'of'],
    ['ops view_scale_back' => 'view', 'view.cu', 'dw of a further micro-batch begins anew', qr/\(a\.more \? a\.dw\[of\] : 0\)/, '0'],
    ['ops view_scale_back' => 'view', 'columns.cuh', 'rows behind the last are added', qr/if \(first \+ k \* warps < end\)/, 'if (true)'],
    ['ops periodic_back' => 'periodic', 'periodic.cu', 'no barrier before sums of warps are added', qr/\n {4}sync_block\(\);\n {4}if/, "\n    if"],
    ['ops ple_dense_back' => 'ple', 'ple.cu', 'no barrier before sums of warps meet', qr/ {8}sync_block\(\);\n {8}if/, '        if'],
    ['ops text_dense_back' => 'text', 'text.cu', 'one text of several counts', qr/term\[j\] && at < count/, 'term[j] && j == 0 && at < count'],
    [embed => 'embed', 'embed.cu', 'a list of rows is read before it is written', qr/ {4}sync_warp\(FULL_WARP\);\n {4}return n/, '    return n'],
    ['ops conv_back' => 'conv', 'conv.cu', 'steps behind the last are added', qr/begin < length && bias/, 'bias'],
    ['ops view_scale_back' => 'view', 'view.cu', 'dx of the first view alone', qr/a\.shared \? a\.views : 1/, '1'],
    ['ops view_mean' => 'view', 'view.cu', 'a sum in place of the mean', qr/y \/ \(float\)a\.views/, 'y'],
    [embed => 'embed', 'embed.cu', 'no barrier between two rounds of sorting', qr/ {12}sync_block\(\);\n {12}for \(uint32_t p/, '            for (uint32_t p'],
    [embed => 'embed', 'embed.cu', 'a run that began in an earlier chunk is added twice', qr/\|\|\n {8}stands_before\(keys, c, block_y\(\), id\)\)/, ')'],
    [embed => 'embed', 'embed.cu', 'rows of later chunks are left out', qr/k < WARP && first \+ k < c\.count/, 'k < 1 && first + k < c.count'],
    [embed => 'embed', 'embed.cu', 'the last row of a run is left out', qr/\(uint64_t\)\(id \+ 1\) << 32\) - start/, '(uint64_t)(id + 1) << 32) - start - 1'],
    [embed => 'embed', 'embed.cu', 'an id that is none stands for itself', qr/\(id < one\.count \? id : 0\) << 32/, 'id << 32'],
    [embed => 'embed', 'embed.cu', 'the end of a table is not cleared', qr/n = \(uint64_t\)one\.count \* one\.dim, step/, 'n = (uint64_t)one.count * one.dim - 1, step'],
    ['ops dropout' => 'dropout', 'dropout.cu', 'the mask of the neighbour', qr/bits\.v\[i\] >= threshold\) << i;/, 'bits.v[i ^ 1] >= threshold) << i;'],
    ['ops advance' => 'step', 'step.cuh', 'a bad step moves the buffers', qr/&& !bad; i/, '; i'],
    [mlp => 'mlp_step', 'mlp_product.cuh', 'a piece is multiplied before it is there', qr/copy_wait<0>\(\);/, 'copy_wait<1>();'],
    [mlp => 'mlp_step', 'mlp_step.cu', 'weights that stay are multiplied before they are there', qr/layer_begin\(f, f\.count - 1 - number\);/, 'layer_begin(f, f.count - number);'],
    [mlp => 'mlp_step', 'mlp_product.cuh', 'no barrier before the weights of other lanes are read', qr/default: copy_wait<0>\(\);\n {4}\}\n {4}sync_block\(\);/, "default: copy_wait<0>();\n    }"],
    [mlp => 'mlp_step', 'mlp_product.cuh', 'a row of weights is skipped where lanes go on to the next', qr/at -= along;\n {12}row\+\+;/, "at -= along;\n            row += 2;"],
    [mlp => 'mlp_match', 'mlp_match.cu', 'all weights that stay begin at one place', qr/l->at_w = place\(&at, l->in \* l->w_step\);/, 'l->at_w = 0; place(&at, l->in * l->w_step);'],
    [mlp => 'mlp_step', 'mlp_product.cuh', 'no barrier before a piece is multiplied', qr/left the other half as well \*\/\n {8}sync_block\(\);/, 'left the other half as well */'],
    [mlp => 'mlp_step', 'mlp_step.cu', 'pieces are copied over what others multiply', qr/ {4}else\n {8}sync_block\(\);\n\}/, '}'],
    [mlp => 'mlp_step', 'mlp_step.cu', 'no barrier before the gradients of other lanes are read', qr/ {4}sync_block\(\);\n {4}product<T>/, '    product<T>'],
    [mlp => 'mlp_step', 'mlp_step.cu', 'no barrier before the sums of other lanes are normed', qr/ {4}sync_block\(\);\n {4}if \(l\.wide\)/, '    if (l.wide)'],
    [mlp => 'mlp_step', 'mlp_step.cu', 'no barrier before the records of other lanes are asked for', qr/f\.gather\.now\);\n {8}sync_block\(\);/, 'f.gather.now);'],
    [mlp => 'mlp_step', 'mlp_step.cu', 'rows beyond the batch are written', qr/if \(i < left\)\n {12}out/, "if (i <= left)\n            out"],
    [mlp => 'mlp_step', 'mlp_loss.cuh', 'the eights of a shard end early', qr/\(part_begin\(f\.rows, f\.shards, shard \+ 1\) \+ 7\)/, 'part_begin(f.rows, f.shards, shard + 1)'],
    [mlp => 'mlp_step', 'mlp_loss.cuh', 'no barrier before the eights of other lanes are read', qr/ {4}sync_block\(\);\n {4}if \(shard >=/, '    if (shard >='],
    [mlp => 'mlp_step', 'mlp_step.cu', 'the mask of the row above', qr/\(uint64_t\)\(at\.row0 \/ 4\) \* l\.out \+ q/, '(uint64_t)(at.row0 / 8) * l.out + q'],
    [mlp => 'mlp_step', 'mlp_step.cu', 'the last of the masks are not drawn', qr/l\.first \+ T \* l\.out \+ 3\) \/ 4/, 'T * l.out + 3) / 4'],
    [mlp => 'mlp_step', 'mlp_step.cu', 'the derivative is taken behind dropout', qr/needs_z \? x\[i\] : y\[i\];/, 'y[i];'],
    [mlp => 'mlp_step', 'mlp_step.cu', 'a norm is finished before its row is there', qr/ {8}sync_warp\(FULL_WARP\);\n {8}for \(uint32_t col = lane_id\(\); col < l\.out; col \+= WARP\) \{\n {12}float x/, "        for (uint32_t col = lane_id(); col < l.out; col += WARP) {\n            float x"],
    [mlp => 'mlp_step', 'mlp_step.cu', 'a row of dz leaves before it is there', qr/stats\[1\]\}, l\.out\);\n {8}sync_warp\(FULL_WARP\);/, 'stats[1]}, l.out);'],
    [mlp => 'mlp_step', 'lnorm.cuh', 'a norm is not scaled back', qr/ \* s\.inv;\n {8}dx\(to/, ";\n        dx(to"],
    [mlp => 'mlp_match', 'mlp_match.cu', 'what is masked begins at the first of four', qr/before % 4\);/, 'before % 1);'],
    [mlp => 'mlp_match', 'mlp_match.cu', 'a value and what its derivative is taken at share a place', qr/bool two = !f->answers && l->act/, 'bool two = f->answers && l->act'],
    [mlp => 'dense', 'dense.cu', 'a derivative is taken twice', qr/one\.act = ACT_NONE;/, 'one.act = a[i]->act;'],
    [ending => 'optim', 'optim.cu', 'the step ends before all blocks have read it', qr/grid_x\(\), said\)\)\n {8}end_of/, '1, said)) end_of'],
    ['ops act' => 'act', 'act.cu', 'columns beyond the sheet', qr/if \(col >= a\.width\)\n {8}return;\n {4}for \(EACH_ROW_OF\(s, row\)\) \{\n {8}float v\[V\];\n {8}run_load\(v, a\.x,/, "for (EACH_ROW_OF(s, row)) {\n        float v[V];\n        run_load(v, a.x,"],
    ['ops act' => 'act', 'act.cu', 'y where rows have no gaps', qr/run_store\(a\.y, \(size_t\)row \* a\.ldy/, 'run_store(a.y, (size_t)row * a.width'],
    ['ops act_back' => 'act', 'act.cu', 'the gradient that was there does not count', qr/if \(a\.add_dx\)/, 'if (false)'],
    ['ops act_back' => 'act', 'act.cu', 'the derivative is always taken at x', qr/by_z \? x\[i\] : act_value\(a\.act, x\[i\], \(float\)a\.slope\)/, 'by_z ? 0.0f : x[i]'],
    ['ops act_back' => 'act', 'act.cu', 'rows of dy lie as those of dx', qr/a\.dy, \(size_t\)row \* a\.lddy/, 'a.dy, (size_t)row * a.width'],
    ['ops add' => 'act', 'act.cu', 'the second is left out', qr/v\[i\] \+= w\[i\];/, ';'],
    ['ops add' => 'act', 'act.cu', 'the second has the rows of the first', qr/a\.b, \(size_t\)row \* a\.ldb/, 'a.b, (size_t)row * a.width'],
    ['ops act' => 'act', 'sheet.cuh', 'the last row is dropped', qr/row < \(s\)\.rows;/, 'row + 1 < (s).rows;'],
    ['ops act' => 'act', 'form.cuh', 'three of four are written', qr/store4\(p, four\{\{v\[0\], v\[1\], v\[2\], v\[3\]\}\}\)/, 'store4(p, four{{v[0], v[1], v[2], v[2]}})'],
    ['ops act' => 'act', 'epilogue.cuh', 'a sigmoid that is one of its absolute value', qr/x < 0 \? e : 1\.0f/, '1.0f'],
    ['ops act' => 'act', 'epilogue.cuh', 'leaky is no relu', qr/kind == ACT_RELU \? 0\.0f : slope \* x/, 'slope * x'],
    ['ops act' => 'act', 'epilogue.cuh', 'a gelu of another root', qr/erff\(x \* 0\.70710678118654752f\)/, 'erff(x * 0.7075f)'],
    ['ops act' => 'act', 'epilogue.cuh', 'elu without its slope', qr/x : slope \* expm1f\(x\)/, 'x : (slope > 9 ? slope : 1.0f) * expm1f(x)'],
    ['ops act' => 'act', 'epilogue.cuh', 'selu with the tail of elu', qr/SELU_TAIL \* expm1f/, 'SELU_SCALE * expm1f'],
    ['ops act' => 'act', 'epilogue.cuh', 'mish ends too early', qr/return x < 20 \? n/, 'return x < 5 ? n'],
    ['ops act_back' => 'act', 'epilogue.cuh', 'relu has a slope at 0 and below', qr/case ACT_RELU: return by > 0/, 'case ACT_RELU: return by > -1'],
    ['ops act_back' => 'act', 'epilogue.cuh', 'gelu lacks its second term', qr/return fmaf\(by \* 0\.39894228040143268f, expf\(-0\.5f \* by \* by\), t\);/, 'return t;'],
    ['ops act_back' => 'act', 'epilogue.cuh', 'silu by y', qr/fmaf\(by, 1\.0f - t, 1\.0f\)/, 'fmaf(t, 1.0f - t, 1.0f)'],
    ['ops act_back' => 'act', 'epilogue.cuh', 'mish with the wrong root', qr/by \* \(1\.0f - t \* t\)/, 'by * (1.0f - t)'],
    ['ops act_back' => 'act', 'epilogue.cuh', 'tanh as sigmoid', qr/return 1\.0f - by \* by;/, 'return by - by * by;'],
    ['ops act_back' => 'act', 'epilogue.cuh', 'elu forgets its slope on the way back', qr/1\.0f : by \+ slope/, '1.0f : by + 1.0f'],
    [large => 'act', 'act.cu', 'rows of y begin at 32 bits', qr/run_store\(a\.y, \(size_t\)row \* a\.ldy/, 'run_store(a.y, row * a.ldy'],
    [large => 'gather', 'gather.cuh', 'a record begins at 32 bits', qr/within \* rows->format\.stride/, '(uint32_t)(within * rows->format.stride)'],
    [large => 'embed', 'embed.cu', 'a table begins at 32 bits', qr/\(float \*\)a\.grads \+ one\.table/, '(float *)a.grads + (uint32_t)one.table'],
    [large => 'gemm_simt', 'gemm.cuh', 'rows of C begin at 32 bits', qr/to = \(size_t\)row \* g->c_row/, 'to = row * g->c_row'],
    [large => 'optim', 'optim.cu', 'gradients end at 32 bits', qr/uint64_t begin = \(uint64_t\)block_x\(\) \* TILE/, 'uint64_t begin = (uint64_t)(int32_t)(block_x() * TILE) & 0x7fffffff'],
);
my @below = ('-Wl,--start-group', "$dir/libemulate.a", "$dir/../../libbackend.a", "$dir/../../libbase.a", '-Wl,--end-group', '-lm', '-lpthread', '-ldl');
my $jobs = $ENV{TEST_JOBS} || 2;
@mutants = grep { "$_->[1]: $_->[3]" =~ /\Q$ENV{MUTANT}\E/ } @mutants if $ENV{MUTANT};
if (my $some = $ENV{MUTANTS}) { # every one comes round within some days
    my $day = int(time / 86400);
    @mutants = map { $mutants[($day * $some + $_) % @mutants] } 0 .. ($some < @mutants ? $some : @mutants) - 1;
}
print "1..@{[scalar @mutants]}\n";

# Whether the program fails: its first failed check is enough.
sub notices {
    my ($program, $of) = @_;
    my $child = open my $out, '-|', 'timeout', 120, $program, $of // () or die "$program: $!\n";
    while (<$out>) {
        next unless /^not ok/;
        kill 'TERM', $child;
        close $out;
        return 1;
    }
    return !close $out;
}
sub why_unnoticed { # '' when a test notices
    my ($room, $mutant) = @_;
    my ($test, $source, $file, $what, $look, $put) = @$mutant;
    ($test, my $of) = split ' ', $test;
    remove_tree($room); make_path($room);
    for (glob 'kernels/*.* kernels/*/*.*') {
        my $to = "$room/" . s{^kernels/}{}r;
        make_path($to =~ s{/[^/]*$}{}r);
        copy($_, $to) or die "$_: $!\n";
    }
    ($file, $source) = map { (grep { -e } "$room/$_", glob("$room/*/$_"))[0] } $file, "$source.cu";
    open my $in, '<', $file or die "$file: $!\n";
    my $text = do { local $/; <$in> };
    return 'the place to spoil is not there' unless $text =~ s/$look/$put/;
    open my $out, '>', $file or die "$file: $!\n";
    print $out $text; close $out or die;
    # kernels first: what they define is not taken from the archive
    my @cc = map { $_ eq '-Ikernels' ? "-I$room" : $_ } @compile;
    return 'it does not compile' if system(@cc, '-x', 'c++', '-c', $source, '-o', "$room/kernel.o") != 0;
    return 'it does not link'
        if system(@linker, "$dir/obj/test_$test.o", "$room/kernel.o", "$dir/obj/harness.o", @below, '-o', "$room/test") != 0;
    return notices("$room/test", $of) ? '' : 'no test noticed';
}

pipe my $told, my $tell or die "pipe: $!\n";
for my $job (0 .. $jobs - 1) {
    defined(my $child = fork) or die "fork: $!\n";
    next if $child;
    close $told;
    for (my $i = $job; $i < @mutants; $i += $jobs) {
        syswrite $tell, "$i " . why_unnoticed("$dir/mutants/$job", $mutants[$i]) . "\n";
    }
    exit 0;
}
close $tell;
my ($n, $bad) = (0, 0);
$| = 1;
while (<$told>) {
    my ($i, $why) = /^(\d+) (.*)$/ or die;
    $n++; $bad++ if $why;
    print $why ? 'not ' : '', "ok $n - $mutants[$i][1]: $mutants[$i][3]\n", $why ? "#   $why\n" : '';
}
1 while wait > 0;
remove_tree("$dir/mutants");
exit($bad || $n < @mutants ? 1 : 0);

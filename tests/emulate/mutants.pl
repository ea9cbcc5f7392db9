#!/usr/bin/env perl
# mutants.pl DIR COMMAND... - each kernel is spoilt in one place (a wrong index, a barrier left out, a tail dropped), and a test
# must notice. DIR holds the shadow build (libemulate.a, obj/); COMMAND compiles kernels for it. TAP.
use strict; use warnings;
use File::Copy 'copy';
use File::Path qw(make_path remove_tree);
my ($dir, @compile) = @ARGV;
# test, kernel, file to spoil, what is wrong, what to look for, what to put there
my @mutants = (
    [gemm => 'gemm_simt', 'gemm_simt.cu', 'no barrier before the tile is read', qr/ {8}sync_block\(\);\n {8}uint32_t left/, '        uint32_t left'],
    [gemm => 'gemm_simt', 'gemm_simt.cu', 'no barrier before a stripe leaves', qr/sync_block\(\);\n {8}gemm_finish/, 'gemm_finish'],
    [gemm => 'gemm_simt', 'gemm_simt.cu', 'no barrier behind a stripe', qr/TM\}\);\n {8}sync_block\(\);/, 'TM});'],
    [gemm => 'gemm_simt', 'gemm_simt.cu', 'the last step of k is dropped', qr/d < depth/, 'd + 1 < depth'],
    [gemm => 'gemm_simt', 'gemm_simt.cu', 'a wrong column', qr/BN \+ col \+ j\]/, 'BN + (col + j + 1) % BN]'],
    [gemm => 'gemm_mma', 'gemm_mma.cu', 'no barrier before the next tile', qr/ {8}sync_block\(\);\n {4}\}\n/, "    }\n"],
    [gemm => 'gemm_mma', 'mma.cuh', 'a wrong register of A', qr/at\[8 \* words \+ 4\]/, 'at[8 * words]'],
    [gemm => 'gemm_mma', 'mma.cuh', 'half of B', qr/b\[1\] = at\[4\]/, 'b[1] = at[0]'],
    [gemm => 'gemm_simt', 'gemm.cuh', 'the last row is dropped', qr/rows - row : 0/, 'rows - row - 1 : 0'],
    [gemm => 'gemm_simt', 'gemm.cuh', 'a row too many is read', qr/rows - row : 0/, 'rows - row + 1 : 0'],
    [gemm => 'gemm_simt', 'gemm.cuh', 'columns beyond the matrix are written', qr/\|\| col >= g->n/, ''],
    [gemm => 'gemm_simt', 'gemm.cuh', 'an unknown category counts', qr/id < one\.count/, 'true'],
    [gemm => 'dense', 'dense.cu', 'no barrier in the sums of columns', qr/ {4}sync_block\(\);\n/, ''],
    [gemm => 'dense', 'dense.cu', 'a warp is left out of the sums', qr/w = 1; w < WARPS/, 'w = 2; w < WARPS'],
    [gemm => 'dense', 'dense.cu', 'the last row has no one-hot gradient', qr/r = begin; r < end/, 'r = begin; r + 1 < end'],
    [kernels => 'reduce', 'device.cuh', 'no barrier in block_sum', qr/v;\n {4}sync_block\(\);/, 'v;'],
    [kernels => 'reduce', 'reduce.cu', 'a part runs over the end', qr/\? begin \+ PART : n/, '? begin + PART : begin + PART'],
    [kernels => 'gather', 'gather.cu', 'a row past the data is shown', qr/at >= g\.count/, 'at > g.count'],
    [kernels => 'gather', 'gather.cu', 'the wrong bit', qr/>> bit % 32/, '>> bit % 31'],
    [kernels => 'optim', 'optim.cu', 'the last shard is dropped', qr/s < shards &&/, 's + 1 < shards &&'],
    [kernels => 'optim', 'optim.cu', 'a bad step goes through', qr/if \(a\.now->bad\)\n {8}return;/, ''],
);
my ($n, $bad, $room) = (0, 0, "$dir/mutants");
for (@mutants) {
    my ($test, $source, $file, $what, $look, $put) = @$_;
    remove_tree($room); make_path($room);
    copy($_, $room) or die "$_: $!\n" for glob 'kernels/*';
    open my $in, '<', "$room/$file" or die "$file: $!\n";
    my $text = do { local $/; <$in> };
    my $why;
    $why = 'the place to spoil is not there' unless $text =~ s/$look/$put/;
    open my $out, '>', "$room/$file" or die "$file: $!\n";
    print $out $text; close $out or die;
    # kernels first: what they define is not taken from the archive
    my @cc = map { $_ eq '-Ikernels' ? "-I$room" : $_ } @compile;
    $why //= 'it does not compile' if !$why && system(@cc, '-x', 'c++', '-c', "$room/$source.cu", '-o', "$room/$source.o") != 0;
    $why //= 'it does not link' if !$why && system($compile[0], "$dir/obj/test_$test.o", "$room/$source.o", "$dir/obj/harness.o", "$dir/libemulate.a", '-o', "$room/test") != 0;
    $why = 'no test noticed' if !$why && system("timeout 120 $room/test >$room/out 2>&1") == 0;
    $n++; $bad++ if $why;
    print $why ? 'not ' : '', "ok $n - $source: $what\n", $why ? "#   $why\n" : '';
}
print "1..$n\n"; exit($bad ? 1 : 0);

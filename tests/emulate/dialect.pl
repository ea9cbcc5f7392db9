#!/usr/bin/env perl
# dialect.pl - kernels keep to the dialect: what belongs to one compiler stands in device_cuda.cuh, mma.cuh and wgmma.cuh alone, and
# assembler stays little. TAP.
use strict; use warnings;
# the machine (cuda*.cu) is a host's program: it names the runtime, but holds no kernels
my $host = qr{^kernels/cuda(_\w+)?\.cuh?$};
my %home = map { $_ => 1 } qw(kernels/device.cuh kernels/device_cuda.cuh kernels/mma.cuh kernels/wgmma.cuh);
my $foreign = qr/(__shared__|<<<|\basm\b|cooperative_groups|cuda_fp16|cuda_bf16|\bthreadIdx\b|\bblockIdx\b|\bblockDim\b|\bgridDim\b|__sync\w+|__shfl\w*|\batomic\w+|__ldg|\bcuda[A-Z]\w+\s*\()/;
my $kernel = qr/(__shared__|__global__|<<<|\basm\b|\bthreadIdx\b|__sync\w+|\batomic[A-Z]\w+)/;
my ($asm, @found, @unsafe) = (0);
for my $file (sort glob('kernels/*.cu kernels/*.cuh kernels/*.h')) {
    open my $in, '<', $file or die "$file: $!\n";
    (my $code = do { local $/; <$in> }) =~ s{/\*.*?\*/}{ $& =~ tr/\n//cdr }gse;
    $code =~ s{"(?:[^"\\\n]|\\.)*"}{""}g if $file =~ $host;
    $asm += () = $code =~ /\basm\b/g;
    my $row = 0;
    for (split /\n/, $code) {
        $row++;
        push @found, "$file:$row: $1" if !$home{$file} && ($file =~ $host ? /$kernel/ : /$foreign/);
        push @unsafe, "$file:$row: $_" if /atomic\w*\s*\(\s*\(?\s*(float|double)/ || /\b(std::|new |throw |try |typeid|dynamic_cast)/;
    }
}
print @found ? "not " : "", "ok 1 - kernels keep to the dialect\n", map { "#   $_\n" } @found;
print @unsafe ? "not " : "", "ok 2 - no floating-point atomics, standard library, exceptions\n", map { "#   $_\n" } @unsafe;
print $asm > 25 ? "not " : "", "ok 3 - $asm of at most 25 pieces of assembler\n";
print "1..3\n";
exit(@found || @unsafe || $asm > 25 ? 1 : 0);

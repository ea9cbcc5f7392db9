#!/usr/bin/env perl
# dialect.pl - kernels keep to the dialect: what belongs to one compiler stands in device_cuda.cuh, mma.cuh and wgmma.cuh alone, and
# assembler stays little. TAP.
use strict; use warnings;
# the machine (kernels/card) is a host's program: it names the runtime, but holds no kernels
my $host = qr{^kernels/card/};
my %home = map { $_ => 1 } qw(kernels/device.cuh kernels/device_cuda.cuh kernels/product/mma.cuh kernels/product/wgmma.cuh);
my $foreign = qr/(__shared__|<<<|\basm\b|cooperative_groups|cuda_fp16|cuda_bf16|\bthreadIdx\b|\bblockIdx\b|\bblockDim\b|\bgridDim\b|__sync\w+|__shfl\w*|\batomic\w+|__ldg|\bcuda[A-Z]\w+\s*\()/;
my $kernel = qr/(__shared__|__global__|<<<|\basm\b|\bthreadIdx\b|__sync\w+|\batomic[A-Z]\w+)/;
# one text serves all cards from 80 on, so nothing newer may be asked (device.cuh), but of what BLOCKS_MEET is for
my ($asm, @found, @unsafe, @newer) = (0);
for my $file (sort glob('kernels/*.cu kernels/*.h kernels/*.cuh kernels/*/*.cu*')) {
    open my $in, '<', $file or die "$file: $!\n";
    (my $code = do { local $/; <$in> }) =~ s{/\*.*?\*/}{ $& =~ tr/\n//cdr }gse;
    $code =~ s{"(?:[^"\\\n]|\\.)*"}{""}g if $file =~ $host;
    (my $library = $code) =~ s/^#if defined\(BLOCKS_MEET\)\n(?:DEVICE void sync.*?)^#endif\n(?=template)/ $& =~ tr{\n}{}cdr /gmse;
    my $line = 0;
    for (split /\n/, $library) {
        $line++;
        push @newer, "$file:$line: $_" if /__CUDA_ARCH__\s*[<>=!]+\s*(?!800\b)\d/ || /#\s*define\s+BLOCKS_MEET/;
    }
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
print @newer ? "not " : "", "ok 4 - no kernel asks for an architecture beyond 80\n", map { "#   $_\n" } @newer;
print "1..4\n";
exit(@newer || @found || @unsafe || $asm > 25 ? 1 : 0);

#!/usr/bin/perl
# resign.pl MODEL OUT [HEADER-EXPRESSION [DATA-EXPRESSION]] - changes a model file. The expressions change $_ (the text of the header
# without padding; the bytes of the tensors); padding and SHA-256 are then made valid again.
use strict;
use warnings;
use Digest::SHA qw(sha256_hex);
my ($from, $to, $header_code, $data_code) = @ARGV;
open my $in, '<:raw', $from or die "$from: $!\n";
my $bytes = do { local $/; <$in> };
my $size = unpack 'Q<', $bytes;
my ($header, $data) = (substr($bytes, 8, $size), substr($bytes, 8 + $size));
$header =~ s/ +\z//;
for ($header) { eval($header_code // ''); die $@ if $@ }
for ($data) { eval($data_code // ''); die $@ if $@ }
$header .= ' ' while (8 + length $header) % 64;
my $zeros = '0' x 64;
my $front = '{"__metadata__":{"sha256":"';
my $whole = pack('Q<', length $header) . $header . $data;
if (substr($header, 0, length $front) eq $front) {
    substr($whole, 8 + length $front, 64) = $zeros;
    substr($whole, 8 + length $front, 64) = sha256_hex($whole);
}
open my $out, '>:raw', $to or die "$to: $!\n";
print $out $whole;
close $out or die "$to: $!\n";

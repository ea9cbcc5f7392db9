#!/usr/bin/perl
# golden.pl CASE... - golden command lines: a case is a shell session with its exact output, error and exit code. TAP.
# golden.pl --update CASE... writes what was seen into the cases; read the difference before committing it.
#
#     # a comment; a line "# id C09" names a catalogue row
#     $ dnn predict model.dnn missing.csv
#     ! dnn: error[E1601]: missing.csv: ...         standard error, line by line
#     > prediction                                  standard output, line by line
#     ? 66                                          exit code, when not 0
#     >*                                            standard output is not compared (!* likewise)
#
# Every case runs in a fresh folder with dnn on the PATH, data/ at hand as $DATA, and C locale. Times and rates are replaced
# before comparing: "0.12 s" by "T s", "612345 rows/s" by "N rows/s". No GPU is to be seen, whatever the machine has; why that is
# so differs by build and driver, and is replaced by "WHY".
use strict;
use warnings;
use Cwd qw(abs_path getcwd);
use File::Temp qw(tempdir);

my $update = @ARGV && $ARGV[0] eq '--update' ? shift : 0;
my $root = abs_path((abs_path($0) =~ s{/[^/]*$}{}r) . "/../..");
my $dnn = $ENV{DNN} || "$root/build/dnn";
my ($folder) = $dnn =~ m{^(.*)/};
$ENV{PATH} = "$folder:$ENV{PATH}";
$ENV{DATA} = "$root/data";
$ENV{ROOT} = $root;
$ENV{LC_ALL} = 'C';
$ENV{CUDA_VISIBLE_DEVICES} = '';
delete @ENV{qw(MODEL_BACKEND ALL_GPU DNN_FAULT LOG_LEVEL DEBUG OPENBLAS_CORETYPE OPENBLAS_L2_SIZE)};
my ($number, $failed) = (0, 0);

sub tidy {
    my $text = shift;
    $text =~ s/\b\d+(?:\.\d+)?(?:e[-+]\d+)? s\b/T s/g;
    $text =~ s/\b\d+(?:\.\d+)? rows\/s/N rows\/s/g;
    my $why = qr/(?:this build has no GPU kernels|no CUDA driver|no GPU is visible(?:, and this build has no GPU kernels)?)(?:; CUDA_VISIBLE_DEVICES=\\?"\\?"|)/;
    $text =~ s/(unavailable|"reason":)( \(|")(?:$why|estimates: [^"]*)/$1$2WHY/g;
    $text =~ s/(note: training on this machine) \(CPU, \d+ threads?\): .*? (with preset )/$1 (..): .. $2/g;
    $text =~ s/\Q$ENV{DATA}\E/DATA/g;
    return $text;
}
sub marked { my ($mark, $text) = @_; my @lines = split /\n/, $text, -1; pop @lines if @lines && $lines[-1] eq ''; return map { "$mark $_" =~ s/ $//r } @lines }

for my $file (@ARGV) {
    my $name = $file =~ s{^.*/}{}r;
    open my $in, '<', $file or die "$file: $!\n";
    chomp(my @lines = <$in>);
    close $in;
    my ($home, $work) = (getcwd(), tempdir(CLEANUP => 1));
    my (@written, @steps);
    for (@lines) {
        if (/^\$ (.*)/) { push @steps, {command => $1, out => [], err => [], exit => 0} ; push @written, $steps[-1] }
        elsif (/^\?\s*(\d+)/ && @steps) { $steps[-1]{exit} = $1 }
        elsif (/^>\*/) { $steps[-1]{any_out} = 1 }
        elsif (/^!\*/) { $steps[-1]{any_err} = 1 }
        elsif (/^>/) { push @{$steps[-1]{out}}, s/ $//r }
        elsif (/^!/) { push @{$steps[-1]{err}}, s/ $//r }
        else { push @written, $_ }
    }
    chdir $work or die;
    for my $s (@steps) {
        open my $script, '>', '.command' or die; print $script $s->{command}, "\n"; close $script;
        my $status = system("bash .command >.out 2>.err </dev/null");
        my $exit = $status & 127 ? 128 + ($status & 127) : $status >> 8;
        my ($out, $err) = map { open my $f, '<', $_ or die; local $/; my $t = <$f>; close $f; tidy($t // '') } '.out', '.err';
        unlink '.out', '.err', '.command';
        my @got = (exit => $exit, out => join("\n", marked('>', $out)), err => join("\n", marked('!', $err)));
        my %got = @got;
        my @why;
        push @why, "exit $got{exit}, expected $s->{exit}" if $got{exit} != $s->{exit};
        push @why, "standard output:\n$got{out}\nexpected:\n" . join("\n", @{$s->{out}}) if !$s->{any_out} && $got{out} ne join("\n", @{$s->{out}});
        push @why, "standard error:\n$got{err}\nexpected:\n" . join("\n", @{$s->{err}}) if !$s->{any_err} && $got{err} ne join("\n", @{$s->{err}});
        if ($update) { $s->{out} = $s->{any_out} ? [] : [split /\n/, $got{out}]; $s->{err} = $s->{any_err} ? [] : [split /\n/, $got{err}]; $s->{exit} = $got{exit}; next }
        $number++;
        print @why ? "not " : "", "ok $number - $name: $s->{command}\n" =~ s/#/\\#/gr;
        if (@why) { $failed++; for my $w (@why) { print "#   $_\n" for split /\n/, $w } }
    }
    chdir $home or die;
    if ($update) {
        open my $out, '>', $file or die;
        for (@written) {
            if (!ref) { print $out "$_\n"; next }
            print $out "\$ $_->{command}\n";
            print $out ">*\n" if $_->{any_out}; print $out "!*\n" if $_->{any_err};
            print $out "$_\n" for @{$_->{out}}, @{$_->{err}};
            print $out "? $_->{exit}\n" if $_->{exit};
        }
    }
}
print "1..$number\n" unless $update;
exit($failed ? 1 : 0);

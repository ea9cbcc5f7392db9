#!/usr/bin/perl
# html.pl FILE - whether a page is HTML 5 that a strict parser accepts: tags that are known, closed and nested as they may be,
# attributes that are known, quoted and there once, characters that are escaped, UTF-8, and nothing from elsewhere. Says what is wrong.
use strict; use warnings;
my $file = shift; open my $in, '<:raw', $file or die "$file: $!"; local $/; my $text = <$in>; my @bad;
utf8::decode($text) or push @bad, "not UTF-8";
$text =~ /\A<!DOCTYPE html>\n/ or push @bad, "no doctype";
$text =~ /[\x00-\x08\x0b-\x1f\x7f]/ and push @bad, "a control character";
my %void = map { $_ => 1 } qw(meta link br);
my %in = (html => '', head => 'html', body => 'html', meta => 'head', link => 'head', title => 'head', style => 'head', thead => 'table', tbody => 'table',
    tr => 'thead|tbody', th => 'tr', td => 'tr', figcaption => 'figure', summary => 'details', header => 'body', main => 'body', footer => 'body', section => 'main');
my %flow = map { $_ => 1 } qw(h1 h2 h3 p b i span div table figure details pre svg br);
my %svg = map { $_ => 1 } qw(line rect path circle text);
my %phrasing = map { $_ => 1 } qw(b i span br svg); # all that p, span, b and headings hold
my %attribute = map { $_ => 1 } qw(lang charset name content rel href class style role tabindex aria-label aria-hidden scope viewBox preserveAspectRatio
    x y x1 x2 y1 y2 cx cy r width height d transform text-anchor);
my (@open, $titles);
pos($text) = length "<!DOCTYPE html>\n";
while (pos($text) < length $text) {
    my $line = 1 + (substr($text, 0, pos $text) =~ tr/\n//);
    if ($text =~ m{\G<(/?)([a-z][a-z0-9]*)((?:\s+[a-zA-Z][a-zA-Z0-9-]*="[^"<]*")*)\s*(/?)>}gc) {
        my ($end, $tag, $list, $self) = ($1, $2, $3, $4);
        if ($end) {
            my $last = pop @open // 'nothing';
            push @bad, "line $line: </$tag> ends <$last>" if $last ne $tag;
            next;
        }
        my $parent = $open[-1] // '';
        push @bad, "line $line: <$tag> is not known" unless exists $in{$tag} || $flow{$tag} || $svg{$tag};
        push @bad, "line $line: <$tag> in <$parent>" if exists $in{$tag} && $parent !~ /^(?:$in{$tag})$/;
        push @bad, "line $line: <$tag> outside of svg" if $svg{$tag} && $parent ne 'svg';
        push @bad, "line $line: <$tag> in svg" if $parent eq 'svg' && !$svg{$tag};
        push @bad, "line $line: <$tag> in <$parent>" if $parent =~ /^(p|b|i|span|h[1-6]|summary|pre)$/ && !$phrasing{$tag};
        push @bad, "line $line: <$tag/>" if $self && !$void{$tag} && !$svg{$tag};
        my %seen;
        while ($list =~ /\s([a-zA-Z][a-zA-Z0-9-]*)="([^"]*)"/g) {
            my ($name, $value) = ($1, $2);
            push @bad, "line $line: $name twice" if $seen{$name}++;
            push @bad, "line $line: attribute $name" unless $attribute{$name};
            push @bad, "line $line: $name=\"$value\"" if $name eq 'href' && $value ne 'data:,' || $name eq 'src';
            push @bad, "line $line: nan in $name" if $value =~ /\b(nan|inf)\b/i && $name ne 'aria-label';
            push @bad, "line $line: & in $name" if $value =~ /&(?!(?:amp|lt|gt|quot|#39);)/;
        }
        if ($tag eq 'style') { $text =~ m{\G(.*?)(?=</style>)}gcs; push @bad, "style loads something" if $1 =~ /url\(|\@import/ }
        $titles++ if $tag eq 'title';
        push @open, $tag unless $self || $void{$tag};
    } elsif ($text =~ m{\G[^<>&]+}gc) {
        push @bad, "line $line: text in <" . ($open[-1] // '') . ">" if $& =~ /\S/ && ($open[-1] // '') =~ /^(|html|head|table|thead|tbody|tr|svg|figure|main|section)$/;
    } elsif ($text !~ m{\G&(?:amp|lt|gt|quot|#39);}gc) {
        push @bad, "line $line: " . substr($text, pos $text, 30);
        pos($text)++;
    }
}
push @bad, "not closed: @open" if @open;
push @bad, "titles: " . ($titles // 0) if ($titles // 0) != 1;
print "$_\n" for @bad[0 .. ($#bad > 9 ? 9 : $#bad)];
exit !!@bad;

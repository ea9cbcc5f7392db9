#!/bin/bash
# formats.sh - whether JUnit and Prometheus files are valid.
# xml FILE: well formed by xmllint where it is there, else by a parser of these few elements
xml() {
    if command -v xmllint >/dev/null; then xmllint --noout "$1"; else
        perl -0777 -ne 's/^<\?xml[^>]*\?>\s*//; 1 while s/<(\w+)((?: \w+="[^"<]*")*)\/>//g || s/<(\w+)((?: \w+="[^"<]*")*)>\s*<\/\1>//g;
            exit /\S/ ? 1 : 0' "$1"
    fi
}
# prom FILE: the text format, line by line: HELP and TYPE once and before the samples, names, labels, numbers
prom() {
    perl -ne 'if (/^# (HELP|TYPE) (\w+) \S/) { die if $seen{"$1 $2"}++ || $sample{$2}; next }
        /^([a-z_]+)\{(?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*"(?:,(?!\}))?)+\} (?:NaN|[-+]?[0-9.]+(?:e[-+]?[0-9]+)?)$/ or die $_;
        $sample{$1}++; die "twice" if $line{(split)[0]}++; END { exit(%sample ? 0 : 1) }' "$1"
}

#!/bin/bash
# report_shots.sh - looks at pages of `dnn report` in a browser (Debian: chromium): a picture at two widths, light and dark, and a
# PDF as it prints on A4. A message on the browser's console, content wider than the window, or a table that is cut (but for the
# confusion of many labels, which scrolls) fails.
#
#     scripts/report_shots.sh OUT PAGE.html...      OUT/PAGE-WIDTH-light.png, -dark.png, PAGE.pdf
set -eu
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$browser" ] || { echo "report_shots: no chromium" >&2; exit 69; }
out=$1
shift
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
shoot() { # PAGE WIDTH HEIGHT PICTURE [OPTION]...
    local page=$1 width=$2 height=$3 picture=$4
    shift 4
    # A window is at least 500 wide: a narrow page is a frame of that width in a wider one.
    printf \
        '<!DOCTYPE html><html><body style="margin:0"><iframe src="file://%s" style="border:0;width:%dpx;height:%dpx"></iframe></body></html>' \
        "$page" "$width" "$height" >"$work/frame.html"
    timeout 120 "$browser" --headless=new --no-sandbox --disable-gpu --hide-scrollbars --disable-dev-shm-usage \
        --user-data-dir="$work/profile" \
        --enable-logging=stderr --v=0 --window-size="$((width < 500 ? 500 : width)),$height" --screenshot="$picture" "$@" \
        "file://$work/frame.html" 2>"$work/log" ||
        { echo "report_shots: the browser fails on $page" >&2; bad=1; }
    if grep -E 'CONSOLE' "$work/log" >&2; then bad=1; fi
}
for page; do
    name=$(basename "$page" .html)
    # the page with a last line that measures it
    cat -- "$page" >"$work/page.html"
    page=$work/page.html
    echo '<script>addEventListener("load", () => { const wide = document.documentElement.scrollWidth
        if (wide > innerWidth) console.error("the content is " + wide + " wide, the window " + innerWidth)
        for (const t of document.querySelectorAll(".scroll"))
            if (t.scrollWidth > t.clientWidth + 1 && !t.querySelector(".heat"))
                console.error("a table is cut at " + innerWidth + ": " + t.getAttribute("aria-label") +
                    ", " + t.scrollWidth) })</script>' >>"$page"
    for width in 390 1280; do
        height=$((width < 500 ? 16000 : 9000))
        shoot "$page" "$width" "$height" "$out/$name-$width-light.png"
        shoot "$page" "$width" "$height" "$out/$name-$width-dark.png" --blink-settings=preferredColorScheme=0
    done
    timeout 120 "$browser" --headless=new --no-sandbox --disable-gpu --user-data-dir="$work/profile" --no-pdf-header-footer \
        --print-to-pdf="$out/$name.pdf" \
        "file://$page" 2>/dev/null || { echo "report_shots: $page does not print" >&2; bad=1; }
done
exit $bad

/* html.c - see html.h. */
#include "cli/html.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* On paper the colours are the light ones. Widths follow the window: charts and cards flow, tables
 * scroll. */
static const char style[] =
    ":root{--bg:#fff;--fg:#1b1f24;--dim:#59636e;--rule:#d5dae0;--card:#f5f7f9;--s0:#2563a8;"
    "--s1:#c8590a;--s2:#2c7f4f;--s3:#8548b5;--s4:#b8324a;--s5:#0d7c86;--s6:#7c6500;--s7:#66707c;"
    "--heat:37,99,168}\n"
    "@media screen and (prefers-color-scheme:dark){:root{--bg:#14171b;--fg:#e4e8ec;--dim:#9aa5b1;"
    "--rule:#333b44;--card:#1d2228;--s0:#6aa9f0;--s1:#f2954d;--s2:#63c48d;--s3:#c291ec;"
    "--s4:#f0788c;--s5:#4fc3cf;--s6:#d3b84a;--s7:#a4afbb;--heat:106,169,240}}\n"
    "*{box-sizing:border-box}\n"
    "html{color-scheme:light dark;-webkit-text-size-adjust:100%}\n"
    "body{margin:0 auto;max-width:68rem;padding:1rem;background:var(--bg);color:var(--fg);"
    "font:1rem/1.5 system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif}\n"
    "h1{font-size:1.6rem;line-height:1.25;margin:.5rem 0;overflow-wrap:anywhere}\n"
    "h2{font-size:1.2rem;margin:2.2rem 0 .3rem;padding-top:.9rem;"
    "border-top:1px solid var(--rule)}\n"
    "h3{font-size:1rem;margin:0 0 .3rem}\n"
    "p{margin:.3rem 0 .8rem;max-width:46rem}\n"
    ".dim,figcaption{color:var(--dim);font-size:.88rem}\n"
    ".cards{display:flex;flex-wrap:wrap;gap:.7rem;margin:1rem 0}\n"
    ".cards div{flex:1 1 9rem;background:var(--card);border:1px solid var(--rule);"
    "border-radius:.5rem;padding:.6rem .8rem}\n"
    ".cards b{display:block;font-size:1.45rem;line-height:1.3}\n"
    ".cards span{display:block;color:var(--dim);font-size:.84rem}\n"
    ".charts{display:grid;gap:1.2rem 1.6rem;margin:.8rem 0;"
    "grid-template-columns:repeat(auto-fit,minmax(min(100%,25rem),1fr))}\n"
    "figure{margin:0;min-width:0;break-inside:avoid}\n"
    "svg{display:block;width:100%;height:auto}\n"
    "svg text{fill:var(--dim);font-size:12.5px}\n"
    ".grid{stroke:var(--rule);stroke-width:1}\n"
    ".even{stroke:var(--dim);stroke-width:1;stroke-dasharray:4 4;fill:none}\n"
    ".line{fill:none;stroke:var(--c);stroke-width:2;stroke-linejoin:round}\n"
    ".dash{stroke-dasharray:7 4}\n"
    ".band{fill:var(--c);fill-opacity:.18}\n"
    ".fill{fill:var(--c);fill-opacity:.55}\n"
    ".dot{fill:var(--c);fill-opacity:.45}\n"
    ".mark{fill:var(--c)}\n"
    ".s0{--c:var(--s0)}.s1{--c:var(--s1)}.s2{--c:var(--s2)}.s3{--c:var(--s3)}"
    ".s4{--c:var(--s4)}.s5{--c:var(--s5)}.s6{--c:var(--s6)}.s7{--c:var(--s7)}\n"
    ".key{display:inline-block;margin-right:1rem;overflow-wrap:anywhere}\n"
    ".key i{display:inline-block;width:.8rem;height:.8rem;margin-right:.35rem;border-radius:2px;"
    "vertical-align:-.08rem;background:var(--c)}\n"
    ".scroll{overflow-x:auto;margin:.6rem 0 1rem}\n"
    "table{border-collapse:collapse;font-size:.9rem;min-width:min(100%,30rem)}\n"
    "th,td{padding:.28rem .6rem;text-align:left;border-bottom:1px solid var(--rule);"
    "vertical-align:top}\n"
    "thead th{color:var(--dim);font-weight:600;white-space:nowrap}\n"
    "td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\n"
    "td.t{overflow-wrap:anywhere;min-width:10rem;max-width:22rem}\n"
    "td.bar{width:45%;min-width:8rem}\n"
    "td.bar svg{height:1.1rem}\n"
    "tr.now td{font-weight:700}\n"
    ".heat td{background:rgba(var(--heat),var(--a,0))}\n"
    "details{margin:1rem 0}\n"
    "summary{cursor:pointer}\n"
    "pre{overflow-x:auto;background:var(--card);border:1px solid var(--rule);padding:.7rem;"
    "border-radius:.5rem;font-size:.8rem;line-height:1.4}\n"
    "@page{size:A4;margin:14mm}\n"
    "@media print{html{color-scheme:light}body{max-width:none;padding:0;font-size:10pt}"
    "h2,h3{break-after:avoid}tr,.cards div{break-inside:avoid}.scroll{overflow:visible}"
    ".charts{grid-template-columns:1fr 1fr}details{display:none}"
    "*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}\n";

static void put_char(struct text *out, char c)
{
    switch (c) {
    case '&': text_put(out, "&amp;"); break;
    case '<': text_put(out, "&lt;"); break;
    case '>': text_put(out, "&gt;"); break;
    case '"': text_put(out, "&quot;"); break;
    case '\'': text_put(out, "&#39;"); break;
    default: text_char(out, c);
    }
}

void html_text(struct text *out, const char *bytes, size_t length)
{
    size_t valid = utf8_valid_prefix(bytes, length);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (i == valid) { /* this byte begins nothing */
            text_printf(out, "\\x%02x", c);
            valid = i + 1 + utf8_valid_prefix(bytes + i + 1, length - i - 1);
        } else if (c == '\n' || c == '\t') {
            text_char(out, (char)c);
        } else if (c < ' ' || c == 127) {
            text_printf(out, "\\x%02x", c);
        } else {
            put_char(out, (char)c);
        }
    }
}

void html_text_z(struct text *out, const char *string)
{
    html_text(out, string, strlen(string));
}

void html_begin(struct text *out, const char *title)
{
    text_put(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\" />\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n"
                  "<meta name=\"generator\" content=\"dnn\" />\n<link rel=\"icon\" "
                  "href=\"data:,\" />\n<title>");
    html_text_z(out, title);
    text_put(out, "</title>\n<style>\n");
    text_put(out, style);
    text_put(out, "</style>\n</head>\n<body>\n");
}

void html_end(struct text *out)
{
    text_put(out, "</body>\n</html>\n");
}

void html_section(struct text *out, const char *heading)
{
    text_printf(out, "<section>\n<h2>%s</h2>\n", heading);
}

void html_section_end(struct text *out)
{
    text_put(out, "</section>\n");
}

void html_note(struct text *out, const char *format, ...)
{
    char line[1000];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    text_put(out, "<p class=\"dim\">");
    html_text_z(out, line);
    text_put(out, "</p>\n");
}

void html_table(struct text *out, const char *label, const char *const *names, unsigned numbers)
{
    text_printf(out, "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"%s\">\n"
                     "<table>\n<thead><tr>", label);
    for (unsigned i = 0; names[i]; i++)
        text_printf(out, "<th scope=\"col\"%s>%s</th>", i >= numbers ? " class=\"n\"" : "",
                    names[i]);
    text_put(out, "</tr></thead>\n<tbody>\n");
}

void html_table_end(struct text *out)
{
    text_put(out, "</tbody>\n</table>\n</div>\n");
}

void html_row(struct text *out)
{
    text_put(out, "<tr>");
}

void html_row_end(struct text *out)
{
    text_put(out, "</tr>\n");
}

void html_cell(struct text *out, const char *string)
{
    text_put(out, "<td class=\"t\">");
    html_text_z(out, string);
    text_put(out, "</td>");
}

/* Whole numbers get a comma at each thousand. */
static void put_whole(struct text *out, double value)
{
    char digits[32];
    int n = snprintf(digits, sizeof digits, "%.0f", fabs(value));
    if (value < 0)
        text_char(out, '-');
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0)
            text_char(out, ',');
        text_char(out, digits[i]);
    }
}

void html_number(struct text *out, double value)
{
    if (isnan(value))
        text_put(out, "\u2013");
    else if (fabs(value) < 1e15 && (fabs(value) >= 10000 || round(value) == value))
        put_whole(out, value);
    else
        text_printf(out, "%.4g", value);
}

void html_cell_number(struct text *out, double value)
{
    text_put(out, "<td class=\"n\">");
    html_number(out, value);
    text_put(out, "</td>");
}

void html_cell_range(struct text *out, double low, double high)
{
    text_put(out, "<td class=\"n\">");
    html_number(out, low);
    if (!isnan(low)) {
        text_put(out, " to ");
        html_number(out, high);
    }
    text_put(out, "</td>");
}

/* html.c - see html.h. */
#include "cli/report/html.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/utf8.h"

enum { DECIMALS_MOST = 12, STACKED_FROM = 5 /* columns of a table */ };

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
    "h3{font-size:1rem;margin:0 0 .3rem;overflow-wrap:anywhere}\n"
    "p{margin:.3rem 0 .8rem;max-width:46rem;overflow-wrap:anywhere}\n"
    ".dim,figcaption{color:var(--dim);font-size:.88rem}\n"
    ".lead{font-size:1.15rem;line-height:1.45;margin:.4rem 0 .6rem}\n"
    ".badge{display:inline-block;border:1px solid var(--c);color:var(--c);border-radius:1rem;"
    "padding:.05rem .7rem;margin:0 .5rem .3rem 0;font-size:.88rem;font-weight:600}\n"
    ".cards{display:flex;flex-wrap:wrap;gap:.7rem;margin:1rem 0}\n"
    ".cards div{flex:1 1 9rem;background:var(--card);border:1px solid var(--rule);"
    "border-radius:.5rem;padding:.6rem .8rem}\n"
    ".cards b{display:block;font-size:1.45rem;line-height:1.3}\n"
    ".cards span{display:block;color:var(--dim);font-size:.84rem}\n"
    ".charts{display:grid;gap:1.2rem 1.6rem;margin:.8rem 0;"
    "grid-template-columns:repeat(auto-fill,minmax(min(100%,25rem),1fr))}\n"
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
    ".scroll{overflow-x:auto;margin:.6rem 0 1rem;background:linear-gradient(to right,var(--bg) 30%,"
    "transparent) left,linear-gradient(to left,var(--bg) 30%,transparent) right,linear-gradient("
    "to right,var(--rule),transparent) left,linear-gradient(to left,var(--rule),transparent) right;"
    "background-size:2rem 100%,2rem 100%,.7rem 100%,.7rem 100%;background-repeat:no-repeat;"
    "background-attachment:local,local,scroll,scroll}\n"
    "table{border-collapse:collapse;font-size:.9rem;min-width:min(100%,30rem)}\n"
    "th,td{padding:.28rem .6rem;text-align:left;border-bottom:1px solid var(--rule);"
    "vertical-align:top}\n"
    "thead th{color:var(--dim);font-weight:600;max-width:14rem;overflow-wrap:break-word}\n"
    "thead th.now,td.now{color:var(--fg);font-weight:700}\n"
    "td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\n"
    "td.t{overflow-wrap:break-word;min-width:6rem;max-width:22rem}\n"
    "td.bar{width:45%;min-width:8rem}\n"
    "td.bar svg{height:1.1rem}\n"
    ".stack td.bar{width:20%}\n"
    ".one{white-space:nowrap}\n"
    "tr.now td{font-weight:700}\n"
    "tr.faint td{color:var(--dim)}\n"
    "tr.faint .fill{fill:var(--s7);fill-opacity:.35}\n"
    "tr.faint .even{stroke-opacity:.5}\n"
    ".heat td{background:rgba(var(--heat),var(--a,0))}\n"
    "details{margin:1rem 0}\n"
    "summary{cursor:pointer}\n"
    "pre{overflow-x:auto;background:var(--card);border:1px solid var(--rule);padding:.7rem;"
    "border-radius:.5rem;font-size:.8rem;line-height:1.4}\n";
static const char style_of_small_screens_and_paper[] =
    "@media (max-width:38rem){body{padding:.7rem}svg text{font-size:14px}"
    "table{font-size:.85rem;min-width:100%}th,td{padding:.25rem .3rem}td.n,th.n{white-space:normal}"
    "td.t{min-width:6rem;overflow-wrap:anywhere}td.bar{width:18%;min-width:2.6rem}"
    ".stack,.stack tbody,.stack tr{display:block}.stack thead{display:none}"
    ".stack tr{border-bottom:1px solid var(--rule);padding:.3rem 0}"
    ".stack td{display:flex;justify-content:space-between;gap:1rem;border:0;padding:.1rem .3rem;"
    "text-align:right}.stack td:first-child{text-align:left}"
    ".stack td::before{color:var(--dim);text-align:left}"
    ".stack td.bar{width:auto}.stack td.bar svg{flex:0 0 60%;margin-left:auto}"
    ".stack td.t{max-width:none}.stack .dim br{display:none}"
    ".stack td:nth-child(2)::before{content:var(--n2)}.stack td:nth-child(3)::before{content:"
    "var(--n3)}.stack td:nth-child(4)::before{content:var(--n4)}.stack td:nth-child(5)::before{"
    "content:var(--n5)}.stack td:nth-child(6)::before{content:var(--n6)}.stack td:nth-child(7)"
    "::before{content:var(--n7)}.stack td:nth-child(8)::before{content:var(--n8)}.stack td:nth-"
    "child(9)::before{content:var(--n9)}.stack td:nth-child(10)::before{content:var(--n10)}}\n"
    "@page{size:A4;margin:14mm}\n"
    "@media print{html{color-scheme:light}body{max-width:none;padding:0;font-size:10pt}"
    "h2,h3,h2+p,h3+p{break-after:avoid}.keep,tr,.cards div{break-inside:avoid}"
    ".scroll{overflow:visible;background:none}table{font-size:8.5pt;min-width:0}"
    "td.t{min-width:5.5rem;overflow-wrap:anywhere}td.bar{width:33%;min-width:3rem}"
    "th,td{padding:.2rem .35rem}"
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

static void put_short(struct text *out, const char *string, size_t most)
{
    size_t end = strlen(string);
    const bool cut = end > most;
    for (end = cut ? most : end; cut && end && ((unsigned char)string[end] & 0xc0) == 0x80;)
        end--;
    html_text(out, string, end);
    text_put(out, cut ? " \u2026" : "");
}

/* Writes the value of the directive at `at`; returns what follows it. */
static const char *put_value(struct text *out, const char *at, va_list *values)
{
    char *letter = (char *)(uintptr_t)at + 1;
    const size_t most = *letter == '.' ? strtoul(letter + 1, &letter, 10) : SIZE_MAX;
    const char *string;
    switch (*letter) {
    case 's':
        string = va_arg(*values, const char *);
        put_short(out, string ? string : "", most);
        break;
    case 'g': html_number(out, va_arg(*values, double)); break;
    case 'f': html_percent(out, va_arg(*values, double)); break;
    case 'u': text_printf(out, "%u", va_arg(*values, unsigned)); break;
    default: text_char(out, *letter);
    }
    return letter + 1;
}

void html_printf(struct text *out, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    while (*format) {
        const size_t length = strcspn(format, "%");
        text_add(out, format, length);
        format += length;
        if (*format)
            format = put_value(out, format, &values);
    }
    va_end(values);
}

void html_title(struct text *out, const char *title)
{
    html_printf(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\" />\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n"
                     "<meta name=\"generator\" content=\"dnn\" />\n<link rel=\"icon\" "
                     "href=\"data:,\" />\n<title>%s</title>\n", title);
}

void html_begin(struct text *out, const char *title)
{
    html_title(out, title);
    text_put(out, "<style>\n");
    text_put(out, style);
    text_put(out, style_of_small_screens_and_paper);
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
    html_printf(out, "<p class=\"dim\">%s</p>\n", line);
}

/* A name of a column, escaped for HTML, as a string of CSS inside of an attribute. */
static void put_css(struct text *out, const char *name)
{
    text_char(out, '\'');
    for (name += *name == '*'; *name; name++) {
        if (*name == '\\' || strncmp(name, "&#39;", 5) == 0)
            text_char(out, '\\');
        text_char(out, *name == '\n' ? ' ' : *name);
    }
    text_char(out, '\'');
}

void html_table(struct text *out, const char *label, const char *const *names, unsigned numbers)
{
    unsigned count = 0;
    while (names[count])
        count++;
    text_printf(out, "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"%s\">\n"
                     "<table", label);
    if (count >= STACKED_FROM) { /* in a narrow window: a line a cell, with its name */
        text_put(out, " class=\"stack\" style=\"");
        for (unsigned i = 1; i < count; i++) {
            text_printf(out, "--n%u:", i + 1);
            put_css(out, names[i]);
            text_put(out, ";");
        }
        text_put(out, "\"");
    }
    text_put(out, ">\n<thead><tr>");
    for (unsigned i = 0; names[i]; i++)
        text_printf(out, "<th scope=\"col\" class=\"%s%s\">%s</th>", i >= numbers ? "n" : "",
                    *names[i] == '*' ? " now" : "", names[i] + (*names[i] == '*'));
    text_put(out, "</tr></thead>\n<tbody>\n");
}

void html_table_end(struct text *out)
{
    text_put(out, "</tbody>\n</table>\n</div>\n");
}

void html_row_begin(struct text *out)
{
    text_put(out, "<tr>");
}

void html_row_end(struct text *out)
{
    text_put(out, "</tr>\n");
}

static void put_cells(struct text *out, const char *format, va_list *values)
{
    while ((format = strchr(format, '%')) != NULL) {
        text_put(out, strchr("s.", format[1]) ? "<td class=\"t\">" : "<td class=\"n\">");
        format = put_value(out, format, values);
        text_put(out, "</td>");
    }
}

void html_cells(struct text *out, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    put_cells(out, format, &values);
    va_end(values);
}

void html_row(struct text *out, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    html_row_begin(out);
    put_cells(out, format, &values);
    html_row_end(out);
    va_end(values);
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

/* Without an exponent, and without zeros at the end. */
static void put_fixed(struct text *out, double value, int decimals)
{
    char digits[64];
    int n = snprintf(digits, sizeof digits, "%.*f", decimals, value);
    while (decimals && n > 1 && digits[n - 1] == '0')
        n--;
    if (decimals && digits[n - 1] == '.')
        n--;
    const bool zero = n == 2 && digits[0] == '-' && digits[1] == '0';
    text_add(out, digits + zero, (size_t)n - zero);
}

/* Decimals that show three digits of a number; 0 for 100 and more. */
static int decimals_of(double value)
{
    const double size = fabs(value);
    if (!(size > 0) || !isfinite(size))
        return 0;
    const int decimals = 2 - (int)floor(log10(size));
    return decimals < 0 ? 0 : decimals > DECIMALS_MOST ? DECIMALS_MOST : decimals;
}

void html_number(struct text *out, double value)
{
    if (!isfinite(value))
        text_put(out, "\u2013");
    else if (fabs(value) < 1e15 && (fabs(value) >= 999.5 || round(value) == value))
        put_whole(out, value);
    else if (fabs(value) >= 1e15)
        text_printf(out, "%.3g", value);
    else
        put_fixed(out, value, decimals_of(value));
}

void html_number_near(struct text *out, double value, double largest)
{
    if (!isfinite(value) || fabs(largest) >= 999.5)
        html_number(out, value);
    else
        put_fixed(out, value, decimals_of(largest));
}

void html_percent(struct text *out, double share)
{
    const double percent = 100 * share;
    if (!isfinite(share))
        text_put(out, "\u2013");
    else if (share < 1 && percent >= 99.95)
        text_put(out, "over 99.9 %");
    else if (share > 0 && percent < 0.01)
        text_put(out, "under 0.01 %");
    else
        put_fixed(out, percent, decimals_of(percent) > 2 ? 2 : decimals_of(percent)),
            text_put(out, " %");
}

void html_range(struct text *out, double low, double high)
{
    html_number(out, low);
    if (isfinite(low) && !isnan(high)) {
        text_put(out, " to ");
        html_number(out, high);
    }
}

void html_percents(struct text *out, double low, double high)
{
    const size_t from = out->length;
    html_percent(out, low);
    if (!isfinite(low) || isnan(high))
        return;
    if (text_ends(out->data + from, " %")) { /* said once, at the end */
        out->length -= 2;
        out->data[out->length] = '\0';
    }
    text_put(out, " to ");
    html_percent(out, high);
}

void html_day(struct text *out, double seconds)
{
    const time_t at = isfinite(seconds) ? (time_t)seconds : 0;
    struct tm tm;
    char day[32];
    if (isfinite(seconds) && gmtime_r(&at, &tm) && strftime(day, sizeof day, "%Y-%m-%d", &tm))
        text_put(out, day);
    else
        html_number(out, seconds);
}

void html_cell_range(struct text *out, double low, double high)
{
    text_put(out, "<td class=\"n\">");
    html_range(out, low, high);
    text_put(out, "</td>");
}

void html_cell_near(struct text *out, double low, double high, double largest)
{
    text_put(out, "<td class=\"n\">");
    html_number_near(out, low, largest);
    if (isfinite(low) && !isnan(high)) {
        text_put(out, " to ");
        html_number_near(out, high, largest);
    }
    text_put(out, "</td>");
}

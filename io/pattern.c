// SPDX-License-Identifier: MIT
#include "internal.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_DIGITS 18

/* Reads an optional sign and digits; returns the length, 0 if there is no number. */
static size_t read_number(const char *text, int64_t *value, int *digits)
{
    const size_t sign = *text == '-';
    size_t n = sign;
    int64_t v = 0;

    while (isdigit((unsigned char)text[n]) && n - sign < MAX_DIGITS)
        v = v * 10 + (text[n++] - '0');
    if (n == sign || isdigit((unsigned char)text[n]))
        return 0;
    *value = sign ? -v : v;
    if (digits)
        *digits = (int)(n - sign);
    return n;
}

static size_t read_range(const char *text, int64_t *first, int64_t *last, int64_t *step,
                         int *digits)
{
    size_t n = read_number(text, first, digits), more;

    if (!n)
        return 0;
    if (digits && (*digits < 2 || text[text[0] == '-'] != '0'))
        *digits = 1;
    *last = *first;
    *step = 1;
    if (text[n] != '-')
        return n;
    more = read_number(text + n + 1, last, NULL);
    if (!more)
        return 0;
    n += 1 + more;
    if (text[n] == 'x' || text[n] == ':') {
        more = read_number(text + n + 1, step, NULL);
        if (!more)
            return 0;
        n += 1 + more;
    }
    return n;
}

static int check_range(const char *text, int64_t first, int64_t last, int64_t step,
                       const struct hs_log *log)
{
    if (step < 1)
        return hsio_fail(log, HS_ERR_INVALID, "%s: the step must be 1 or more", text);
    if (last < first)
        return hsio_fail(log, HS_ERR_INVALID,
                         "%s: the range ends (%" PRId64 ") before it starts (%" PRId64 ")", text,
                         last, first);
    return 0;
}

int hsio_range_parse(const char *text, int64_t *first, int64_t *last, int64_t *step,
                     const struct hs_log *log)
{
    int64_t a, b, s;
    const size_t n = read_range(text, &a, &b, &s, NULL);
    int result;

    if (!n || text[n])
        return hsio_fail(log, HS_ERR_INVALID,
                         "\"%s\" is not a frame range such as 5, 1-20 or 1-20x2", text);
    result = check_range(text, a, b, s, log);
    if (result)
        return result;
    *first = a;
    *last = b;
    *step = s;
    return 0;
}

/* Recognises a place for a number at `p`; returns its length in the text, 0 if it is none. */
static size_t read_place(const char *p, struct hsio_pattern *pattern)
{
    size_t n;

    if (*p == '#' || *p == '@') {
        n = strspn(p, *p == '#' ? "#" : "@");
        pattern->digits = (int)n;
        return n;
    }
    if (*p == '%') {
        n = 1;
        pattern->digits = 1;
        if (p[n] == '0') {
            n += strspn(p + n, "0");
            if (isdigit((unsigned char)p[n]))
                pattern->digits = p[n] - '0';
            n += isdigit((unsigned char)p[n]) != 0;
            if (isdigit((unsigned char)p[n])) {
                pattern->digits = pattern->digits * 10 + p[n] - '0';
                n++;
            }
        }
        return p[n] == 'd' || p[n] == 'i' ? n + 1 : 0;
    }
    if (*p == '[') {
        n = read_range(p + 1, &pattern->first, &pattern->last, &pattern->step, &pattern->digits);
        if (!n || p[n + 1] != ']')
            return 0;
        pattern->has_range = true;
        return n + 2;
    }
    return 0;
}

int hsio_pattern_parse(struct hsio_pattern *pattern, const char *text, const struct hs_log *log)
{
    struct hsio_pattern out = {.digits = 1, .step = 1};
    const char *slash = strrchr(text, '/');
    const char *p = text, *name = slash ? slash + 1 : text;
    size_t prefix = 0, suffix = 0;

    while (*p) {
        size_t place = 0;
        char c = *p;

        if (p >= name) {
            struct hsio_pattern probe = out;

            if (p[0] == '%' && p[1] == '%') {
                p++;
            } else {
                place = read_place(p, &probe);
                if (!place && c == '%')
                    return hsio_fail(log, HS_ERR_INVALID,
                                     "%s: only %%d and %%0Nd are understood, and %%%% for a "
                                     "percent sign",
                                     text);
            }
            if (place && out.numbered)
                return hsio_fail(log, HS_ERR_INVALID, "%s: more than one place for a number", text);
            if (place)
                out = probe;
        }
        if (place) {
            out.numbered = true;
            p += place;
            continue;
        }
        if (out.numbered ? suffix + 1 >= sizeof(out.suffix) : prefix + 1 >= sizeof(out.prefix))
            return hsio_fail(log, HS_ERR_INVALID, "%.200s...: the name is too long", text);
        if (out.numbered)
            out.suffix[suffix++] = c;
        else
            out.prefix[prefix++] = c;
        p++;
    }
    if (out.digits > MAX_DIGITS)
        return hsio_fail(log, HS_ERR_INVALID, "%s: at most %d digits", text, MAX_DIGITS);
    if (out.has_range) {
        const int result = check_range(text, out.first, out.last, out.step, log);

        if (result)
            return result;
    }
    *pattern = out;
    return 0;
}

int hsio_pattern_format(const struct hsio_pattern *pattern, int64_t number, char *text, size_t size)
{
    const bool negative = number < 0;
    const uint64_t magnitude = negative ? 0 - (uint64_t)number : (uint64_t)number;
    int n;

    if (pattern->numbered)
        n = snprintf(text, size, "%s%s%0*" PRIu64 "%s", pattern->prefix, negative ? "-" : "",
                     pattern->digits, magnitude, pattern->suffix);
    else
        n = snprintf(text, size, "%s", pattern->prefix);
    return n >= 0 && (size_t)n < size ? 0 : HS_ERR_INVALID;
}

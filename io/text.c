// SPDX-License-Identifier: MIT
#include "internal.h"

#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char *hsio_text_format(const char *format, ...)
{
    va_list args;
    char *text = NULL;
    int length;

    va_start(args, format);
    length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length >= 0)
        text = malloc((size_t)length + 1);
    if (text) {
        va_start(args, format);
        vsnprintf(text, (size_t)length + 1, format, args);
        va_end(args);
    }
    return text;
}

size_t hsio_text_append(char *text, size_t size, size_t length, const char *format, ...)
{
    va_list args;
    int more;

    if (length + 1 >= size)
        return length;
    va_start(args, format);
    more = vsnprintf(text + length, size - length, format, args);
    va_end(args);
    if (more < 0)
        return length;
    return (size_t)more < size - length ? length + (size_t)more : size - 1;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool hsio_text_same(const char *a, const char *b, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (lower(a[i]) != lower(b[i]))
            return false;
        if (!a[i])
            return true;
    }
    return true;
}

int hsio_text_distance(const char *a, const char *b)
{
    enum {
        MAX = 64
    };
    const size_t na = strlen(a), nb = strlen(b);
    int row[MAX + 1];

    if (na > MAX || nb > MAX)
        return 99;
    for (size_t j = 0; j <= nb; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        int diagonal = row[0];

        row[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            const int above = row[j];
            int best = diagonal + (lower(a[i - 1]) != lower(b[j - 1]));

            best = above + 1 < best ? above + 1 : best;
            row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            diagonal = above;
        }
    }
    return row[nb] < 99 ? row[nb] : 99;
}

/* Applications that call setlocale() must not change what a file means. */
static locale_t enter_c_locale(locale_t *old)
{
    const locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);

    if (c)
        *old = uselocale(c);
    return c;
}

static void leave_c_locale(locale_t c, locale_t old)
{
    if (c) {
        uselocale(old);
        freelocale(c);
    }
}

/* One number; false if there is none, or it is too large for a double. */
static bool read_double(const char *text, char **end, double *value)
{
    errno = 0;
    *value = strtod(text, end);
    return *end != text && !(errno == ERANGE && (*value > 1 || *value < -1));
}

int hsio_numbers_parse(const char *text, double *numbers, int max)
{
    static const char blanks[] = " \t";
    locale_t old = (locale_t)0;
    const locale_t c = enter_c_locale(&old);
    const char *at = text + strspn(text, blanks);
    int count = 0;

    if (!c)
        return HS_ERR_NOMEM;
    while (*at && count >= 0) {
        char *end;
        double value;
        // Numbers that touch each other are none.
        const bool good = read_double(at, &end, &value) && (!*end || strchr(blanks, *end));

        if (good && count < max)
            numbers[count] = value;
        count = good ? count + 1 : HS_ERR_FORMAT;
        at = end + strspn(end, blanks);
    }
    leave_c_locale(c, old);
    return count;
}

bool hsio_text_to_double(const char *text, double *value)
{
    double v;

    if (hsio_numbers_parse(text, &v, 1) != 1)
        return false;
    *value = v;
    return true;
}

void hsio_text_from_float(char *text, size_t size, float value)
{
    locale_t old = (locale_t)0;
    const locale_t c = enter_c_locale(&old);

    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, size, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value)
            break;
    }
    leave_c_locale(c, old);
}

char *hsio_path_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    const int length = slash ? (int)(slash - path) + 1 : 0;

    return hsio_text_format("%.*s", length, path);
}

char *hsio_path_join(const char *folder, const char *name)
{
    const size_t length = strlen(folder);

    if (name[0] == '/' || !length)
        return hsio_text_format("%s", name);
    return hsio_text_format("%s%s%s", folder, folder[length - 1] == '/' ? "" : "/", name);
}

bool hsio_path_has_extension(const char *path, const char *extension)
{
    const size_t length = strlen(path), tail = strlen(extension);

    return length >= tail && hsio_text_same(path + length - tail, extension, tail);
}

int hsio_path_size(const char *path, const struct hs_log *log, uint64_t *bytes)
{
    struct stat st;

    if (stat(path, &st))
        return hsio_fail(log, HS_ERR_IO, "%s: cannot be opened: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return hsio_fail(log, HS_ERR_IO, "%s: is not a regular file", path);
    *bytes = (uint64_t)st.st_size;
    return 0;
}

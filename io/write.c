// SPDX-License-Identifier: MIT
#include "internal.h"

#include <string.h>

static int check_plane(const char *path, int width, const struct hsio_write_plane *p,
                       const struct hs_log *log)
{
    const size_t row = (size_t)width * hsio_format_bytes(p->format);

    if ((unsigned)p->plane >= HSIO_PLANE_COUNT || !row || !p->data)
        return hsio_fail(log, HS_ERR_INVALID, "%s: a plane has no data or no format", path);
    if (p->row_bytes && p->row_bytes < row)
        return hsio_fail(log, HS_ERR_INVALID, "%s: plane %s: rows of %zu bytes, %zu are needed",
                         path, hsio_plane_name(p->plane), p->row_bytes, row);
    return 0;
}

/* PNG and raw take one plane. */
static int write_plain(const char *path, int width, int height, const struct hsio_write_plane *p,
                       int count, const struct hsio_write_options *o, const struct hs_log *log)
{
    const char *dot = strrchr(path, '.');
    const int format = dot ? hsio_format_from_name(dot + 1) : -1;
    const bool png = hsio_path_has_extension(path, ".png");

    if (!png && format < 1)
        return hsio_fail(log, HS_ERR_INVALID,
                         "%s: unknown kind of file; .exr, .png or a raw format such as .rgba16f",
                         path);
    if (count != 1)
        return hsio_fail(log, HS_ERR_INVALID, "%s: takes one plane, %d given", path, count);
    if (!png && format != (int)p->format)
        return hsio_fail(log, HS_ERR_INVALID, "%s: the plane is %s", path,
                         hsio_format_name(p->format));
    if (!png)
        return hsio_raw_write(path, width, height, p, log);
    if (hsio_format_channels(p->format) == 2 ||
        (o->png_bits && o->png_bits != 8 && o->png_bits != 16))
        return hsio_fail(log, HS_ERR_INVALID, "%s: PNG needs 1 or 4 channels and 8 or 16 bits",
                         path);
    return hsio_png_write(path, width, height, p, o, log);
}

int hsio_write(const char *path, int width, int height, const struct hsio_write_plane *planes,
               int count, const struct hsio_write_options *options, const struct hs_log *log)
{
    const struct hsio_write_options none = {0};
    const struct hsio_write_options *o = options ? options : &none;
    int result = 0;

    if (count < 1 || width < 1 || height < 1 || width > HSIO_MAX_SIDE || height > HSIO_MAX_SIDE ||
        (int64_t)width * height > HSIO_MAX_PIXELS)
        return hsio_fail(log, HS_ERR_INVALID, "%s: cannot write %d planes of %dx%d", path, count,
                         width, height);
    for (int i = 0; i < count && !result; i++)
        result = check_plane(path, width, &planes[i], log);
    if (result)
        return result;
    if (hsio_path_has_extension(path, ".exr"))
        return hsio_exr_write(path, width, height, planes, count, o, log);
    return write_plain(path, width, height, planes, count, o, log);
}

int hsio_write_text(const char *path, const char *text, size_t bytes, const struct hs_log *log)
{
    struct hsio_output out;
    const int result = hsio_output_open(&out, path, log);

    if (result)
        return result;
    (void)hsio_output_write(&out, text, bytes); // A failure is told by hsio_output_commit().
    return hsio_output_commit(&out, log);
}

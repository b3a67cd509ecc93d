// SPDX-License-Identifier: MIT
#include "sheet.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

#define GAP 6
#define GLYPH_WIDTH 5
#define GLYPH_HEIGHT 7
#define GLYPH_ZOOM 2
#define LABEL_HEIGHT (GLYPH_HEIGHT * GLYPH_ZOOM + 2 * GAP)
#define BACKGROUND 0.12f
#define TEXT 0.95f

/** Rows from the top, the leftmost pixel is bit 4. Letters are drawn as capitals. */
static const struct {
    char c;
    unsigned char rows[GLYPH_HEIGHT];
} glyphs[] = {
    {'A', {0x0e, 0x11, 0x11, 0x1f, 0x11, 0x11, 0x11}},
    {'B', {0x1e, 0x11, 0x11, 0x1e, 0x11, 0x11, 0x1e}},
    {'C', {0x0f, 0x10, 0x10, 0x10, 0x10, 0x10, 0x0f}},
    {'D', {0x1e, 0x11, 0x11, 0x11, 0x11, 0x11, 0x1e}},
    {'E', {0x1f, 0x10, 0x10, 0x1e, 0x10, 0x10, 0x1f}},
    {'F', {0x1f, 0x10, 0x10, 0x1e, 0x10, 0x10, 0x10}},
    {'G', {0x0f, 0x10, 0x10, 0x13, 0x11, 0x11, 0x0f}},
    {'H', {0x11, 0x11, 0x11, 0x1f, 0x11, 0x11, 0x11}},
    {'I', {0x0e, 0x04, 0x04, 0x04, 0x04, 0x04, 0x0e}},
    {'J', {0x01, 0x01, 0x01, 0x01, 0x01, 0x11, 0x0e}},
    {'K', {0x11, 0x12, 0x14, 0x18, 0x14, 0x12, 0x11}},
    {'L', {0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x1f}},
    {'M', {0x11, 0x1b, 0x15, 0x15, 0x11, 0x11, 0x11}},
    {'N', {0x11, 0x19, 0x19, 0x15, 0x13, 0x13, 0x11}},
    {'O', {0x0e, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0e}},
    {'P', {0x1e, 0x11, 0x11, 0x1e, 0x10, 0x10, 0x10}},
    {'Q', {0x0e, 0x11, 0x11, 0x11, 0x15, 0x12, 0x0d}},
    {'R', {0x1e, 0x11, 0x11, 0x1e, 0x14, 0x12, 0x11}},
    {'S', {0x0f, 0x10, 0x10, 0x0e, 0x01, 0x01, 0x1e}},
    {'T', {0x1f, 0x04, 0x04, 0x04, 0x04, 0x04, 0x04}},
    {'U', {0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0e}},
    {'V', {0x11, 0x11, 0x11, 0x11, 0x0a, 0x0a, 0x04}},
    {'W', {0x11, 0x11, 0x11, 0x15, 0x15, 0x1b, 0x11}},
    {'X', {0x11, 0x11, 0x0a, 0x04, 0x0a, 0x11, 0x11}},
    {'Y', {0x11, 0x11, 0x0a, 0x04, 0x04, 0x04, 0x04}},
    {'Z', {0x1f, 0x01, 0x02, 0x04, 0x08, 0x10, 0x1f}},
    {'0', {0x0e, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0e}},
    {'1', {0x04, 0x0c, 0x04, 0x04, 0x04, 0x04, 0x0e}},
    {'2', {0x0e, 0x11, 0x01, 0x06, 0x08, 0x10, 0x1f}},
    {'3', {0x1e, 0x01, 0x01, 0x0e, 0x01, 0x01, 0x1e}},
    {'4', {0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02}},
    {'5', {0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e}},
    {'6', {0x0e, 0x10, 0x10, 0x1e, 0x11, 0x11, 0x0e}},
    {'7', {0x1f, 0x01, 0x02, 0x02, 0x04, 0x04, 0x04}},
    {'8', {0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e}},
    {'9', {0x0e, 0x11, 0x11, 0x0f, 0x01, 0x01, 0x0e}},
    {'.', {0x00, 0x00, 0x00, 0x00, 0x00, 0x0c, 0x0c}},
    {'-', {0x00, 0x00, 0x00, 0x0e, 0x00, 0x00, 0x00}},
    {'_', {0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1f}},
    {'/', {0x01, 0x01, 0x02, 0x04, 0x08, 0x10, 0x10}},
};

struct canvas {
    int width, height;
    float *rgba;
};

static void set_pixel(struct canvas *canvas, int x, int y, const float rgb[3])
{
    float *p = canvas->rgba + 4 * ((size_t)y * canvas->width + x);

    if (x >= 0 && y >= 0 && x < canvas->width && y < canvas->height)
        memcpy(p, rgb, 3 * sizeof(float));
}

static void draw_glyph(struct canvas *canvas, int x, int y, char c)
{
    static const float color[3] = {TEXT, TEXT, TEXT};

    for (size_t i = 0; i < sizeof(glyphs) / sizeof(glyphs[0]); i++) {
        if (glyphs[i].c != toupper((unsigned char)c))
            continue;
        for (int v = 0; v < GLYPH_HEIGHT * GLYPH_ZOOM; v++) {
            for (int u = 0; u < GLYPH_WIDTH * GLYPH_ZOOM; u++) {
                if (glyphs[i].rows[v / GLYPH_ZOOM] >> (GLYPH_WIDTH - 1 - u / GLYPH_ZOOM) & 1)
                    set_pixel(canvas, x + u, y + v, color);
            }
        }
    }
}

/** Centred; cut where it does not fit. */
static void draw_label(struct canvas *canvas, int x, int width, const char *text)
{
    const int advance = (GLYPH_WIDTH + 1) * GLYPH_ZOOM;
    int count = (int)strlen(text);

    if (count > width / advance)
        count = width / advance;
    x += (width - count * advance) / 2;
    for (int i = 0; i < count; i++)
        draw_glyph(canvas, x + i * advance, GAP, text[i]);
}

static void draw_crop(struct canvas *canvas, int x, int y, const struct tool_picture *picture,
                      const struct tool_crop *crop, int zoom)
{
    for (int v = 0; v < crop->height * zoom; v++) {
        for (int u = 0; u < crop->width * zoom; u++) {
            size_t at = (size_t)(crop->y + v / zoom) * picture->width + (crop->x + u / zoom);

            set_pixel(canvas, x + u, y + v, picture->rgb + 3 * at);
        }
    }
}

int tool_sheet_write(const struct tool_sheet *sheet, const char *path)
{
    struct canvas canvas = {.height = LABEL_HEIGHT};
    int column = 0, y = LABEL_HEIGHT, err;

    for (int i = 0; i < sheet->crop_count; i++) {
        if (sheet->crops[i].width * sheet->zoom > column)
            column = sheet->crops[i].width * sheet->zoom;
        canvas.height += sheet->crops[i].height * sheet->zoom + GAP;
    }
    canvas.width = sheet->columns * (column + GAP) + GAP;
    canvas.rgba = malloc((size_t)canvas.width * canvas.height * 4 * sizeof(float));
    if (!canvas.rgba)
        return HS_ERR_NOMEM;
    for (size_t i = 0; i < (size_t)canvas.width * canvas.height * 4; i++)
        canvas.rgba[i] = i % 4 == 3 ? 1 : BACKGROUND;
    for (int i = 0; i < sheet->columns; i++)
        draw_label(&canvas, GAP + i * (column + GAP), column, sheet->labels[i]);
    for (int k = 0; k < sheet->crop_count; k++) {
        for (int i = 0; i < sheet->columns; i++)
            draw_crop(&canvas, GAP + i * (column + GAP), y, sheet->pictures[i], &sheet->crops[k],
                      sheet->zoom);
        y += sheet->crops[k].height * sheet->zoom + GAP;
    }
    err = hsio_write(path, canvas.width, canvas.height,
                     &(struct hsio_write_plane){.plane = HSIO_PLANE_COLOR,
                                                .format = HSIO_FORMAT_RGBA32F,
                                                .data = canvas.rgba},
                     1, &(struct hsio_write_options){.curve = HSIO_CURVE_NONE}, tool_log());
    free(canvas.rgba);
    return err;
}

// SPDX-License-Identifier: MIT
// Pixels in system memory to the packed rows of an image, and back.
#include "internal.h"

#include <string.h>

/** Planes of a GBR format by channel R, G, B, A. */
static const int planes[4] = {2, 0, 1, 3};

static void pack_planar(const struct hs_av_format *format, const AVFrame *frame, uint8_t *to)
{
    const int stored = format->channels, channels = format->bytes / 4;

    for (int y = 0; y < frame->height; y++) {
        float *row = (float *)(void *)(to + (size_t)y * (size_t)frame->width * format->bytes);

        for (int c = 0; c < channels; c++) {
            const int plane = planes[c];
            const float *from =
                c < stored ? (const float *)(const void *)(frame->data[plane] +
                                                           (ptrdiff_t)y * frame->linesize[plane])
                           : NULL;

            for (int x = 0; x < frame->width; x++)
                row[x * channels + c] = from ? from[x] : 1;
        }
    }
}

void hs_av_pack(const struct hs_av_format *format, const AVFrame *frame, uint8_t *to)
{
    const size_t row_bytes = (size_t)frame->width * format->bytes;

    if (format->pack == HS_AV_PLANAR) {
        pack_planar(format, frame, to);
        return;
    }
    for (int y = 0; y < frame->height; y++) {
        const uint8_t *from = frame->data[0] + (ptrdiff_t)y * frame->linesize[0];
        uint8_t *row = to + (size_t)y * row_bytes;

        if (format->pack == HS_AV_COPY) {
            memcpy(row, from, row_bytes);
            continue;
        }
        for (int x = 0; x < frame->width; x++)
            memcpy(row + (size_t)x * format->bytes, from + 2 * (size_t)x * format->bytes,
                   format->bytes);
    }
}

void hs_av_unpack(const struct hs_av_format *format, const uint8_t *from, AVFrame *frame)
{
    const size_t row_bytes = (size_t)frame->width * format->bytes;

    for (int y = 0; y < frame->height; y++) {
        const uint8_t *row = from + (size_t)y * row_bytes;

        if (format->pack == HS_AV_COPY) {
            memcpy(frame->data[0] + (ptrdiff_t)y * frame->linesize[0], row, row_bytes);
            continue;
        }
        for (int c = 0; c < format->channels; c++) {
            const int plane = planes[c];
            float *to =
                (float *)(void *)(frame->data[plane] + (ptrdiff_t)y * frame->linesize[plane]);

            for (int x = 0; x < frame->width; x++)
                to[x] = ((const float *)(const void *)row)[4 * x + c];
        }
    }
}

// SPDX-License-Identifier: MIT
// AOVs of hssequencesrc: further layers of the files.
#include <string.h>

#include "gsthsformat.h"
#include "gsthssequencesrc.h"
#include "hsframe.h"

static int parse(GstHsSequenceSrc *self, const char *text)
{
    char **names = g_strsplit(text ? text : "", ",", -1);
    int err = 0;

    self->aov_count = 0;
    self->exact.count = 0;
    for (int i = 0; !err && names[i]; i++) {
        if (!*g_strstrip(names[i]))
            continue;
        if (self->aov_count == HS_AOV_MAX) {
            hs_log_message(&self->log.log, HS_LOG_ERROR, "aovs: at most %d layers", HS_AOV_MAX);
            err = HS_ERR_INVALID;
        } else {
            err = hsaov_parse(names[i], &self->log.log, &self->aovs[self->aov_count++]);
        }
    }
    g_strfreev(names);
    return err;
}

/** What the layer is taken for. Errors: HS_ERR_INVALID. */
static int find(GstHsSequenceSrc *self, struct hsio_frame *frame, int index)
{
    const struct hsaov_request *request = &self->aovs[index];
    GstHsAov *form = &self->aov_forms[index];
    struct hsio_layer_info info;
    char channels[sizeof(info.channels) + sizeof(info.part)], exact[HSAOV_EXACT_BYTES];
    enum hsaov_kind kind;
    int err = hsio_frame_layer(frame, request->name, &info);

    if (err < 0)
        return err;
    kind = hsaov_kind_of(request, &info);
    if (info.is_color) {
        hs_log_message(&self->log.log, HS_LOG_ERROR, "AOV %s: that layer is the colour",
                       request->name);
        return HS_ERR_INVALID;
    }
    hsaov_name_channels(&info, channels, sizeof(channels));
    *form = (GstHsAov){
        .plane.format =
            kind == HSAOV_NEAREST ? VK_FORMAT_UNDEFINED : hsframe_vk_format(info.format),
        .kind = kind == HSAOV_DATA ? HS_AOV_DATA : HS_AOV_LIGHT,
        .channels = g_intern_string(channels),
    };
    for (int i = 0; i < index; i++) {
        if (self->aov_forms[i].channels == form->channels) {
            hs_log_message(&self->log.log, HS_LOG_ERROR, "AOV %s: that layer, %s, was named before",
                           request->name, channels);
            return HS_ERR_INVALID;
        }
    }
    for (int i = 0; kind == HSAOV_NEAREST && hsaov_name_exact(&info, i, exact); i++)
        self->exact.patterns[self->exact.count++] = g_intern_string(exact);
    GST_INFO_OBJECT(self, "AOV %s: %s", request->name, hsaov_kind_about(kind));
    return 0;
}

int gst_hs_sequence_src_take_aovs(GstHsSequenceSrc *self, const char *text,
                                  struct hsio_sequence *sequence)
{
    struct hsio_frame *frame = NULL;
    int err = parse(self, text);

    if (!err && self->aov_count)
        err = hsio_frame_open(sequence, 0, &frame);
    for (int i = 0; !err && i < self->aov_count; i++)
        err = find(self, frame, i);
    hsio_frame_close(&frame);
    return err;
}

int gst_hs_sequence_src_read_aovs(GstHsSequenceSrc *self, struct hsio_frame *frame,
                                  GstBuffer *buffer)
{
    const struct hsio_frame_info *info = hsio_frame_info(frame);
    struct hsio_layer_request requests[HS_AOV_MAX];
    GstMapInfo maps[HS_AOV_MAX];
    GstHsAovMeta *meta;
    int err = 0;

    if (!self->aov_count)
        return 0;
    meta = gst_hs_aov_meta_add(buffer);
    meta->exact = self->exact;
    for (int i = 0; i < self->aov_count; i++) {
        const guint count = meta->count;
        GstHsAov aov = self->aov_forms[i];
        GstHsPlane *plane = &aov.plane;

        if (plane->format == VK_FORMAT_UNDEFINED)
            continue;
        plane->width = (guint)info->width;
        plane->height = (guint)info->height;
        plane->pixel_bytes = gst_hs_format_bytes(plane->format);
        plane->row_bytes = plane->pixel_bytes * plane->width;
        plane->buffer = gst_buffer_new_allocate(NULL, plane->row_bytes * plane->height, NULL);
        gst_buffer_map(plane->buffer, &maps[count], GST_MAP_WRITE);
        requests[count] = (struct hsio_layer_request){
            .name = self->aovs[i].name,
            .format = gst_hs_format_to_file(plane->format),
            .buffer = maps[count].data,
            .buffer_bytes = maps[count].size,
        };
        gst_hs_aov_meta_append(meta, &aov);
    }
    if (meta->count)
        err = hsio_frame_read_layers(frame, requests, (int)meta->count);
    for (guint i = 0; i < meta->count; i++)
        gst_buffer_unmap(meta->list[i].plane.buffer, &maps[i]);
    return err;
}

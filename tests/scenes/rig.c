// SPDX-License-Identifier: MIT
#include "rig.h"

#include "test.h"

static const uint32_t channels[RIG_PLANES] = {4, 1, 2, 4, 1, 4, 4, 1, 1, 4};

uint32_t rig_channels(enum rig_plane plane)
{
    return channels[plane];
}

static void on_line(void *priv, enum hs_log_level level, const char *line)
{
    struct rig *rig = priv;
    if (level == HS_LOG_ERROR)
        snprintf(rig->last, sizeof(rig->last), "%s", line);
    if (!rig->quiet)
        fprintf(stderr, "%s\n", line);
}

bool rig_open(struct rig *rig)
{
    const char *select = getenv("HS_TEST_DEVICE");
    *rig = (struct rig){0};
    rig->log = (struct hs_log){on_line, rig, HS_LOG_WARN};
    const struct vkdev_params params = {select ? select : "cpu", true, &rig->log};
    const int err = vkdev_open(&rig->dev, &params);
    if (err == HS_ERR_UNSUPPORTED || err == HS_ERR_INVALID)
        return false;
    REQUIRE_EQ(err, 0);
    REQUIRE_EQ(
        hs_scenes_create(&(struct hs_scenes_params){.get_instance_proc_addr = vkGetInstanceProcAddr,
                                                    .instance = rig->dev.instance,
                                                    .physical_device = rig->dev.physical_device,
                                                    .device = rig->dev.device,
                                                    .log = &rig->log},
                         &rig->scenes),
        0);
    return true;
}

void rig_close(struct rig *rig)
{
    hs_scenes_destroy(&rig->scenes);
    const uint32_t messages = rig->dev.messages;
    vkdev_close(&rig->dev);
    REQUIRE_EQ(messages, 0);
}

struct hs_clip *rig_clip(struct rig *rig, const struct hs_clip_params *params)
{
    struct hs_clip *clip = NULL;
    REQUIRE_EQ(hs_clip_create(rig->scenes, params, &clip), 0);
    return clip;
}

void rig_render(struct rig *rig, struct hs_clip *clip, uint32_t frame, uint32_t planes,
                struct rig_frame *out)
{
    static const VkFormat formats[5] = {0, VK_FORMAT_R32_SFLOAT, VK_FORMAT_R32G32_SFLOAT, 0,
                                        VK_FORMAT_R32G32B32A32_SFLOAT};
    const struct hs_clip_params *p = hs_clip_settings(clip);
    struct vkdev_image images[RIG_PLANES] = {0};
    struct vkdev_buffer buffers[RIG_PLANES] = {0};
    VkCommandBuffer cmd;
    *out = (struct rig_frame){0};
    REQUIRE_EQ(hs_clip_frame(clip, frame, &out->info), 0);
    REQUIRE_EQ(vkdev_begin(&rig->dev, &cmd), 0);
    for (uint32_t i = 0; i < RIG_PLANES; i++) {
        if (!(planes >> i & 1u))
            continue;
        out->width[i] = i == RIG_REFERENCE ? p->width : p->render_width;
        out->height[i] = i == RIG_REFERENCE ? p->height : p->render_height;
        REQUIRE_EQ(vkdev_image_create(
                       &rig->dev, formats[channels[i]], out->width[i], out->height[i],
                       VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT, &images[i]),
                   0);
        vkdev_image_barrier(cmd, &images[i], VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL);
    }
    const struct hs_clip_job job = {
        .frame = frame,
        .planes = {images[0].view, images[1].view, images[2].view, images[3].view, images[4].view,
                   images[5].view, images[6].view, images[7].view, images[8].view, images[9].view},
    };
    REQUIRE_EQ(hs_clip_record(clip, &job, 1, cmd), 0);
    for (uint32_t i = 0; i < RIG_PLANES; i++) {
        if (!(planes >> i & 1u))
            continue;
        const VkDeviceSize size = 4ull * channels[i] * out->width[i] * out->height[i];
        REQUIRE_EQ(vkdev_buffer_create(&rig->dev, size, VK_BUFFER_USAGE_TRANSFER_DST_BIT, true,
                                       &buffers[i]),
                   0);
        vkdev_image_barrier(cmd, &images[i], VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_GENERAL);
        vkCmdCopyImageToBuffer(
            cmd, images[i].image, VK_IMAGE_LAYOUT_GENERAL, buffers[i].buffer, 1,
            &(VkBufferImageCopy){.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                 .imageExtent = {out->width[i], out->height[i], 1}});
    }
    REQUIRE_EQ(vkdev_submit_wait(&rig->dev, cmd), 0);
    for (uint32_t i = 0; i < RIG_PLANES; i++) {
        if (!(planes >> i & 1u))
            continue;
        out->planes[i] = malloc(buffers[i].size);
        REQUIRE(out->planes[i]);
        memcpy(out->planes[i], buffers[i].map, buffers[i].size);
        vkdev_buffer_destroy(&rig->dev, &buffers[i]);
        vkdev_image_destroy(&rig->dev, &images[i]);
    }
}

void rig_free(struct rig_frame *frame)
{
    for (uint32_t i = 0; i < RIG_PLANES; i++)
        free(frame->planes[i]);
    *frame = (struct rig_frame){0};
}

// SPDX-License-Identifier: MIT
// Writes small files of every kind into OUT/exr, OUT/png, OUT/raw and OUT/model.
#include <errno.h>
#include <sys/stat.h>

#include "io/io_test.h"
#include "model_file.h"

#define H EXR_PIXEL_HALF
#define F EXR_PIXEL_FLOAT
#define U EXR_PIXEL_UINT
#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static const char *out;

static const char *path_of(const char *kind, const char *name)
{
    static char path[512];

    snprintf(path, sizeof(path), "%s/%s", out, kind);
    REQUIRE(!mkdir(path, 0777) || errno == EEXIST);
    snprintf(path, sizeof(path), "%s/%s/%s", out, kind, name);
    return path;
}

static void cameras(exr_context_t context, int part)
{
    const exr_attr_m44f_t m = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 2, 3, 1}};

    REQUIRE_EQ(exr_attr_set_m44f(context, part, "worldToCamera", &m), 0);
    REQUIRE_EQ(exr_attr_set_m44f(context, part, "worldToNDC", &m), 0);
    REQUIRE_EQ(exr_attr_set_string(context, part, "owner", "nobody"), 0);
}

static void make_exrs(void)
{
    static const struct io_channel blender[] = {
        {"ViewLayer.Combined.A", H, 0, 0}, {"ViewLayer.Combined.B", H, 0, 0},
        {"ViewLayer.Combined.G", H, 0, 0}, {"ViewLayer.Combined.R", H, 0, 0},
        {"ViewLayer.Depth.Z", F, 0, 0},    {"ViewLayer.Vector.W", F, 0, 0},
        {"ViewLayer.Vector.X", F, 0, 0},   {"ViewLayer.Vector.Y", F, 0, 0},
        {"ViewLayer.Vector.Z", F, 0, 0},   {"id", U, 0, 0}};
    static const struct io_channel chroma[] = {{"BY", H, 2, 2}, {"RY", H, 2, 2}, {"Y", H, 0, 0}};
    static const struct io_channel rgb[] = {{"B", H, 0, 0}, {"G", F, 0, 0}, {"R", H, 0, 0}};
    char name[64];

    for (int c = EXR_COMPRESSION_NONE; c < EXR_COMPRESSION_LAST_TYPE; c++) {
        for (int kind = 0; kind < 4; kind++) {
            const struct io_part p[2] = {{.name = kind == 2 ? "beauty" : NULL,
                                          .data = {kind == 1 ? -2 : 0, 0, 11, 9},
                                          .display = {0, 0, kind == 1 ? 8 : 11, 9},
                                          .compression = (exr_compression_t)c,
                                          .tile = kind == 1 ? 8 : 0,
                                          .mips = kind == 1,
                                          .channels = kind == 3   ? chroma
                                                      : kind == 0 ? blender
                                                                  : rgb,
                                          .channel_count = kind == 0 ? COUNT(blender) : 3,
                                          .attributes = kind == 0 ? cameras : NULL},
                                         {.name = "a",
                                          .data = {0, 0, 11, 9},
                                          .compression = (exr_compression_t)c,
                                          .channels = rgb,
                                          .channel_count = 3}};

            if (kind == 3)
                ((int *)p[0].data)[0] = 0;
            snprintf(name, sizeof(name), "c%d_%d.exr", c, kind);
            io_make_exr(path_of("exr", name), p, kind == 2 ? 2 : 1, NULL);
        }
    }
}

static void make_pngs(void)
{
    static const float pixels[8 * 6 * 4] = {0.5f, 2, 0.1f, 1};

    for (int i = 0; i < 4; i++) {
        const struct hsio_write_plane plane = {.plane = i == 3 ? HSIO_PLANE_DEPTH : 0,
                                               .format =
                                                   i == 3 ? HSIO_FORMAT_R32F : HSIO_FORMAT_RGBA32F,
                                               .data = pixels};
        const struct hsio_write_options options = {.png_bits = i & 1 ? 16 : 8, .png_alpha = i == 2};
        char name[32];

        snprintf(name, sizeof(name), "p%d.png", i);
        // Grey planes may be refused.
        (void)hsio_write(path_of("png", name), 8, 6, &plane, 1, &options, NULL);
    }
}

static void make_raws(void)
{
    static const char whole[] =
        "{\"format\": \"hindsight-frames\", \"version\": 1, \"output\": [8, 8], \"render\": "
        "{\"width\": 4, \"height\": 4}, \"convention\": {\"motion.unit\": \"uv\", \"depth\": "
        "{\"kind\": \"hardware\"}}, \"frames\": [{\"number\": 3, \"color\": \"p.rgba16f\", "
        "\"depth\": {\"file\": \"p.bin\", \"format\": \"r32f\"}, \"motion\": \"p.flo\", "
        "\"jitter\": [0.25, -0.25], \"near\": 0.1, \"far\": null, \"reset\": true, \"view\": "
        "[[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]], \"exposure\": 1.5, \"convention\": "
        "{\"motion.sign_x\": -1}}]}";
    static const char small[] =
        "{\"render\": [2, 2], \"motion_scale\": [1, -1], \"sharpness\": 0.5, \"frames\": "
        "[{\"color\": \"p.bin\", \"depth\": \"p.dpt\", \"exposure\": \"p.r32f\"}, {\"colour\": "
        "{\"file\": \"p.rgba16f\", \"format\": \"rgba16f\", \"width\": 2, \"height\": 2}}]}";
    static const char cameras_only[] =
        "{\"jitter\": \"none\", \"pattern\": \"p.%d.exr\", \"frames\": [{\"number\": 1, \"proj\": "
        "[1,0,0,0,0,1,0,0,0,0,-1,-0.1,0,0,-1,0]}]}";
    static const char foreign[] =
        "{\"Format\": \"x\", \"Samples\": [{\"Jitter\": {\"X\": 0.5, \"Y\": 0}}]}";
    static const char *const texts[] = {whole, small, cameras_only, foreign};
    uint8_t bytes[4096] = {0};
    const float tag = 202021.25f;

    for (int i = 0; i < COUNT(texts); i++) {
        const size_t length = strlen(texts[i]);
        char name[32];

        REQUIRE(length + 160 < sizeof(bytes));
        memset(bytes, 0, sizeof(bytes));
        memcpy(bytes, texts[i], length);
        memcpy(bytes + length + 1, &tag, sizeof(tag));
        bytes[length + 5] = bytes[length + 9] = (uint8_t)(i == 0 ? 4 : 2);
        snprintf(name, sizeof(name), "r%d.bin", i);
        io_store(path_of("raw", name), bytes, length + 1 + (i == 0 ? 128 : 32));
    }
}

static void make_models(void)
{
    const struct fx_model_config *configs[] = {&fx_model_tiny, &fx_model_ray, &fx_model_integers};
    struct test_rng rng = {TEST_DEFAULT_SEED};

    for (int i = 0; i < COUNT(configs); i++) {
        struct fx_model_config config = *configs[i];
        char name[32];

        for (int k = 0; k < 3; k++)
            config.channels[k] = 16;
        struct fx_model_file file = fx_model_file_make(&rng, &config);
        snprintf(name, sizeof(name), "m%d.safetensors", i);
        fx_model_file_write(&file, path_of("model", name));
        fx_model_file_finish(&file);
    }
}

int main(int argc, char **argv)
{
    REQUIRE(argc == 2);
    out = argv[1];
    REQUIRE(!mkdir(out, 0777) || errno == EEXIST);
    make_exrs();
    make_pngs();
    make_raws();
    make_models();
    printf("corpus in %s\n", out);
    return 0;
}

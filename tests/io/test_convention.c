// SPDX-License-Identifier: MIT
#include "io_test.h"

#include <locale.h>

static void overrides(struct test_rng *rng)
{
    static const struct {
        const char *key, *value, *back; ///< `back` NULL: refused.
    } table[] = {
        {"motion.scale_x", "-1", "-1"},
        {"motion.scale_y", "0.5", "0.5"},
        {"motion.scale_y", "0", NULL},
        {"motion.scale_y", "inf", NULL},
        {"motion.scale_y", "nan", NULL},
        {"motion.scale_y", "1,5", NULL},
        {"motion.scale_y", "", NULL},
        {"motion.sign_x", "-1", "-1"},
        {"motion.sign_x", "2", NULL},
        {"motion.bias_x", "0.5", "0.5"},
        {"motion.unit", "ndc", "ndc"},
        {"motion.unit", "n", NULL},
        {"motion.unit", "pixels", NULL},
        {"motion.unwritten", "zero_at_far", "zero_at_far"},
        {"motion.unwritten", "zero", "zero"},
        {"motion.direction", "next", "next"},
        {"motion.resolution", "display", "display"},
        {"motion.swap", "yes", "1"},
        {"motion.swap", "off", "0"},
        {"motion.jittered", "maybe", NULL},
        {"motion_next.sign_y", "-1", "-1"},
        {"depth.kind", "hardware_inverted", "hardware_inverted"},
        {"depth.unit_m", "0.01", "0.01"},
        {"depth.near", "0.1", "0.1"},
        {"depth.far", "inf", "inf"},
        {"depth.background", "1e10", "1e+10"},
        {"normal.space", "view", "view"},
        {"normal.range", "unsigned", "unsigned"},
        {"normal.packed", "true", "1"},
        {"roughness.kind", "smoothness", "smoothness"},
        {"specular_albedo.kind", "metal_white", "metal_white"},
        {"specular_albedo.kind", "white", NULL},
        {"jitter.unit", "uv", "uv"},
        {"jitter.sign_y", "-1", "-1"},
        {"color.transfer", "display", "display"},
        {"colour.transfer", "linear", "linear"},
        {"color.channels", "a/R,G,B", "a/R,G,B"},
        {"colour.channels", "x.R,x.G", "x.R,x.G"},
        {"layer", "View Layer", "View Layer"},
    };

    (void)rng;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct hsio_convention conv, before;
        char text[HSIO_PATTERN_BYTES];
        int result;

        REQUIRE_EQ(hsio_convention_preset(&conv, NULL, &io_log), 0);
        REQUIRE_STR(conv.preset, "auto");
        REQUIRE_EQ(hsio_convention_set(&conv, "depth.kind", NULL, &io_log), HS_ERR_INVALID);
        REQUIRE_EQ(hsio_convention_set(&conv, "preset", NULL, &io_log), HS_ERR_INVALID);
        REQUIRE_EQ(hsio_convention_preset(&conv, "raw", &io_log), 0);
        before = conv;
        io_log_clear();
        result = hsio_convention_set(&conv, table[i].key, table[i].value, &io_log);
        if (!table[i].back) {
            REQUIRE_EQ(result, HS_ERR_INVALID);
            REQUIRE_EQ(io_errors, 1);
            REQUIRE(strstr(io_last[HS_LOG_ERROR], table[i].key));
            REQUIRE_MEM(&conv, &before, sizeof(conv));
            continue;
        }
        REQUIRE_MSG(!result, "%s", io_last[HS_LOG_ERROR]);
        REQUIRE_EQ(hsio_convention_get(&conv, table[i].key, text, sizeof(text)), 0);
        REQUIRE_STR(text, table[i].back);
    }
}

static void every_key_round_trips(struct test_rng *rng)
{
    (void)rng;
    REQUIRE(!hsio_convention_key(-1) && !hsio_convention_key(hsio_convention_key_count()));
    for (int p = 0; p < hsio_preset_count(); p++) {
        struct hsio_convention a, b;

        REQUIRE(hsio_preset_text(p)[0]);
        REQUIRE_EQ(hsio_convention_preset(&a, hsio_preset_name(p), &io_log), 0);
        REQUIRE_STR(a.preset, hsio_preset_name(p));
        REQUIRE_EQ(hsio_convention_preset(&b, "raw", &io_log), 0);
        for (int i = 0; i < hsio_convention_key_count(); i++) {
            char text[HSIO_PATTERN_BYTES];

            REQUIRE(hsio_convention_key_text(i)[0] && hsio_convention_key_choices(i));
            REQUIRE_EQ(hsio_convention_get(&a, hsio_convention_key(i), text, sizeof(text)), 0);
            REQUIRE_EQ(hsio_convention_set(&b, hsio_convention_key(i), text, &io_log), 0);
        }
        memset(b.set_keys, 0, sizeof(b.set_keys));
        REQUIRE_MEM(&a, &b, sizeof(a));
    }
}

static void near_keys(struct test_rng *rng)
{
    static const char *const table[][2] = {
        {"motion.scale", "motion.scale_x, motion.scale_y"},
        {"motion.scalex", "motion.scale_x"},
        {"sign_y", "motion.sign_y"},
        {"depth.knd", "depth.kind"},
        {"motion.wurst", "motion.unit"},
        {"zzzzzzzzzz", "layer"},
    };
    struct hsio_convention conv;

    (void)rng;
    REQUIRE_EQ(hsio_convention_preset(&conv, "raw", &io_log), 0);
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        REQUIRE_EQ(hsio_convention_set(&conv, table[i][0], "1", &io_log), HS_ERR_INVALID);
        REQUIRE_MSG(strstr(io_last[HS_LOG_ERROR], table[i][1]), "%s", io_last[HS_LOG_ERROR]);
    }
    REQUIRE_EQ(hsio_convention_preset(&conv, "blendr", &io_log), HS_ERR_INVALID);
    REQUIRE(strstr(io_last[HS_LOG_ERROR], "auto raw blender"));
    REQUIRE_EQ(hsio_convention_set_text(&conv, "motion.scale_x", &io_log), HS_ERR_INVALID);
    REQUIRE_EQ(hsio_convention_set_text(&conv, "motion.scale_x=2", &io_log), 0);
}

static void measured(struct test_rng *rng)
{
    (void)rng;
    REQUIRE(hsio_preset_measured("raw") && hsio_preset_measured("blender"));
    REQUIRE(!hsio_preset_measured("unreal") && !hsio_preset_measured("auto"));
    REQUIRE(!hsio_preset_measured("nothing"));
}

static void limit(struct test_rng *rng)
{
    const struct hsio_plane_stats inside = {.min = -0.499f, .max = 0.4f};
    const struct hsio_plane_stats low = {.min = -0.5f, .max = 0.4f},
                                  high = {.min = 0.1f, .max = 0.5f};
    struct hsio_convention c;

    (void)rng;
    REQUIRE_EQ(hsio_convention_preset(&c, "unity", &io_log), 0);
    REQUIRE(!hsio_motion_at_limit(&c.motion, &inside));
    REQUIRE(hsio_motion_at_limit(&c.motion, &low) && hsio_motion_at_limit(&c.motion, &high));
    c.motion.bias_x = c.motion.bias_y = 0.5f;
    REQUIRE(hsio_motion_at_limit(&c.motion, &low) && !hsio_motion_at_limit(&c.motion, &high));
    REQUIRE_EQ(hsio_convention_preset(&c, "raw", &io_log), 0);
    REQUIRE(!hsio_motion_at_limit(&c.motion, &low));
}

static void blender(struct test_rng *rng)
{
    struct hsio_convention c;

    (void)rng;
    REQUIRE_EQ(hsio_convention_preset(&c, "blender", &io_log), 0);
    REQUIRE(c.motion.sign_x == 1 && c.motion.sign_y == -1 && c.motion.scale_x == 1);
    REQUIRE(c.motion_next.sign_x == -1 && c.motion_next.sign_y == 1);
    REQUIRE_EQ(c.motion_next.direction, HSIO_DIRECTION_NEXT);
    REQUIRE_EQ(c.motion.unwritten, HSIO_UNWRITTEN_ZERO_AT_FAR);
    REQUIRE(c.depth.background == 1e10f && c.depth.unit_m == 1);
    REQUIRE_EQ(c.depth.kind, HSIO_DEPTH_LINEAR);
}

static void background_follows_kind(struct test_rng *rng)
{
    struct hsio_convention c;

    (void)rng;
    REQUIRE_EQ(hsio_convention_preset(&c, "raw", &io_log), 0);
    REQUIRE(isinf(c.depth.background));
    REQUIRE_EQ(hsio_convention_set(&c, "depth.kind", "hardware", &io_log), 0);
    REQUIRE(c.depth.background == 1);
    REQUIRE_EQ(hsio_convention_set(&c, "depth.kind", "hardware_inverted", &io_log), 0);
    REQUIRE(c.depth.background == 0);
    REQUIRE_EQ(hsio_convention_set(&c, "depth.background", "0.25", &io_log), 0);
    REQUIRE_EQ(hsio_convention_set(&c, "depth.kind", "hardware", &io_log), 0);
    REQUIRE(c.depth.background == 0.25f);
    REQUIRE_EQ(hsio_convention_preset(&c, "nss", &io_log), 0);
    REQUIRE(c.depth.background == 1);
}

static void motion_scale(struct test_rng *rng)
{
    struct hsio_motion_convention m = {.sign_x = 1, .sign_y = -1, .scale_x = 1, .scale_y = 2};
    float s[2];

    (void)rng;
    hsio_motion_scale(&m, 100, 50, 300, 100, s);
    REQUIRE(s[0] == 1 && s[1] == -2);
    m.unit = HSIO_UNIT_UV;
    hsio_motion_scale(&m, 100, 50, 300, 100, s);
    REQUIRE(s[0] == 100 && s[1] == -100);
    m.unit = HSIO_UNIT_NDC;
    m.resolution = HSIO_RESOLUTION_DISPLAY;
    hsio_motion_scale(&m, 100, 50, 300, 100, s);
    REQUIRE(s[0] == 50 && s[1] == -50);
    m.unit = HSIO_UNIT_PX;
    hsio_motion_scale(&m, 100, 50, 400, 100, s);
    REQUIRE(s[0] == 0.25f && s[1] == -1);
}

/* A program with a decimal comma reads and writes the same. */
static void locale(struct test_rng *rng)
{
    struct hsio_convention c;
    double numbers[2];
    char text[32];

    (void)rng;
    if (!setlocale(LC_NUMERIC, "comma"))
        TEST_SKIP("no locale with a decimal comma");
    snprintf(text, sizeof(text), "%g", 0.5);
    REQUIRE_STR(text, "0,5");
    REQUIRE_EQ(hsio_convention_preset(&c, "raw", &io_log), 0);
    REQUIRE_EQ(hsio_convention_set(&c, "motion.bias_x", "0.5", &io_log), 0);
    REQUIRE(c.motion.bias_x == 0.5f);
    REQUIRE_EQ(hsio_convention_get(&c, "motion.bias_x", text, sizeof(text)), 0);
    REQUIRE_STR(text, "0.5");
    REQUIRE_EQ(hsio_numbers_parse("0.25 -1e3", numbers, 2), 2);
    REQUIRE(numbers[0] == 0.25 && numbers[1] == -1000);
    REQUIRE_EQ(hsio_numbers_parse("0,25", numbers, 2), HS_ERR_FORMAT);
    setlocale(LC_NUMERIC, "C");
}

static void numbers(struct test_rng *rng)
{
    static const struct {
        const char *text;
        int count;
    } table[] = {
        {"", 0},
        {"  ", 0},
        {"1", 1},
        {" -2.5\t.5e1 ", 2},
        {"1 2 3 4", 4},
        {"inf -inf nan", 3},
        {"1e-400", 1},
        {"1e400", HS_ERR_FORMAT},
        {"1,2", HS_ERR_FORMAT},
        {"1-2", HS_ERR_FORMAT},
        {"1 x", HS_ERR_FORMAT},
        {"1k", HS_ERR_FORMAT},
        {"x", HS_ERR_FORMAT},
        {"1\n2", HS_ERR_FORMAT},
    };

    (void)rng;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        double values[3] = {-7, -7, -7};
        const int count = hsio_numbers_parse(table[i].text, values, 2);

        REQUIRE_MSG(count == table[i].count, "\"%s\" gave %d", table[i].text, count);
        REQUIRE(values[2] == -7);
    }
}

static void halves(struct test_rng *rng)
{
    (void)rng;
    for (uint32_t i = 0; i < 65536; i++) {
        const float f = hsio_half_to_float((uint16_t)i);
        const bool nan = (i & 0x7c00) == 0x7c00 && (i & 0x3ff);

        REQUIRE_EQ(isnan(f) != 0, nan);
        if (!nan)
            REQUIRE_HEX(hsio_float_to_half(f), i);
        if (nan || (i & 0x7fff) >= 0x7bff)
            continue;
        // Between two neighbours: to nearest, ties to even.
        {
            const float up = hsio_half_to_float((uint16_t)(i + 1)), mid = 0.5f * f + 0.5f * up;

            REQUIRE_HEX(hsio_float_to_half(mid), i & 1 ? i + 1 : i);
            REQUIRE_HEX(hsio_float_to_half(nextafterf(mid, f)), i);
            REQUIRE_HEX(hsio_float_to_half(nextafterf(mid, up)), i + 1);
        }
    }
    REQUIRE_HEX(hsio_float_to_half(65519.996f), 0x7bff);
    REQUIRE_HEX(hsio_float_to_half(65520), 0x7c00);
    REQUIRE_HEX(hsio_float_to_half(-1e30f), 0xfc00);
    REQUIRE_HEX(hsio_float_to_half(1e-30f), 0);
    REQUIRE(isnan(hsio_half_to_float(hsio_float_to_half(NAN))));
}

static void names(struct test_rng *rng)
{
    (void)rng;
    for (int i = 0; i < HSIO_PLANE_COUNT; i++)
        REQUIRE_EQ(hsio_plane_from_name(hsio_plane_name((enum hsio_plane)i)), i);
    REQUIRE_EQ(hsio_plane_from_name("colour"), HSIO_PLANE_COLOR);
    REQUIRE_EQ(hsio_plane_from_name("wurst"), -1);
    REQUIRE(!hsio_plane_name(HSIO_PLANE_COUNT));
    for (int i = 1; i < HSIO_FORMAT_COUNT; i++)
        REQUIRE_EQ(hsio_format_from_name(hsio_format_name((enum hsio_format)i)), i);
    REQUIRE_EQ(hsio_format_bytes(HSIO_FORMAT_RGBA16F), 8);
    REQUIRE_EQ(hsio_format_bytes(HSIO_FORMAT_RG32F), 8);
    REQUIRE_EQ(hsio_format_bytes(HSIO_FORMAT_NATIVE), 0);
}

static const struct test_case cases[] = {
    {"overrides", overrides},
    {"every_key_round_trips", every_key_round_trips},
    {"near_keys", near_keys},
    {"measured", measured},
    {"limit", limit},
    {"blender", blender},
    {"background_follows_kind", background_follows_kind},
    {"motion_scale", motion_scale},
    {"locale", locale},
    {"numbers", numbers},
    {"halves", halves},
    {"names", names},
};
TEST_MAIN(cases)

// SPDX-License-Identifier: MIT
// Model files, good and damaged: a damaged one gives its code and one line that says what is wrong.
#include "engine/src/weights.h"

#include <sys/stat.h>
#include <unistd.h>

#include "model_file.h"
#include "tests/test.h"

static struct {
    int lines;
    char text[1024];
} heard;

static void hear(void *priv, enum hs_log_level level, const char *msg)
{
    (void)priv;
    REQUIRE_EQ(level, HS_LOG_ERROR);
    snprintf(heard.text, sizeof(heard.text), "%s", msg);
    heard.lines++;
}

static const struct hs_log hearing = {hear, NULL, HS_LOG_TRACE};

static int parse(const void *bytes, size_t size, struct hs_weights **weights)
{
    heard.lines = 0;
    heard.text[0] = 0;
    // An exact copy, so that a sanitizer sees each byte read too many.
    unsigned char *copy = malloc(size ? size : 1);
    memcpy(copy, bytes, size);
    const int err = hs_weights_parse(&hearing, "a.safetensors", copy, size, weights);
    free(copy);
    REQUIRE_EQ(heard.lines, err ? 1 : 0);
    REQUIRE(!err || !strncmp(heard.text, "a.safetensors: ", 15));
    REQUIRE(!err == !!*weights);
    return err;
}

/** Parses and expects an error whose line has the words. */
static void expect(const void *bytes, size_t size, int code, const char *words)
{
    struct hs_weights *weights = NULL;
    const int err = parse(bytes, size, &weights);
    REQUIRE_MSG(err == code && strstr(heard.text, words), "got %d \"%s\", expected %d \"%s\"", err,
                heard.text, code, words);
}

static void reads_all(struct test_rng *rng)
{
    static const struct fx_model_config all_stacks = {
        "best", {48, 80, 112}, {1, 1, 2, 1, 2}, .head = 1};
    static const uint32_t sizes[2][3] = {{64, 112, 27}, {80, 128, 29}};
    const struct fx_model_config *configs[] = {&fx_model_tiny, &fx_model_quality, &all_stacks,
                                               &fx_model_ray};
    for (size_t c = 0; c < sizeof(configs) / sizeof(configs[0]); c++) {
        struct fx_model_file file = fx_model_file_make(rng, configs[c]);
        struct hs_weights *weights = NULL;
        size_t size, at = 0;
        uint32_t blocks = 0;
        unsigned char *bytes = fx_model_file_bytes(&file, &size);
        REQUIRE_EQ(parse(bytes, size, &weights), 0);
        REQUIRE(!strcmp(weights->preset, configs[c]->preset));
        REQUIRE(!memcmp(weights->channels, configs[c]->channels, sizeof(weights->channels)));
        REQUIRE(!memcmp(weights->blocks, configs[c]->blocks, sizeof(weights->blocks)));
        REQUIRE_EQ(weights->architecture,
                   configs[c]->ray ? HS_ARCHITECTURE_RAY : HS_ARCHITECTURE_UNET);
        REQUIRE_EQ(weights->features, sizes[configs[c]->ray][0]);
        REQUIRE_EQ(weights->outputs, sizes[configs[c]->ray][1]);
        REQUIRE_EQ(weights->head, sizes[configs[c]->ray][2]);
        REQUIRE_EQ(weights->layers[0].inputs, weights->features);
        REQUIRE_EQ(weights->layers[weights->layer_count - 1].outputs, weights->outputs);
        for (int i = 0; i < 5; i++)
            blocks += configs[c]->blocks[i];
        REQUIRE_EQ(weights->layer_count, 6 + 2 * blocks);
        REQUIRE_EQ(weights->size_bytes, file.data_size);
        for (uint32_t i = 0; i < weights->layer_count; i++) {
            const struct hs_layer *l = &weights->layers[i];
            const size_t n = (size_t)2 * l->outputs * l->inputs * l->size * l->size;
            REQUIRE(!memcmp(l->weight, file.data + at, n));
            REQUIRE(!memcmp(l->bias, file.data + at + n, 4 * l->outputs));
            REQUIRE_EQ((uintptr_t)l->weight % 16 + (uintptr_t)l->bias % 16, 0);
            at += n + 4 * l->outputs;
        }
        REQUIRE_EQ(weights->note_count, 8);
        REQUIRE(!strcmp(weights->notes[7].key, "licence"));
        REQUIRE(!strcmp(weights->notes[7].value, "MIT"));
        hs_weights_destroy(&weights);
        REQUIRE(!weights);
        free(bytes);
        fx_model_file_finish(&file);
    }
    hs_weights_destroy(NULL);
}

static void layers_tell_what_they_do(struct test_rng *rng)
{
    struct fx_model_file file = fx_model_file_make(rng, &fx_model_tiny);
    struct hs_weights *weights = NULL;
    size_t size;
    unsigned char *bytes = fx_model_file_bytes(&file, &size);
    REQUIRE_EQ(parse(bytes, size, &weights), 0);
    static const struct hs_layer expected[] = {
        {"enter", HS_LAYER_CONV, 1, 1, 64, 16, 0, true, HS_ADD_NONE, NULL, NULL, {0}},
        {"to1", HS_LAYER_DOWN, 2, 2, 16, 16, 1, true, HS_ADD_NONE, NULL, NULL, {0}},
        {"down1.0.a", HS_LAYER_CONV, 3, 1, 16, 16, 1, true, HS_ADD_NONE, NULL, NULL, {0}},
        {"down1.0.b", HS_LAYER_CONV, 3, 1, 16, 16, 1, false, HS_ADD_BLOCK, NULL, NULL, {0}},
        {"to2", HS_LAYER_DOWN, 2, 2, 16, 16, 2, true, HS_ADD_NONE, NULL, NULL, {0}},
        {"bottom.0.a", HS_LAYER_CONV, 3, 1, 16, 16, 2, true, HS_ADD_NONE, NULL, NULL, {0}},
        {"bottom.0.b", HS_LAYER_CONV, 3, 1, 16, 16, 2, false, HS_ADD_BLOCK, NULL, NULL, {0}},
        {"from2.conv", HS_LAYER_UP, 1, 1, 16, 64, 2, true, HS_ADD_LEVEL1, NULL, NULL, {0}},
        {"up1.0.a", HS_LAYER_CONV, 3, 1, 16, 16, 1, true, HS_ADD_NONE, NULL, NULL, {0}},
        {"up1.0.b", HS_LAYER_CONV, 3, 1, 16, 16, 1, false, HS_ADD_BLOCK, NULL, NULL, {0}},
        {"from1.conv", HS_LAYER_UP, 1, 1, 16, 64, 1, true, HS_ADD_LEVEL0, NULL, NULL, {0}},
        {"up0.0.a", HS_LAYER_CONV, 3, 1, 16, 16, 0, true, HS_ADD_NONE, NULL, NULL, {0}},
        {"up0.0.b", HS_LAYER_CONV, 3, 1, 16, 16, 0, false, HS_ADD_BLOCK, NULL, NULL, {0}},
        {"head", HS_LAYER_CONV, 1, 1, 16, 112, 0, false, HS_ADD_NONE, NULL, NULL, {0}},
    };
    REQUIRE_EQ(weights->layer_count, sizeof(expected) / sizeof(expected[0]));
    for (uint32_t i = 0; i < weights->layer_count; i++) {
        const struct hs_layer *a = &weights->layers[i], *b = &expected[i];
        REQUIRE_MSG(!strcmp(a->name, b->name) && a->kind == b->kind && a->size == b->size &&
                        a->stride == b->stride && a->inputs == b->inputs &&
                        a->outputs == b->outputs && a->level == b->level && a->relu == b->relu &&
                        a->add == b->add,
                    "layer %s", a->name);
    }
    hs_weights_destroy(&weights);
    free(bytes);
    fx_model_file_finish(&file);
}

/** Replaces the first `from` of the header. */
static void edit(struct fx_model_file *file, const char *from, const char *to)
{
    char *at = strstr(file->header, from);
    REQUIRE_MSG(at, "no %s in the header", from);
    const size_t head = (size_t)(at - file->header), tail = strlen(at + strlen(from)) + 1;
    char *changed = malloc(head + strlen(to) + tail);
    memcpy(changed, file->header, head);
    memcpy(changed + head, to, strlen(to));
    memcpy(changed + head + strlen(to), at + strlen(from), tail);
    free(file->header);
    file->header = changed;
}

static void expect_edited(struct test_rng *rng, const struct fx_model_config *config,
                          const char *from, const char *to, int code, const char *words)
{
    struct fx_model_file file = fx_model_file_make(rng, config);
    size_t size;
    edit(&file, from, to);
    unsigned char *bytes = fx_model_file_bytes(&file, &size);
    expect(bytes, size, code, words);
    free(bytes);
    fx_model_file_finish(&file);
}

#define MULTIPLIERS "feature_multipliers are not 64 numbers above 0 up to 65504"
#define K(key, value) "\\\"" key "\\\":" value
#define T(text) "\\\"" text "\\\""
#define ENTER "\"enter.weight\":{\"dtype\":\"F16\",\"shape\":[16,64,1,1],\"data_offsets\":[0,2048]}"
#define ENTER_WITH(dtype, shape, span) \
    "\"enter.weight\":{\"dtype\":\"" dtype "\",\"shape\":[" shape "],\"data_offsets\":[" span "]}"

static void wrong_header(struct test_rng *rng)
{
    static const struct {
        const char *from, *to;
        int code;
        const char *words;
    } cases[] = {
        {"hindsight-model", "other", HS_ERR_FORMAT, "format is \"other\", expected \"hindsight-"},
        {"\"format\":", "\"formal\":", HS_ERR_FORMAT, "no \"format\""},
        {"\"format_version\":\"1\"", "\"format_version\":\"0\"", HS_ERR_VERSION,
         "format_version is \"0\", expected \"1\""},
        {"\"format_version\":\"1\"", "\"format_version\":\"2\"", HS_ERR_VERSION, "is \"2\""},
        {"\"format_version\":\"1\"", "\"format_version\":1", HS_ERR_FORMAT, "is not a text"},
        {"taau-unet", "swin", HS_ERR_UNSUPPORTED, "architecture is \"swin\""},
        {"\"features\":\"64\"", "\"features\":\"48\"", HS_ERR_FORMAT, "features is \"48\""},
        {"\"outputs\":\"112\"", "\"outputs\":\"108\"", HS_ERR_FORMAT, "outputs is \"108\""},
        {"\"head\":\"27\"", "\"head\":\"28\"", HS_ERR_FORMAT, "head is \"28\""},
        {"\"tiny\"", "\"\"", HS_ERR_FORMAT, "preset is \"\""},
        {"\"tiny\"", "\"a-preset-of-a-long-name\"", HS_ERR_FORMAT, "preset is \"a-preset-of"},
        {"\"tiny\"", "\"taau\"", HS_ERR_FORMAT, "preset is \"taau\", the name of something"},
        {"\"tiny\"", "\"auto\"", HS_ERR_FORMAT, "without weights"},
        {"\"tiny\"", "\"bicubic\"", HS_ERR_FORMAT, "without weights"},
        {"\"tiny\"", "\"a b\"", HS_ERR_FORMAT, "expected 1 to 15 letters, digits, - or _"},
        {"\"tiny\"", "\"\xc3\xa9\"", HS_ERR_FORMAT, "expected 1 to 15 letters"},
        {"\"MIT\"", "\"\\u001b[2J\"", HS_ERR_FORMAT, "licence has a control character"},
        {"\"MIT\"", "\"\\u007f\"", HS_ERR_FORMAT, "licence has a control character"},
        {"\"licence\"", "\"a\\nb\"", HS_ERR_FORMAT, "__metadata__: a?b has a control char"},
        {"\"enter.bias\"", "\"\\u001b[2J\\n\"", HS_ERR_FORMAT, "tensor enter.bias is missing"},
        {"\"F16\"", "\"\\u001b[2J\"", HS_ERR_FORMAT, "dtype is ?[2J, expected"},
        {"__metadata__", "__meta__", HS_ERR_FORMAT, "tensor __meta__"},
        {"{\"__metadata__\":{", "{\"__metadata__\":[],\"x\":{", HS_ERR_FORMAT, "tensor x"},
        {"{\"__metadata__\"", "[\"__metadata__\"", HS_ERR_FORMAT, "header: "},
        {"\"layers\":\"[", "\"layers\":\"", HS_ERR_FORMAT, "layers: "},
        {"\"layers\":\"[{", "\"layers\":\"[[]],[{", HS_ERR_FORMAT, "layers: "},
        {"\"layers\"", "\"table\"", HS_ERR_FORMAT, "no \"layers\""},
        {T("name") ":" T("enter"), T("name") ":" T("exit"), HS_ERR_FORMAT,
         "row 0 of layers is exit, expected enter"},
        {T("name") ":" T("to2"), T("name") ":" T("down1.0.a"), HS_ERR_FORMAT,
         "row 4 of layers is down1.0.a, expected down1.1.a"},
        {T("down1.0.b"), T("down1.0.a"), HS_ERR_FORMAT, "expected down1.0.b"},
        {K("kind", T("down")), K("kind", T("conv")), HS_ERR_FORMAT,
         "layer to1: kind is conv, expected down"},
        {K("kind", T("conv")), K("kind", "7"), HS_ERR_FORMAT, "kind is not a text"},
        {K("size", "1"), K("size", "3"), HS_ERR_FORMAT, "layer enter: size is 3, expected 1"},
        {K("size", "1"), K("size", "1.0"), HS_ERR_FORMAT, "size is not an integer"},
        {K("stride", "1"), K("stride", "-1"), HS_ERR_FORMAT, "stride is -1, expected 1"},
        {K("inputs", "64"), K("inputs", "4294967360"), HS_ERR_FORMAT, "inputs is 4294967360"},
        {K("outputs", "16"), K("outputs", "24"), HS_ERR_FORMAT,
         "outputs is 24, expected a multiple of 16 up to 128"},
        {K("outputs", "16"), K("outputs", "0"), HS_ERR_FORMAT, "outputs is 0"},
        {K("outputs", "16"), K("outputs", "144"), HS_ERR_FORMAT, "outputs is 144"},
        {K("outputs", "16"), K("outputs", "32"), HS_ERR_FORMAT,
         "layer to1: inputs is 16, expected 32"},
        {K("outputs", "112"), K("outputs", "128"), HS_ERR_FORMAT,
         "layer head: outputs is 128, expected 112"},
        {K("level", "0"), K("level", "1"), HS_ERR_FORMAT, "level is 1, expected 0"},
        {K("add", T("level1")), K("add", "null"), HS_ERR_FORMAT,
         "layer from2.conv: add is null, expected level1"},
        {K("add", "null"), K("add", T("block")), HS_ERR_FORMAT, "add is block, expected null"},
        {K("relu", "true"), K("relu", "false"), HS_ERR_FORMAT, "enter: relu is not true"},
        {"}]\"", "}," K("name", T("head")) "}]\"", HS_ERR_FORMAT, "layers: "},
        {"}]\"", "},{}]\"", HS_ERR_FORMAT, "layers has 15 rows, expected 14"},
        {ENTER, ENTER_WITH("F32", "16,64,1,1", "0,4096"), HS_ERR_FORMAT, "within another one"},
        {ENTER, ENTER_WITH("F32", "16,32,1,1", "0,2048"), HS_ERR_FORMAT,
         "tensor enter.weight: dtype is F32, expected F16"},
        {ENTER, ENTER_WITH("BF16", "16,64,1,1", "0,2048"), HS_ERR_FORMAT, "dtype is BF16"},
        {ENTER, ENTER_WITH("F16", "64,16,1,1", "0,2048"), HS_ERR_FORMAT,
         "shape is [64, 16, 1, 1], expected [16, 64, 1, 1]"},
        {ENTER, ENTER_WITH("F16", "16,64", "0,2048"), HS_ERR_FORMAT, "shape is [16, 64], expec"},
        {ENTER, ENTER_WITH("F16", "", "0,2"), HS_ERR_FORMAT, "shape has 0 sizes"},
        {ENTER, ENTER_WITH("F16", "1,2,2,2,2", "0,2048"), HS_ERR_FORMAT, "shape has 5 sizes"},
        {ENTER, ENTER_WITH("F16", "16,0,1,1", "0,0"), HS_ERR_FORMAT, "size 1 of its shape is 0"},
        {ENTER, ENTER_WITH("F16", "16,-64,1,1", "0,2048"), HS_ERR_FORMAT, "shape is -64"},
        {ENTER, ENTER_WITH("F16", "4294967296,4294967296,1,1", "0,0"), HS_ERR_FORMAT,
         "shape is 4294967296"},
        {ENTER, ENTER_WITH("F16", "32767,32767,32767,32767", "0,2048"), HS_ERR_FORMAT,
         "spans 2048 bytes, its shape and dtype need"},
        {ENTER, ENTER_WITH("F16", "16,64,1,1", "0,2047"), HS_ERR_FORMAT, "spans 2047 bytes"},
        {ENTER, ENTER_WITH("F16", "16,64,1,1", "2048,0"), HS_ERR_FORMAT, "are 2048 and 0"},
        {ENTER, ENTER_WITH("F16", "16,64,1,1", "-2048,0"), HS_ERR_FORMAT, "are -2048 and 0"},
        {ENTER, ENTER_WITH("F16", "16,64,1,1", "9223372036854773759,9223372036854775807"),
         HS_ERR_FORMAT, "are 9223372036854773759 and"},
        {ENTER, ENTER_WITH("F16", "16,64,1,1", "0,18446744073709551616"), HS_ERR_FORMAT, "big"},
        {ENTER, ENTER_WITH("F16", "16,64,1,1", "0,2048,1"), HS_ERR_FORMAT, "not two integers"},
        {ENTER, ENTER_WITH("F16", "16,64,1,1", "0.0,2048"), HS_ERR_FORMAT, "not two integers"},
        {ENTER, ENTER_WITH("F16", "16,64,1,1", "64,2112"), HS_ERR_FORMAT, "after a gap"},
        {ENTER, "\"enter.weight\":{\"dtype\":\"F16\"}", HS_ERR_FORMAT, "expected dtype, shape"},
        {ENTER, "\"enter.weight\":[]", HS_ERR_FORMAT, "expected dtype, shape"},
        {ENTER, ENTER "," ENTER, HS_ERR_FORMAT, "duplicate"},
        {"\"enter.weight\"", "\"enter.weights\"", HS_ERR_FORMAT, "enter.weight is missing"},
        {"\"enter.bias\"", "\"enter\\u0000bias\"", HS_ERR_FORMAT, "header: "},
        {"\"enter.bias\"", "\"enter.\xff\"", HS_ERR_FORMAT, "header: "},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        expect_edited(rng, &fx_model_tiny, cases[i].from, cases[i].to, cases[i].code,
                      cases[i].words);
    }
}

// Each architecture has its own numbers around the same layers.
static void wrong_architecture(struct test_rng *rng)
{
    static const struct {
        const struct fx_model_config *config;
        const char *from, *to;
        int code;
        const char *words;
    } cases[] = {
        {&fx_model_tiny, "taau-unet", "taau-ray", HS_ERR_FORMAT,
         "features is \"64\", expected \"80\""},
        {&fx_model_ray, "taau-ray", "taau-unet", HS_ERR_FORMAT,
         "features is \"80\", expected \"64\""},
        {&fx_model_ray, "taau-ray", "taau-rays", HS_ERR_UNSUPPORTED,
         "expected \"taau-unet\", \"taau-ray\" or \"taau-int8\""},
        {&fx_model_ray, "\"architecture\"", "\"architectural\"", HS_ERR_FORMAT,
         "no \"architecture\""},
        {&fx_model_ray, "\"taau-ray\"", "7", HS_ERR_FORMAT, "is not a text"},
        {&fx_model_ray, "\"outputs\":\"128\"", "\"outputs\":\"112\"", HS_ERR_FORMAT,
         "expected \"128\""},
        {&fx_model_ray, "\"head\":\"29\"", "\"head\":\"27\"", HS_ERR_FORMAT, "expected \"29\""},
        {&fx_model_ray, K("inputs", "80"), K("inputs", "64"), HS_ERR_FORMAT,
         "layer enter: inputs is 64, expected 80"},
        {&fx_model_ray, K("outputs", "128"), K("outputs", "112"), HS_ERR_FORMAT,
         "layer head: outputs is 112, expected 128"},
        {&fx_model_ray, "[16,80,1,1]", "[16,64,1,1]", HS_ERR_FORMAT,
         "its shape and dtype need 2048"},
        {&fx_model_ray, "[128,16,1,1]", "[16,128,1,1]", HS_ERR_FORMAT,
         "shape is [16, 128, 1, 1], expected [128, 16, 1, 1]"},
        // What is not run is told before anything about its tensors.
        {&fx_model_integers, "taau-int8", "taau-int4", HS_ERR_UNSUPPORTED,
         "architecture is \"taau-int4\""},
        {&fx_model_integers, "taau-int8", "taau-unet", HS_ERR_FORMAT,
         "outputs is \"48\", expected \"112\""},
        {&fx_model_integers, "\"outputs\":\"48\"", "\"outputs\":\"112\"", HS_ERR_FORMAT,
         "expected \"48\""},
        {&fx_model_integers, "\"head\":\"11\"", "\"head\":\"27\"", HS_ERR_FORMAT,
         "expected \"11\""},
        {&fx_model_integers, "feature_multipliers", "features_multiplied", HS_ERR_FORMAT,
         MULTIPLIERS},
        {&fx_model_integers, "[254,", "[", HS_ERR_FORMAT, MULTIPLIERS},
        {&fx_model_integers, "[254,", "[254,254,", HS_ERR_FORMAT, MULTIPLIERS},
        {&fx_model_integers, "[254,", "[0,", HS_ERR_FORMAT, MULTIPLIERS},
        {&fx_model_integers, "[254,", "[-254,", HS_ERR_FORMAT, MULTIPLIERS},
        {&fx_model_integers, "[254,", "[1e30,", HS_ERR_FORMAT, MULTIPLIERS},
        {&fx_model_integers, "[254,", "[null,", HS_ERR_FORMAT, MULTIPLIERS},
        {&fx_model_integers, "[254,", "{", HS_ERR_FORMAT, MULTIPLIERS},
        {&fx_model_integers, K("scale", T("level")), K("scale", "null"), HS_ERR_FORMAT,
         "layer enter: scale is not a text"},
        {&fx_model_integers, K("scale", "null"), K("scale", T("level")), HS_ERR_FORMAT,
         "layer head: scale is not null"},
        {&fx_model_integers,
         "\\\"kind\\\":\\\"conv\\\",\\\"size\\\":1,\\\"stride\\\":1,\\\"inputs\\\":16,"
         "\\\"outputs\\\":48",
         "\\\"kind\\\":\\\"conv\\\",\\\"size\\\":1,\\\"stride\\\":1,\\\"inputs\\\":16,"
         "\\\"outputs\\\":112",
         HS_ERR_FORMAT, "layer head: outputs is 112, expected 48"},
        {&fx_model_integers, "\"I8\"", "\"U8\"", HS_ERR_FORMAT,
         "tensor enter.weight: dtype is U8, expected I8"},
        {&fx_model_integers, "\"I32\"", "\"F32\"", HS_ERR_FORMAT,
         "tensor enter.bias: dtype is F32, expected I32"},
        {&fx_model_integers, "\"enter.multiplier\"", "\"enter.multipliers\"", HS_ERR_FORMAT,
         "tensor enter.multiplier is missing"},
        {&fx_model_integers, "\"enter.shift\"", "\"enter.shifts\"", HS_ERR_FORMAT,
         "tensor enter.shift is missing"},
        {&fx_model_integers, "\"head.scale\"", "\"head.multiplier\"", HS_ERR_FORMAT,
         "tensor head.scale is missing"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        expect_edited(rng, cases[i].config, cases[i].from, cases[i].to, cases[i].code,
                      cases[i].words);
    }
}

// Values of taau-int8 that would leave 32 bits, or are none that the arithmetic knows.
static void wrong_integers(struct test_rng *rng)
{
    // enter has 16x64 weights, then biases, multipliers and shifts of 16.
    static const struct {
        size_t at, bytes;
        int value;
        const char *words;
    } cases[] = {
        {5, 1, -128, "tensor enter.weight: value 5 is -128, expected -127 to 127"},
        {1024 + 4 * 2, 4, 8250000, "layer enter: sums of output 2 reach 8"},
        {1024 + 4 * 2, 4, -8250000, "layer enter: sums of output 2 reach 8"},
        {1024 + 4 * 2, 4, INT32_MIN, "layer enter: sums of output 2 reach 21"},
        {1024 + 4 * 2, 4, INT32_MAX, "expected at most 8250000"},
        {1088 + 4 * 7, 4, 127, "tensor enter.multiplier: value 7 is 127, expected 128 to 255"},
        {1088 + 4 * 7, 4, 256, "value 7 is 256"},
        {1088 + 4 * 7, 4, INT32_MIN, "value 7 is -2147483648"},
        {1152 + 4 * 15, 4, 0, "tensor enter.shift: value 15 is 0, expected 1 to 26"},
        {1152 + 4 * 15, 4, 27, "value 15 is 27"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fx_model_file file = fx_model_file_make(rng, &fx_model_integers);
        size_t size;
        const int8_t small = (int8_t)cases[i].value;
        memcpy(file.data + cases[i].at,
               cases[i].bytes == 1 ? (const void *)&small : &cases[i].value, cases[i].bytes);
        unsigned char *bytes = fx_model_file_bytes(&file, &size);
        expect(bytes, size, HS_ERR_FORMAT, cases[i].words);
        free(bytes);
        fx_model_file_finish(&file);
    }
    struct fx_model_file file = fx_model_file_make(rng, &fx_model_integers);
    const uint32_t infinite = 0x7f800000;
    size_t size;
    // The last tensor.
    memcpy(file.data + file.data_size - 4, &infinite, 4);
    unsigned char *bytes = fx_model_file_bytes(&file, &size);
    expect(bytes, size, HS_ERR_FORMAT, "tensor head.scale: value 47 is not finite");
    free(bytes);
    fx_model_file_finish(&file);
}

// The greatest sums and scales that there may be are taken.
static void greatest_integers(struct test_rng *rng)
{
    struct fx_model_file file = fx_model_file_make(rng, &fx_model_integers);
    struct hs_weights *weights = NULL;
    size_t size;
    const int32_t bias = HS_WEIGHTS_TOTAL_MAX - 127 * 127 * 64, multiplier = 255, shift = 26;
    memset(file.data, -127, 64);
    memcpy(file.data + 1024, &bias, 4);
    memcpy(file.data + 1088, &multiplier, 4);
    memcpy(file.data + 1152, &shift, 4);
    unsigned char *bytes = fx_model_file_bytes(&file, &size);
    REQUIRE_EQ(parse(bytes, size, &weights), 0);
    const struct hs_integers *enter = &weights->layers[0].integers;
    const struct hs_integers *head = &weights->layers[weights->layer_count - 1].integers;
    REQUIRE_EQ(weights->architecture, HS_ARCHITECTURE_INT8);
    REQUIRE(enter->weight[0] == -127 && enter->bias[0] == bias);
    REQUIRE(enter->multiplier[0] == 255 && enter->shift[0] == 26 && !enter->scale);
    REQUIRE(head->scale && !head->multiplier && !head->shift);
    for (int i = 0; i < HS_WEIGHTS_FEATURES; i++)
        REQUIRE(weights->feature_multipliers[i] == fx_model_multiplier(i));
    hs_weights_destroy(&weights);
    free(bytes);
    fx_model_file_finish(&file);
}

static void tensors_must_fill_the_data(struct test_rng *rng)
{
    struct fx_model_file file = fx_model_file_make(rng, &fx_model_tiny);
    char extra[128];
    size_t size;
    file.data_size += 4;
    unsigned char *bytes = fx_model_file_bytes(&file, &size);
    expect(bytes, size, HS_ERR_FORMAT, "the tensors end at");
    free(bytes);
    snprintf(
        extra, sizeof(extra),
        ",\"more\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[%zu,%zu]},\"enter.bias\"",
        file.data_size - 4, file.data_size);
    edit(&file, ",\"enter.bias\"", extra);
    bytes = fx_model_file_bytes(&file, &size);
    expect(bytes, size, HS_ERR_FORMAT, "tensor more belongs to no layer");
    free(bytes);
    fx_model_file_finish(&file);
}

static void cut_off_of(struct test_rng *rng, const struct fx_model_config *config, int tensors)
{
    struct fx_model_file file = fx_model_file_make(rng, config);
    size_t size;
    unsigned char *bytes = fx_model_file_bytes(&file, &size);
    const size_t start = size - file.data_size;
    for (size_t n = 0; n < 64; n++)
        expect(bytes, n, HS_ERR_FORMAT, n < 8 ? "too few" : "cut off");
    for (size_t n = 64; n < start; n += 61)
        expect(bytes, n, HS_ERR_FORMAT, "cut off");
    expect(bytes, start - 1, HS_ERR_FORMAT, "cut off");
    const char *at = file.header;
    int ends = 0;
    while ((at = strstr(at, "\"data_offsets\":[")) != NULL) {
        size_t begin, end;
        REQUIRE_EQ(sscanf(at, "\"data_offsets\":[%zu,%zu]", &begin, &end), 2);
        const size_t cuts[] = {begin, begin + 1, end - 1};
        for (int i = 0; i < 3; i++)
            expect(bytes, start + cuts[i], HS_ERR_FORMAT, "bytes of data");
        ends++;
        at++;
    }
    REQUIRE_EQ(ends, tensors);
    free(bytes);
    fx_model_file_finish(&file);
}

static void cut_off(struct test_rng *rng)
{
    cut_off_of(rng, &fx_model_tiny, 28);
    cut_off_of(rng, &fx_model_ray, 28);
    cut_off_of(rng, &fx_model_integers, 63);
}

static void header_sizes(struct test_rng *rng)
{
    struct fx_model_file file = fx_model_file_make(rng, &fx_model_tiny);
    size_t size;
    unsigned char *bytes = fx_model_file_bytes(&file, &size);
    const uint64_t good = size - file.data_size - 8;
    const uint64_t sizes[] = {0,          1,         size - 7,       size,       1 << 20,   1 << 21,
                              UINT32_MAX, INT64_MAX, UINT64_MAX - 7, UINT64_MAX, good << 32};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        for (int b = 0; b < 8; b++)
            bytes[b] = (unsigned char)(sizes[i] >> 8 * b);
        expect(bytes, size, HS_ERR_FORMAT, "header of ");
    }
    for (int b = 0; b < 8; b++)
        bytes[b] = (unsigned char)((good + 2) >> 8 * b);
    expect(bytes, size, HS_ERR_FORMAT, "expected a multiple of 64");
    for (int b = 0; b < 8; b++)
        bytes[b] = (unsigned char)((good + 64) >> 8 * b);
    expect(bytes, size, HS_ERR_FORMAT, "header: ");
    memset(bytes + 8, '[', (size_t)good);
    for (int b = 0; b < 8; b++)
        bytes[b] = (unsigned char)(good >> 8 * b);
    expect(bytes, size, HS_ERR_FORMAT, "header: ");
    static const char pointer[] = "version https://git-lfs.github.com/spec/v1\noid sha256:0\n";
    expect(pointer, sizeof(pointer) - 1, HS_ERR_FORMAT, "Git LFS pointer");
    free(bytes);
    fx_model_file_finish(&file);
}

// A flip may hit a text that nothing depends on; then the file is read, else refused with a line.
static void flipped_bits_of(struct test_rng *rng, const struct fx_model_config *config)
{
    struct fx_model_file file = fx_model_file_make(rng, config);
    size_t size;
    unsigned char *bytes = fx_model_file_bytes(&file, &size);
    const uint32_t bits = (uint32_t)(size - file.data_size) * 8;
    int refused = 0;
    for (int i = 0; i < 4000; i++) {
        const uint32_t bit = i < 64 ? (uint32_t)i : test_rng_below(rng, bits);
        struct hs_weights *weights = NULL;
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        const int err = parse(bytes, size, &weights);
        refused += err != 0;
        REQUIRE(err == 0 || err == HS_ERR_FORMAT || err == HS_ERR_VERSION ||
                err == HS_ERR_UNSUPPORTED);
        hs_weights_destroy(&weights);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    printf("%d of 4000 flips refused\n", refused);
    REQUIRE_GT(refused, 3000);
    free(bytes);
    fx_model_file_finish(&file);
}

static void flipped_bits(struct test_rng *rng)
{
    flipped_bits_of(rng, &fx_model_tiny);
    flipped_bits_of(rng, &fx_model_ray);
    flipped_bits_of(rng, &fx_model_integers);
}

static void not_finite(struct test_rng *rng)
{
    static const uint16_t halfs[] = {0x7c00, 0xfc00, 0x7c01, 0x7e00, 0xffff};
    static const uint32_t floats[] = {0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001};
    struct fx_model_file file = fx_model_file_make(rng, &fx_model_tiny);
    struct hs_weights *weights = NULL;
    size_t size;
    for (int i = 0; i < 9; i++) {
        // enter.weight has 1024 halfs, enter.bias follows.
        const size_t at = i < 5 ? 2 * 1023 : 2048 + 4 * 3;
        const size_t bytes_per_value = i < 5 ? 2 : 4;
        unsigned char kept[4];
        memcpy(kept, file.data + at, 4);
        memcpy(file.data + at, i < 5 ? (const void *)&halfs[i] : &floats[i - 5], bytes_per_value);
        unsigned char *bytes = fx_model_file_bytes(&file, &size);
        expect(bytes, size, HS_ERR_FORMAT,
               i < 5 ? "tensor enter.weight: value 1023 is not finite"
                     : "tensor enter.bias: value 3 is not finite");
        free(bytes);
        memcpy(file.data + at, kept, 4);
    }
    const uint16_t largest = 0x7bff;
    memcpy(file.data, &largest, 2);
    unsigned char *bytes = fx_model_file_bytes(&file, &size);
    REQUIRE_EQ(parse(bytes, size, &weights), 0);
    hs_weights_destroy(&weights);
    free(bytes);
    fx_model_file_finish(&file);
}

static void files(struct test_rng *rng)
{
    char folder[] = "/tmp/hs-weights-XXXXXX", path[64];
    struct fx_model_file file = fx_model_file_make(rng, &fx_model_tiny);
    struct hs_weights *weights = NULL;
    REQUIRE(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/m.safetensors", folder);
    heard.lines = 0;
    REQUIRE_EQ(hs_weights_load(&hearing, path, &weights), HS_ERR_IO);
    REQUIRE(strstr(heard.text, "no such file"));
    REQUIRE_EQ(hs_weights_load(&hearing, folder, &weights), HS_ERR_IO);
    REQUIRE(strstr(heard.text, folder) && strstr(heard.text, "no regular file"));
    // Opening it would wait for a writer.
    REQUIRE_EQ(mkfifo(path, 0600), 0);
    REQUIRE_EQ(hs_weights_load(&hearing, path, &weights), HS_ERR_IO);
    REQUIRE(strstr(heard.text, "no regular file") && !remove(path));
    REQUIRE_EQ(symlink(path, path), 0);
    REQUIRE_EQ(hs_weights_load(&hearing, path, &weights), HS_ERR_IO);
    REQUIRE(strstr(heard.text, "can not be opened") && !remove(path));
    FILE *empty = fopen(path, "wb");
    REQUIRE(empty && fclose(empty) == 0);
    REQUIRE_EQ(hs_weights_load(&hearing, path, &weights), HS_ERR_FORMAT);
    REQUIRE_EQ(truncate(path, (off_t)1 << 32), 0);
    REQUIRE_EQ(hs_weights_load(&hearing, path, &weights), HS_ERR_FORMAT);
    REQUIRE_MSG(strstr(heard.text, "has 4294967296 bytes, expected at most"), "%s", heard.text);
    REQUIRE_EQ(heard.lines, 6);
    fx_model_file_write(&file, path);
    REQUIRE_EQ(hs_weights_load(&hearing, path, &weights), 0);
    REQUIRE_EQ(weights->layer_count, 14);
    hs_weights_destroy(&weights);
    REQUIRE(!remove(path) && !remove(folder));
    fx_model_file_finish(&file);
}

static const struct test_case cases[] = {
    {"reads all", reads_all},
    {"layers tell what they do", layers_tell_what_they_do},
    {"wrong header", wrong_header},
    {"wrong architecture", wrong_architecture},
    {"wrong integers", wrong_integers},
    {"greatest integers", greatest_integers},
    {"tensors must fill the data", tensors_must_fill_the_data},
    {"cut off", cut_off},
    {"header sizes", header_sizes},
    {"flipped bits", flipped_bits},
    {"not finite", not_finite},
    {"files", files},
};
TEST_MAIN(cases)

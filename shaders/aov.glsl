// SPDX-License-Identifier: MIT
// Resolves a plane beside the colour with the weights of the colour's own resolve: of each sample,
// of the samples' mean, of history. A part of the colour is resolved as its share of it, so that
// parts that add up to the colour go on to do so; other values are resolved as they are.
// Where the weights of a share have to be positive, negative lobes are cut off.
// Reads: the plane and the colour [render], the plane's and the colour's history, motion.
// Writes: the plane's next history RGBA32F (shares or values) and the plane [output].
// Reference: hs_ref_aov() in engine/ref/ref_aov.c.
#include "motion.glsl"

layout(set = 2, binding = HS_BINDING_AOV_IN) uniform texture2D aov_in;
layout(set = 2, binding = HS_BINDING_AOV_HISTORY) uniform texture2D aov_history;
layout(set = 2, binding = HS_BINDING_AOV_OUT_HISTORY) uniform writeonly image2D out_aov_history;
layout(set = 2, binding = HS_BINDING_AOV_OUT) uniform writeonly image2D out_aov;
HS_INPUT(aov_colour, HS_BINDING_COLOUR);
HS_INPUT(aov_past, HS_BINDING_HISTORY_COLOUR);

// Parts of a pixel that come from its window, from the four samples around it, from the mean of the
// nine, and from history. Their sum is 1.
struct aov_parts {
    float window, close, mean, history;
};

aov_parts aov_shares(float fresh, float keep, float trust)
{
    const float old = 1.0 - fresh;
    return aov_parts(fresh * (1.0 - trust), fresh * trust, old * (1.0 - keep), old * keep);
}

bool is_data()
{
    return (aov.x & HS_AOV_PUSH_DATA) != 0;
}

// So that single bright pixels do not decide alone.
float calm(vec4 c)
{
    return has(HS_FRAME_LDR) ? 1.0 : 1.0 / (1.0 + max(c.r, max(c.g, c.b)));
}

float finite_or_zero(float x)
{
    return finite(x) ? x : 0.0;
}

vec4 finite_or_zero(vec4 v)
{
    return vec4(finite_or_zero(v.r), finite_or_zero(v.g), finite_or_zero(v.b),
                finite_or_zero(v.a));
}

// What is added up: of shares, colour times share and colour. Range of the window's values.
struct aov_sum {
    vec4 value, total, low, high;
};

void add_sample(inout aov_sum sum, ivec2 s, float weight)
{
    const ivec2 p = render_clamp(s);
    const vec4 value = finite_or_zero(texelFetch(aov_in, p, 0));
    if (is_data()) {
        sum.value += weight * value;
        sum.total += weight;
        return;
    }
    const vec4 raw = texelFetch(aov_colour, p + params.origin_in.xy, 0);
    const float factor = exposure_factor();
    const vec4 c = vec4(max(finite_or_zero(raw).rgb, 0.0) * factor, finite(raw.a) ? raw.a : 1.0);
    const float w = weight * calm(c);
    sum.value += w * vec4(value.rgb * factor, value.a);
    sum.total += w * c;
}

// The colour's kernel over its sixteen samples.
void add_window(inout aov_sum sum, float weights[16], float part)
{
    vec4 value = vec4(0.0);
    float positive = 0.0;
    [[unroll]] for (int n = 0; n < 16; n++)
        positive += max(weights[n], 0.0);
    if (!is_data()) {
        for (int n = 0; n < 16; n++)
            add_sample(sum, base + ivec2(n & 3, n >> 2) - 1,
                       part * max(weights[n], 0.0) / positive);
        return;
    }
    for (int n = 0; n < 16; n++) {
        const ivec2 s = render_clamp(base + ivec2(n & 3, n >> 2) - 1);
        const vec4 v = finite_or_zero(texelFetch(aov_in, s, 0));
        value += weights[n] * v;
        sum.low = min(sum.low, v);
        sum.high = max(sum.high, v);
    }
    sum.value += part * clamp(value, sum.low, sum.high);
    sum.total += part;
}

void add_close(inout aov_sum sum, float part)
{
    const vec2 lower = gauss_axes(f, window_kernel()), upper = gauss_axes(1.0 - f, window_kernel());
    const float total = max((lower.x + upper.x) * (lower.y + upper.y), 1e-9);
    for (int n = 0; n < 4; n++) {
        const ivec2 o = ivec2(n & 1, n >> 1);
        const float g = (o.x == 1 ? upper.x : lower.x) * (o.y == 1 ? upper.y : lower.y);
        add_sample(sum, base + o, part * g / total);
    }
}

void add_mean(inout aov_sum sum, float part)
{
    const ivec2 first = ivec2(greaterThanEqual(f, vec2(0.5)));
    vec2 weights[3];
    vec2 total = vec2(0.0);
    for (int i = 0; i < 3; i++) {
        weights[i] = gauss_axes(vec2(first + i - 1) - f, HS_TAAU_BOX_KERNEL);
        total += weights[i];
    }
    for (int n = 0; n < 9; n++)
        add_sample(sum, base + first - 1 + ivec2(n % 3, n / 3),
                   part * weights[n % 3].x * weights[n / 3].y / (total.x * total.y));
}

void add_history(inout aov_sum sum, vec2 at, float part)
{
    const vec2 corner = floor(at - 0.5), t = at - 0.5 - corner;
    const vec4 wx = cubic(t.x, HS_TAAU_CUBIC_HISTORY), wy = cubic(t.y, HS_TAAU_CUBIC_HISTORY);
    const float ratio = has(HS_FRAME_LDR) ? 1.0 : state.exposure.y;
    vec4 value = vec4(0.0), total = vec4(0.0);
    float positive = 0.0;
    for (int n = 0; n < 16; n++) {
        const int i = n & 3, j = n >> 2;
        const ivec2 p = clamp(ivec2(corner) + ivec2(i, j) - 1, ivec2(0), params.size.zw - 1);
        const vec4 v = texelFetch(aov_history, p, 0);
        const float w = wx[i] * wy[j];
        if (is_data()) {
            value += w * v;
            continue;
        }
        const vec4 past = texelFetch(aov_past, p, 0) * vec4(vec3(ratio), 1.0);
        const float positive_w = max(w, 0.0) * calm(past);
        value += positive_w * past * v;
        total += positive_w * past;
        positive += max(w, 0.0);
    }
    // The colour does not tell of all that changes in values: what no sample shows is no history.
    sum.value += part * (is_data() ? clamp(value, sum.low, sum.high) : value / positive);
    sum.total += part * (is_data() ? vec4(1.0) : total / positive);
}

// `picture`: the colour that resolve gave, in input units.
void resolve_aov(ivec2 p, float weights[16], aov_parts parts, vec4 picture)
{
    aov_sum sum = aov_sum(vec4(0.0), vec4(0.0), vec4(3.0e38), vec4(-3.0e38));
    add_window(sum, weights, parts.window);
    if (parts.close > 0.0)
        add_close(sum, parts.close);
    if (parts.mean > 0.0)
        add_mean(sum, parts.mean);
    if (parts.history > 0.0 && (aov.x & HS_AOV_PUSH_HISTORY) != 0) {
        vec2 by;
        pixel_motion(p, by);
        add_history(sum, vec2(p) + 0.5 + by, parts.history);
    }
    // Where nothing has a channel, a network's residual may add to it: that goes by all channels.
    const float all = dot(sum.total.rgb, vec3(1.0));
    const float gray = all > 1e-20 ? dot(sum.value.rgb, vec3(1.0)) / all : 0.0;
    vec4 result;
    [[unroll]] for (int k = 0; k < 4; k++)
        result[k] = sum.total[k] > 1e-20 ? sum.value[k] / sum.total[k] : k < 3 ? gray : 0.0;
    imageStore(out_aov_history, p, result);
    if (!is_data())
        result *= picture;
    imageStore(out_aov, p, clamp(result, -HS_TAAU_MAX, HS_TAAU_MAX));
}

#version 450
// SPDX-License-Identifier: MIT
// This frame's samples and the reprojected history into one picture, which is the next history.
// Where a sample lies near the pixel it counts much, elsewhere history stays; history is corrected
// by what the samples around the pixel say about it and kept in the box of their deviations.
// In the variants _f32 and _cm the network's head, computed here from its last activations, bends
// each of these steps; a head of zeros leaves them as they are. In the variants _ray it also mixes
// levels of the samples (levels.glsl). The variants _aov do all of it once more, for its weights
// alone, and apply them to another plane (aov.glsl). The variants _split read a head that a network
// outside made.
// Reads: colour [render], reprojected colour and weight [output], activations of level 0.
// Writes: next history colour RGBA16F and weight R16F, and the picture in input units to the
// output rectangle or, when finish follows, to `resolved`.
// Grid: one thread an output pixel, HS_GROUP_X x HS_GROUP_Y. Precision: f32; the head's product as
// in tokens.glsl; samples on the matrix path 16 bits (window.glsl).
// References: hs_ref_resolve() in engine/ref/ref_resolve.c, resolve() in pipeline.py; hs_ref_aov()
// in engine/ref/ref_aov.c.
#extension GL_GOOGLE_include_directive : require
#ifdef HS_NETWORK
#include "types.glsl"
#endif
#ifdef HS_RAY
#define HS_LEVEL_TILES
#endif
#include "common.glsl"
#include "taau.glsl"
#include "window.glsl"

#ifdef HS_NETWORK
#ifndef HS_SPLIT
#include "tokens.glsl"
#endif
#include "head.glsl"
#else
layout(local_size_x = HS_GROUP_THREADS) in;

struct head {
    float gain, weight, size, trust;
};
const head head_none = head(1.0, 1.0, 1.0, 1.0);
#endif

#ifdef HS_AOV
#include "aov.glsl"
#else
HS_OUTPUT(out_history, HS_BINDING_OUT_HISTORY_COLOUR);
HS_OUTPUT(out_history_aux, HS_BINDING_OUT_HISTORY_AUX);
HS_OUTPUT(out_image, HS_BINDING_OUTPUT);
HS_OUTPUT(out_resolved, HS_BINDING_OUT_RESOLVED);
#endif

// Draws history towards the local mean until it lies in the box of the local deviations. Returns
// the factor that it took, 1 where history was inside.
float rectify(float size, bool opaque, inout work history)
{
    const box b = window_box(opaque);
    const vec4 by =
        abs(opponent(history.c) - b.centre) / (b.deviation * size + HS_TAAU_BOX_MIN);
    const float keep = 1.0 / max(1.0, max(max(by.x, by.y), opaque ? by.z : max(by.z, by.w)));
    history.c = b.mean.c + (history.c - b.mean.c) * keep;
    history.s = b.mean.s + (history.s - b.mean.s) * keep;
    history = settle(history, opaque);
    return keep;
}

// Adds to history the kernel-weighted mean of what the samples say about it. Returns the sum of
// the kernel.
float correct(bool opaque, inout work history)
{
    float total;
    const work sum = sample_errors(opaque, total);
    range both = taps_range;
    range_add(both, history);
    const float share = HS_TAAU_CORRECT_GAIN / max(total, 1e-9);
    history = work(history.c + sum.c * share, history.s + sum.s * share);
    history = settle(range_clamp(both, settle(history, opaque)), opaque);
    return total;
}

void resolve(ivec2 p, bool opaque)
{
    float weights[16];
    cubic_weights(weights);
#ifdef HS_NETWORK
    const head h = read_head();
    bend_weights(weights);
#ifdef HS_RAY
    read_level_shares();
#endif
#else
    const head h = head_none;
#endif
    work now = filter_window(weights, opaque);
    const float gain = window_gain() * h.gain;
    float weight = moved_weight, keep = 1.0, trust = 0.0;
    if (weight > 0.0) {
        work old = settle(moved, opaque);
        work corrected = old;
        const float total = correct(opaque, corrected);
        keep = rectify(box_size(weight) * h.size, opaque, old);
        weight *= keep * keep;
        trust = total / (total + HS_TAAU_CORRECT_KERNEL) * keep * keep * weight /
                (weight + HS_TAAU_CORRECT_WEIGHT);
#ifdef HS_NETWORK
        // The odds times h.trust, written so that 1 changes no bit.
        trust += trust * (1.0 - trust) * (h.trust - 1.0) / (1.0 - trust + trust * h.trust);
        weight *= h.weight;
#endif
        now.c += (corrected.c - now.c) * trust;
        now.s += (corrected.s - now.s) * trust;
        // By their difference: what is the same stays so, which near 1 is all of a bright pixel.
        const float share = weight / (weight + gain);
        now.c += (old.c - now.c) * share;
        now.s += (old.s - now.s) * share;
        now = settle(now, opaque);
    }
#ifdef HS_NETWORK
    now.c.rgb += residual() * max(has(HS_FRAME_LDR) ? now.c.a : now.s, 0.0);
#endif
    const vec4 rgba = decode(now);
    const vec4 picture = vec4(min(rgba.rgb / exposure_factor(), HS_TAAU_MAX), rgba.a);
#ifdef HS_AOV
    const float fresh = weight > 0.0 ? gain / (weight + gain) : 1.0;
    resolve_aov(p, weights, aov_shares(fresh, keep, trust), picture);
#else
    imageStore(out_history, p, rgba);
    imageStore(out_history_aux, p, vec4(min(weight + gain, HS_TAAU_WEIGHT_MAX), 0.0, 0.0, 0.0));
    if (has(HS_FRAME_FINISH))
        imageStore(out_resolved, p, picture);
    else
        imageStore(out_image, p + params.origin_out.xy, picture);
#endif
}

void main()
{
    const ivec2 p = group_first() + group_place();
    const float alpha = load_tiles(p);
#if defined(HS_NETWORK) && !defined(HS_INT8) && !defined(HS_SPLIT)
    load_head();
#endif
    barrier();
    share_opaque(alpha);
#if defined(HS_INT8) || defined(HS_SPLIT)
    compute_head();
#elif defined(HS_NETWORK)
    product();
#endif
    barrier();
    if (p.x >= params.size.z || p.y >= push.band.y)
        return;
    place_window(p);
    // Two copies of the code: `opaque` is known in each.
    if (tiles_opaque())
        resolve(p, true);
    else
        resolve(p, false);
}

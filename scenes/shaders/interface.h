// SPDX-License-Identifier: MIT
/** What the shaders and the C side of the scene renderer share: layouts, ids, limits. */
#ifndef HS_SCENES_INTERFACE_H
#define HS_SCENES_INTERFACE_H

#ifdef VULKAN
#define HS_VEC4(name) vec4 name
#define HS_UVEC4(name) uvec4 name
#define HS_ROWS(name) vec4 name[3]
#define HS_UINT(name) uint name
#define HS_INT(name) int name
#define HS_FLOAT(name) float name
#define HS_STRUCT(type) type
#else
#include <stdint.h>
#define HS_VEC4(name) float name[4]
#define HS_UVEC4(name) uint32_t name[4]
#define HS_ROWS(name) float name[3][4]
#define HS_UINT(name) uint32_t name
#define HS_INT(name) int32_t name
#define HS_FLOAT(name) float name
#define HS_STRUCT(type) struct type
#endif

// Bindings of set 0. All scene data lies in one buffer and is addressed in units of 16 bytes.
#define SCENE_BINDING_DATA 0
#define SCENE_BINDING_PLANES 1 // 1..10 in the order of SCENE_PLANE_*
#define SCENE_BINDING_SUM 11
#define SCENE_BINDING_COUNT 12

#define SCENE_PLANE_COLOUR 0
#define SCENE_PLANE_DEPTH 1
#define SCENE_PLANE_MOTION 2
#define SCENE_PLANE_NORMAL 3
#define SCENE_PLANE_ROUGHNESS 4
#define SCENE_PLANE_DIFFUSE 5
#define SCENE_PLANE_SPECULAR 6
#define SCENE_PLANE_HIT_DISTANCE 7
#define SCENE_PLANE_ALPHA 8
#define SCENE_PLANE_REFERENCE 9
#define SCENE_PLANE_COUNT 10

#define SCENE_SHAPE_BOX 0u
#define SCENE_SHAPE_SPHERE 1u
#define SCENE_SHAPE_CONE 2u // radius 1 at z = -1, `taper` at z = 1, capped
#define SCENE_SHAPE_QUAD 3u
#define SCENE_SHAPE_DISC 4u
#define SCENE_SHAPE_MESH 5u

// How texture coordinates come from the position in metres.
#define SCENE_MAP_BOX 0u
#define SCENE_MAP_CYLINDER 1u
#define SCENE_MAP_XY 2u

// scene_instance.link.x: shape | map << 8 | flags << 16
#define SCENE_INSTANCE_NO_SHADOW 1u

#define SCENE_TEX_PLAIN 0u
#define SCENE_TEX_CHECKER 1u
#define SCENE_TEX_STRIPES 2u
#define SCENE_TEX_BRICKS 3u
#define SCENE_TEX_NOISE 4u
#define SCENE_TEX_WOOD 5u
#define SCENE_TEX_MARBLE 6u
#define SCENE_TEX_TEXT 7u
#define SCENE_TEX_TILES 8u
#define SCENE_TEX_FACADE 9u
#define SCENE_TEX_DOTS 10u
#define SCENE_TEX_GROUND 11u
#define SCENE_TEX_ROAD 12u
#define SCENE_TEX_PLANKS 13u
#define SCENE_TEX_PLAID 14u
#define SCENE_TEX_PICTURE 15u
#define SCENE_TEX_ZONE 16u
#define SCENE_TEX_SPINES 17u

#define SCENE_CUT_NONE 0u
#define SCENE_CUT_LEAVES 1u
#define SCENE_CUT_SLATS 2u
#define SCENE_CUT_MESH 3u
#define SCENE_CUT_HOLES 4u
#define SCENE_CUT_TEXT 5u

#define SCENE_MATERIAL_THIN 1u        // diffuse light passes through (leaves, paper)
#define SCENE_MATERIAL_TRANSPARENT 2u // drawn over what is behind it; no vectors, no shadow
#define SCENE_MATERIAL_SOFT 4u        // opacity falls off towards the silhouette (particles)
#define SCENE_MATERIAL_EMIT_TEX 8u    // emission is multiplied by the texture
#define SCENE_MATERIAL_WAVES 16u      // ripples that run with time; water

#define SCENE_LIGHT_SPHERE 0u
#define SCENE_LIGHT_QUAD 1u
#define SCENE_LIGHT_FILL 2u // direct mode only: unshadowed bounce light

#define SCENE_FLAG_CLEAR_FILM 2u
#define SCENE_FLAG_SOFT_LIGHTS 4u
#define SCENE_FLAG_ENVIRONMENT 8u
#define SCENE_FLAG_STARS 16u

#define SCENE_FILTER_POINT 0u
#define SCENE_FILTER_BOX 1u
#define SCENE_FILTER_BLACKMAN_HARRIS 2u

#define SCENE_SPECULAR_DIRECTIONAL 0u
#define SCENE_SPECULAR_F0 1u
#define SCENE_SPECULAR_METAL_WHITE 2u

#define SCENE_STACK 28
#define SCENE_TILE 8

struct scene_camera {
    HS_VEC4(eye);
    HS_VEC4(right);   // unit, w = tangent of half the horizontal field of view
    HS_VEC4(up);      // unit, w = tangent of half the vertical field of view
    HS_VEC4(forward); // unit
};

struct scene_frame {
    HS_STRUCT(scene_camera) now;
    HS_STRUCT(scene_camera) old;
    HS_VEC4(zenith);       // sky radiance, w = exponent of the gradient
    HS_VEC4(horizon);      // w = strength of the glow around the sun
    HS_VEC4(below);        // sky radiance under the horizon
    HS_VEC4(sun);          // direction to the sun, w = cosine of its angular radius
    HS_VEC4(sun_radiance); // w = weight of the environment as a light
    HS_VEC4(cloud);        // coverage 0..1, scale, brightness, seed
    HS_VEC4(ambient_up);   // irradiance / pi of the direct mode, from above
    HS_VEC4(ambient_down);
    HS_VEC4(fog);    // colour, w = density per metre
    HS_VEC4(time);   // frames, fireflies (probability), fireflies (gain), reach of occlusion (m)
    HS_UVEC4(root);  // packed top node, first instance, light count, occluder count
    HS_UVEC4(table); // first light, first occluder, first material, flags
    HS_UVEC4(env);   // first texel, width, height, place of its cumulative weights
};

struct scene_instance {
    HS_ROWS(inverse); // world to object
    HS_ROWS(now);     // object to world
    HS_ROWS(old);     // object to world, one frame earlier
    HS_VEC4(scale);   // half extents in metres, w = taper
    HS_UVEC4(link);   // shape bits, material, packed mesh root, light + 1
    HS_UVEC4(mesh);   // first triangle, first vertex, first vertex one frame earlier, seed
};

struct scene_vertex {
    HS_VEC4(place); // position, w = packed normal
    HS_VEC4(rest);  // rest position for textures, w = tint 0..1
};

struct scene_material {
    HS_VEC4(a);        // colour, w = roughness
    HS_VEC4(b);        // second colour, w = metallic
    HS_VEC4(emission); // radiance, w = opacity of transparents
    HS_VEC4(pattern);  // repeats per metre, angle, parameter 0..1, roughness of the second colour
    HS_VEC4(detail);   // mottling amount, its repeats per metre, bump amount, its repeats per metre
    HS_VEC4(more);     // F0, repeats per metre of the cut, threshold of the cut, time scale
    HS_VEC4(scroll);   // metres per frame in u and v, tint variation of meshes
    HS_UVEC4(kind);    // texture, cut, flags, seed
};

struct scene_light {
    HS_VEC4(centre); // w = radius
    HS_VEC4(radiance);
    HS_VEC4(u); // half axis of a quad
    HS_VEC4(v);
    HS_UVEC4(kind); // kind, 0, 0, 0
};

struct scene_occluder {
    HS_ROWS(inverse); // world to the unit cube
    HS_VEC4(half_size);
};

struct scene_push {
    HS_UINT(frame); // place of the scene_frame
    HS_UINT(width); // of the picture that is written
    HS_UINT(height);
    HS_UINT(samples); // in this pass
    HS_UINT(first);   // index of the first sample
    HS_UINT(total);   // in all passes
    HS_UINT(planes);  // bit mask of what is written
    HS_UINT(seed);
    HS_FLOAT(jitter_x); // render pixels
    HS_FLOAT(jitter_y);
    HS_UINT(specular);    // SCENE_SPECULAR_*
    HS_FLOAT(hit_limit);  // roughness above which there is no hit distance
    HS_UINT(filter_kind); // SCENE_FILTER_*
};

#define SCENE_UNITS_FRAME 21
#define SCENE_UNITS_INSTANCE 12
#define SCENE_UNITS_VERTEX 2
#define SCENE_UNITS_MATERIAL 8
#define SCENE_UNITS_LIGHT 5
#define SCENE_UNITS_OCCLUDER 4

#endif

// SPDX-License-Identifier: MIT
/** Presets as lists of keys; docs/conventions.md tells where they come from. */
#include "convention_presets.h"

#include <stddef.h>

#define RGBA(name) name ".R," name ".G," name ".B," name ".A?"
#define XYZ(name) name ".X," name ".Y," name ".Z"
#define XY(name) name ".X," name ".Y"
#define RG(name) name ".R," name ".G"
#define ONE(name) name ".R|" name ".X|" name ".Y|" name ".Z|" name ".V|" name

static const char *const raw[] = {
    "color.channels=R,G,B,A?|" RGBA("color") "|" RGBA("*.color") "|" RGBA("rgba") "|" RGBA(
        "beauty") "|Y,RY,BY,A?|Y,Y,Y,A?|" RGBA("*"),
    "depth.channels=Z|" ONE("depth") "|" ONE("*.depth") "|*.Z",
    "motion.channels=" XY("motion") "|" RG("motion") "|motion.U,motion.V|" XY("*.motion") "|" RG(
        "*.motion") "|" RG("motionvector") "|" XY("velocity") "|" RG("velocity"),
    "motion_next.channels=" XY("motion_next") "|" RG("motion_next") "|" XY("*.motion_next"),
    "diffuse_albedo.channels=" RGBA("diffuse_albedo") "|" RGBA("*.diffuse_albedo") "|" RGBA(
        "albedo"),
    "specular_albedo.channels=" RGBA("specular_albedo") "|" RGBA("*.specular_albedo"),
    "normal.channels=" XYZ("normal") ",normal.W?|" XYZ("*.normal") ",*.normal.W?|normal.R,normal.G,"
                                                                   "normal.B,normal.A?|" XYZ("N"),
    "roughness.channels=" ONE("roughness") "|" ONE("*.roughness"),
    "hit_distance.channels=" ONE("hit_distance") "|" ONE("*.hit_distance"),
    "reactive.channels=" ONE("reactive") "|" ONE("*.reactive"),
    "exposure.channels=",
    "color.transfer=srgb",
    "depth.unit_m=1",
    "depth.background=inf",
    "motion.sign_x=1",
    "motion.sign_y=1",
    "motion.scale_x=1",
    "motion.scale_y=1",
    "motion_next.direction=next",
    "motion_next.sign_x=1",
    "motion_next.sign_y=1",
    "motion_next.scale_x=1",
    "motion_next.scale_y=1",
    "jitter.sign_x=1",
    "jitter.sign_y=1",
    NULL,
};

static const char *const blender[] = {
    "color.channels=" RGBA("*.Combined") "|" RGBA("Combined") "|R,G,B,A?",
    "depth.channels=*.Depth.Z|Depth.Z|*.Depth.V|Depth.V|Z",
    "motion.channels=" XY("*.Vector") "|" XY("Vector") "|" XY("*.Speed"),
    "motion_next.channels=*.Vector.Z,*.Vector.W|Vector.Z,Vector.W|*.Speed.Z,*.Speed.W",
    // The denoiser's albedo is the whole reflectance.
    "diffuse_albedo.channels=" RGBA("*.DiffCol") "|" RGBA("DiffCol") "|" RGBA("*.Denoising Albedo"),
    "specular_albedo.channels=" RGBA("*.GlossCol") "|" RGBA("GlossCol"),
    "normal.channels=" XYZ("*.Normal") "|" XYZ("Normal") "|" XYZ("*.Denoising Normal"),
    "roughness.channels=" ONE("*.Roughness") "|" ONE("Roughness"),
    "hit_distance.channels=" ONE("*.HitDistance"),
    "reactive.channels=" ONE("*.Reactive"),
    "motion.sign_y=-1",
    "motion.unwritten=zero_at_far",
    "motion_next.sign_x=-1",
    "motion_next.unwritten=zero_at_far",
    "depth.background=1e10",
    NULL,
};

static const char *const unreal[] = {
    "color.channels=R,G,B,A?|" RGBA("FinalImage") "|" RGBA("*"),
    "depth.channels=*WorldDepth.R|*SceneDepth.R",
    "motion.channels=*MotionVectors.R,*MotionVectors.G|*MotionVector.R,*MotionVector.G",
    "diffuse_albedo.channels=" RGBA("*BaseColor"),
    "normal.channels=*WorldNormal.R,*WorldNormal.G,*WorldNormal.B",
    "roughness.channels=*Roughness.R",
    "motion.unit=uv",
    "motion.bias_x=0.5",
    "motion.bias_y=0.5",
    "motion.scale_x=2",
    "motion.scale_y=2",
    "motion.sign_x=-1",
    "depth.unit_m=0.01",
    NULL,
};

// The texture itself: 16-bit codes of the difference in NDC, 0 where nothing moved by itself.
static const char *const unreal_velocity[] = {
    "color.channels=R,G,B,A?|" RGBA("FinalImage") "|" RGBA("*"),
    "depth.channels=*SceneDepth.R|Z|" ONE("depth"),
    "motion.channels=" RG("*Velocity") "|" RG("*velocity") "|" XY("*velocity"),
    "motion.unit=ndc",
    "motion.bias_x=0.49999237",
    "motion.bias_y=0.49999237",
    "motion.scale_x=4.008016",
    "motion.scale_y=4.008016",
    "motion.sign_x=-1",
    "motion.unwritten=zero",
    "depth.kind=hardware_inverted",
    NULL,
};

static const char *const unity[] = {
    "motion.channels=MotionVectors.R,MotionVectors.G|*.MotionVectors.R,*.MotionVectors.G",
    "motion.unit=uv",
    "motion.sign_x=-1",
    "motion.sign_y=-1",
    "motion.limit=0.5",
    "depth.kind=hardware_inverted",
    "roughness.kind=smoothness",
    NULL,
};

static const char *const godot[] = {
    "motion.unit=uv",
    "depth.kind=hardware_inverted",
    NULL,
};

static const char *const fsr[] = {
    "motion.unit=ndc",
    "motion.sign_y=-1",
    "depth.kind=hardware",
    NULL,
};

static const char *const xess[] = {
    "motion.unit=px",
    "depth.kind=hardware",
    NULL,
};

static const char *const dlss[] = {
    "motion.unit=px",
    "depth.kind=hardware",
    "normal.packed=1",
    NULL,
};

static const char *const nss[] = {
    "motion.unit=uv",
    "depth.kind=hardware",
    NULL,
};

static const char *const nrd[] = {
    "motion.unit=uv",
    "depth.background=5e5",
    "normal.packed=1",
    NULL,
};

static const char *const arnold[] = {
    "motion.channels=" RG("motionvector") "|" RG("*.motionvector") "|" XY("motionvector"),
    "motion.sign_y=-1",
    "depth.background=1e30",
    NULL,
};

static const char *const vray[] = {
    "motion.channels=" RG("velocity") "|" RG("*.velocity") "|" XY("velocity"),
    "motion.direction=next",
    "motion.sign_y=-1",
    NULL,
};

static const char *const streamline[] = {
    "motion.unit=uv",
    "depth.kind=hardware",
    NULL,
};

static const char *const optix[] = {
    NULL,
};

static const char *const renderman[] = {
    "motion.channels=" RG("motionBack") "|" RG("*.motionBack") "|" XY("motionBack"),
    "motion_next.channels=" RG("motionFore") "|" RG("*.motionFore") "|" XY("motionFore"),
    "depth.background=inf",
    NULL,
};

static const char *const houdini[] = {
    "motion.channels=" RG("motionvector") "|" RG("*.motionvector") "|" RG("velocity") "|" RG(
        "*.velocity") "|" XY("velocity"),
    "motion.unit=ndc",
    "motion.sign_y=-1",
    NULL,
};

#define UV(name) name ".u," name ".v"

static const char *const nuke[] = {
    "color.channels=R,G,B,A?|" RGBA("rgba") "|" RGBA("*"),
    "motion.channels=" UV("backward") "|" UV("backward.*") "|" UV("*.backward"),
    "motion_next.channels=" UV("forward") "|" UV("forward.*") "|" UV("*.forward"),
    "motion.sign_y=-1",
    "motion_next.sign_y=-1",
    NULL,
};

static const char *const nuke_forward[] = {
    "color.channels=R,G,B,A?|" RGBA("rgba") "|" RGBA("*"),
    "motion.channels=" UV("forward") "|" UV("forward.*") "|" UV("*.forward"),
    "motion.direction=next",
    "motion.sign_y=-1",
    NULL,
};

static const char *const sintel[] = {
    "motion.direction=next",
    "motion.unwritten=nan",
    NULL,
};

#define DOCUMENTED "(from documentation, unverified)"

const struct hsio_preset hsio_presets[] = {
    {"raw", "planes by their plain names; motion in pixels to the previous frame, linear depth",
     raw, true},
    {"blender", "Blender Cycles multilayer EXR (measured with 4.3)", blender, true},
    {"unreal", "Unreal Movie Render Queue, 0.5 is none " DOCUMENTED, unreal, false},
    {"unreal_velocity", "Unreal's velocity texture, 0 is unwritten (from source, unverified)",
     unreal_velocity, false},
    {"unity", "Unity HDRP AOVs " DOCUMENTED, unity, false},
    {"godot", "Godot 4 velocity texture (from source, unverified)", godot, false},
    {"fsr", "dumps for FSR 2/3, NDC motion " DOCUMENTED, fsr, false},
    {"xess", "dumps for XeSS, pixel motion " DOCUMENTED, xess, false},
    {"dlss", "dumps for DLSS and ray reconstruction " DOCUMENTED, dlss, false},
    {"streamline", "dumps for Streamline, UV motion " DOCUMENTED, streamline, false},
    {"nss", "dumps for Arm NSS, and its data sets (from the specification, unverified)", nss,
     false},
    {"nrd", "dumps for NRD, UV motion " DOCUMENTED, nrd, false},
    {"optix", "dumps for OptiX's temporal denoiser, pixel flow " DOCUMENTED, optix, false},
    {"arnold", "Arnold motionvector AOV, either sign " DOCUMENTED, arnold, false},
    {"vray", "V-Ray velocity element, either sign " DOCUMENTED, vray, false},
    {"renderman", "RenderMan motionBack and motionFore " DOCUMENTED, renderman, false},
    {"houdini", "Houdini, NDC motion on hand-made rigs " DOCUMENTED, houdini, false},
    {"nuke", "Nuke's backward.u and .v, y up " DOCUMENTED, nuke, false},
    {"nuke_forward", "Nuke's forward.u and .v, y up, any shutter " DOCUMENTED, nuke_forward, false},
    {"sintel", "Middlebury .flo to the next frame, .dpt depth " DOCUMENTED, sintel, false},
};
const int hsio_presets_count = sizeof(hsio_presets) / sizeof(hsio_presets[0]);

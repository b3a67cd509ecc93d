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

static const char *const unity[] = {
    "motion.channels=MotionVectors.R,MotionVectors.G|*.MotionVectors.R,*.MotionVectors.G|"
    "R,G",
    "motion.unit=uv",
    "motion.sign_x=-1",
    "motion.sign_y=-1",
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

const struct hsio_preset hsio_presets[] = {
    {"raw", "planes by their plain names; motion in pixels to the previous frame, linear depth",
     raw},
    {"blender", "Blender Cycles multilayer EXR (measured with 4.3)", blender},
    {"unreal", "Unreal Movie Render Queue (from documentation, unverified)", unreal},
    {"unity", "Unity HDRP AOVs (from documentation, unverified)", unity},
    {"godot", "Godot 4 velocity texture (from source, unverified)", godot},
    {"fsr", "dumps for FSR 2/3, NDC motion (from documentation, unverified)", fsr},
    {"xess", "dumps for XeSS, pixel motion (from documentation, unverified)", xess},
    {"dlss", "dumps for DLSS and ray reconstruction (from documentation, unverified)", dlss},
    {"nss", "dumps for Arm NSS (from its specification, unverified)", nss},
    {"nrd", "dumps for NRD, UV motion (from documentation, unverified)", nrd},
    {"arnold", "Arnold motionvector AOV, either sign (from documentation, unverified)", arnold},
    {"vray", "V-Ray velocity element, either sign (from documentation, unverified)", vray},
};
const int hsio_presets_count = sizeof(hsio_presets) / sizeof(hsio_presets[0]);

# SPDX-License-Identifier: MIT
"""Sets a Blender scene up for hindsight upscale.

    blender -b scene.blend -P hindsight_setup.py -- --out DIR [--scale 2] [--render] [--save FILE]

Passes, size, jitter of the camera, pixel filter, noise, file format; and frames.json beside the
pictures. docs/blender.md tells what is set and why. Written for Blender 3.6 to 5.0.
"""
import argparse
import json
import os
import sys

import bpy

PHASES = 16
AOV = "Roughness"
# What a second run starts from, kept in the file: base shift of a camera by frame; of a scene,
# output and render size.
KEPT = "hindsight_shift"
ATTRIBUTES = {
    "use_pass_combined": True, "use_pass_z": True, "use_pass_vector": True,
    "use_pass_normal": True, "use_pass_diffuse_color": True, "use_pass_glossy_color": True,
}


def halton(index, base):
    result, f = 0.0, 1.0
    while index > 0:
        f /= base
        result += f * (index % base)
        index //= base
    return result


def jitter_of(frame, phases=PHASES):
    """Sample position minus pixel centre, render pixels, x right, y down."""
    index = (frame - 1) % phases + 1
    return halton(index, 2) - 0.5, halton(index, 3) - 0.5


def shift_of(jitter, data, width, height, aspect_x=1.0, aspect_y=1.0):
    """What to add to a camera's lens shift so that samples move by the jitter.

    Shift is a fraction of the side that the sensor fits, y up.
    """
    ratio = aspect_y / aspect_x
    fit = data.sensor_fit
    if fit == "AUTO":
        fit = "HORIZONTAL" if width * aspect_x >= height * aspect_y else "VERTICAL"
    side = width if fit == "HORIZONTAL" else ratio * height
    return jitter[0] / side, -jitter[1] * ratio / side


def warn(text):
    print("hindsight: " + text)


def set_passes(layer):
    for name, value in ATTRIBUTES.items():
        setattr(layer, name, value)
    if not any(aov.name == AOV for aov in layer.aovs):
        aov = layer.aovs.add()
        aov.name = AOV
        aov.type = "VALUE"


def add_roughness(material):
    """An AOV output fed by what feeds the material's first Principled BSDF. False: it has none."""
    nodes, links = material.node_tree.nodes, material.node_tree.links
    principled = next((n for n in nodes if n.type == "BSDF_PRINCIPLED"), None)
    if principled is None:
        return False
    if any(n.type == "OUTPUT_AOV" and AOV in (getattr(n, "aov_name", ""), n.name) for n in nodes):
        return True
    output = nodes.new("ShaderNodeOutputAOV")
    # The property was called name before it got one of its own.
    setattr(output, "aov_name" if hasattr(output, "aov_name") else "name", AOV)
    source = principled.inputs["Roughness"]
    if source.is_linked:
        links.new(source.links[0].from_socket, output.inputs["Value"])
    else:
        output.inputs["Value"].default_value = source.default_value
    return True


def set_materials():
    without = [m.name for m in bpy.data.materials
               if m.node_tree is not None and m.library is None and not add_roughness(m)]
    if without:
        warn("no roughness from materials without Principled BSDF: " + ", ".join(without[:8]))


def set_size(scene, scale):
    """Sets the render size; returns (render, output) sizes."""
    render = scene.render
    output = [render.resolution_x * render.resolution_percentage // 100,
              render.resolution_y * render.resolution_percentage // 100]
    kept = list(scene.get(KEPT, ()))
    if kept[2:] == [render.resolution_x, render.resolution_y] and \
            render.resolution_percentage == 100:
        output = kept[:2]
    size = [max(16, round(side / scale)) for side in output]
    scene[KEPT] = output + size
    render.resolution_x, render.resolution_y = size
    render.resolution_percentage = 100
    render.use_border = False
    return size, output


def set_engine(scene, keep_denoising):
    render = scene.render
    render.use_motion_blur = False
    if render.engine != "CYCLES":
        warn("%s: only Cycles' passes were measured; look at hindsight probe" % render.engine)
        return
    cycles = scene.cycles
    cycles.pixel_filter_type = "BOX"
    cycles.filter_width = 0.01
    cycles.use_animated_seed = True
    if not keep_denoising:
        cycles.use_denoising = False


def set_format(scene, out):
    render = scene.render
    settings = render.image_settings
    # Since 5.0 it comes first: it decides which formats there are.
    if hasattr(settings, "media_type"):
        settings.media_type = "MULTI_LAYER_IMAGE"
    settings.file_format = "OPEN_EXR_MULTILAYER"
    settings.color_mode = "RGBA"
    settings.color_depth = "16"
    settings.exr_codec = "ZIP"
    render.use_file_extension = True
    render.filepath = os.path.join(out, "frame_####")
    # Neither may change what the renderer gives.
    for name in ("use_compositing", "use_sequencer"):
        if getattr(render, name):
            warn("%s is switched off: do that work on the upscaled frames" % name)
            setattr(render, name, False)


def rows(matrix):
    return [[float(value) for value in row] for row in matrix]


def base_shift(data, frame):
    kept = json.loads(data.get(KEPT, "{}"))
    return kept.get(str(frame), [data.shift_x, data.shift_y])


def keep_shifts(bases):
    for data, by_frame in bases.items():
        kept = json.loads(data.get(KEPT, "{}"))
        kept.update({str(frame): list(shift) for frame, shift in by_frame.items()})
        data[KEPT] = json.dumps(kept)


def hold_keys(data):
    """A jitter holds for its frame: nothing lies between two."""
    animation = data.animation_data
    action = animation.action if animation else None
    curves = list(getattr(action, "fcurves", []) or [])
    for layer in getattr(action, "layers", []) or []:
        for strip in layer.strips:
            for bag in strip.channelbags:
                curves += list(bag.fcurves)
    for curve in curves:
        if curve.data_path in ("shift_x", "shift_y"):
            for point in curve.keyframe_points:
                point.interpolation = "CONSTANT"


def one_frame(scene, frame, size, phases, last):
    """(entry of frames.json, camera, its shift without and with jitter)"""
    scene.frame_set(frame)
    camera = scene.camera
    if camera is None:
        raise SystemExit("hindsight: frame %d has no camera" % frame)
    data, render = camera.data, scene.render
    if data.type == "PANO" and phases:
        raise SystemExit("hindsight: %s is panoramic: use --no-jitter" % camera.name)
    base = base_shift(data, frame)
    # The matrices hold no jitter.
    data.shift_x, data.shift_y = base
    graph = bpy.context.evaluated_depsgraph_get()
    proj = camera.calc_matrix_camera(graph, x=size[0], y=size[1], scale_x=render.pixel_aspect_x,
                                     scale_y=render.pixel_aspect_y)
    jitter = jitter_of(frame, phases) if phases else (0.0, 0.0)
    shift = shift_of(jitter, data, *size, render.pixel_aspect_x, render.pixel_aspect_y)
    entry = {"number": frame, "jitter": list(jitter),
             "view": rows(camera.matrix_world.normalized().inverted()), "proj": rows(proj),
             "near": data.clip_start, "far": data.clip_end}
    if last is None or last != camera:
        entry["reset"] = True
    return entry, camera, base, (base[0] + shift[0], base[1] + shift[1])


def set_cameras(scene, size, phases):
    """Animates the cameras' shifts; returns the frames of frames.json."""
    entries, keys, bases, last = [], [], {}, None
    # All is read before anything is animated, or the first key would be read as a base.
    for frame in range(scene.frame_start, scene.frame_end + 1, scene.frame_step):
        entry, camera, base, shift = one_frame(scene, frame, size, phases, last)
        entries.append(entry)
        keys.append((camera.data, frame, shift))
        bases.setdefault(camera.data, {})[frame] = base
        last = camera
        if camera.data.dof.use_dof and len(entries) == 1:
            warn("%s has depth of field: depth and motion become noisy where it is wide"
                 % camera.name)
    for data, frame, shift in keys if phases else []:
        data.shift_x, data.shift_y = shift
        for path in ("shift_x", "shift_y"):
            if not data.keyframe_insert(data_path=path, frame=frame):
                raise SystemExit("hindsight: %s of %s can not be animated (a driver, or linked "
                                 "data)" % (path, data.name))
    keep_shifts(bases)
    for data in bases:
        hold_keys(data)
    return entries


def parse(argv):
    parser = argparse.ArgumentParser(prog="hindsight_setup.py")
    parser.add_argument("--out", default="//hindsight", help="folder of the frames; // is the "
                        ".blend file's own")
    parser.add_argument("--scale", type=float, default=2.0, help="output over render size, 1 to 3")
    parser.add_argument("--phases", type=int, default=PHASES, help="length of the jitter")
    parser.add_argument("--no-jitter", action="store_true")
    parser.add_argument("--keep-denoising", action="store_true")
    parser.add_argument("--save", help="writes the scene that was set up as another .blend file")
    parser.add_argument("--render", action="store_true", help="renders the animation")
    args = parser.parse_args(argv)
    if not 1 <= args.scale <= 3:
        parser.error("--scale takes 1 to 3")
    if args.phases < 1:
        parser.error("--phases takes 1 or more")
    return args


def setup(args):
    scene = bpy.context.scene
    out = bpy.path.abspath(args.out)
    os.makedirs(out, exist_ok=True)
    for layer in scene.view_layers:
        set_passes(layer)
    set_materials()
    size, output = set_size(scene, args.scale)
    set_engine(scene, args.keep_denoising)
    set_format(scene, out)
    frames = set_cameras(scene, size, 0 if args.no_jitter else args.phases)
    description = {
        "format": "hindsight-frames", "version": 1,
        "output": {"width": output[0], "height": output[1]},
        "render": {"width": size[0], "height": size[1]},
        "frames": frames,
    }
    with open(os.path.join(out, "frames.json"), "w", encoding="utf-8") as file:
        json.dump(description, file, indent=1)
    print("hindsight: %d frames of %dx%d for %dx%d into %s" % (len(frames), *size, *output, out))
    if args.save:
        bpy.ops.wm.save_as_mainfile(filepath=bpy.path.abspath(args.save), copy=True)
    if args.render:
        bpy.ops.render.render(animation=True)


if __name__ == "__main__":
    setup(parse(sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else []))

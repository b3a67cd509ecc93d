# SPDX-License-Identifier: MIT
"""As much of Blender's bpy as hindsight_setup.py touches. Objects refuse names that they lack."""
import types

import numpy as np


class Strict:
    """Attributes are those it was made with; others can be neither read nor set."""

    def __init__(self, **values):
        self.__dict__.update(values)

    def __setattr__(self, name, value):
        if name not in self.__dict__:
            raise AttributeError("bpy has no %s" % name)
        self.__dict__[name] = value


class Custom(Strict):
    """With custom properties, too, as Blender's data blocks have."""

    def __init__(self, **values):
        super().__init__(properties={}, **values)

    def __contains__(self, key):
        return key in self.properties

    def __getitem__(self, key):
        return self.properties[key]

    def __setitem__(self, key, value):
        self.properties[key] = value

    def get(self, key, default=None):
        return self.properties.get(key, default)


class Matrix:
    def __init__(self, values):
        self.values = np.array(values, float)

    def __iter__(self):
        return iter(self.values)

    def normalized(self):
        scale = np.linalg.norm(self.values[:3, :3], axis=0)
        values = self.values.copy()
        values[:3, :3] /= scale
        return Matrix(values)

    def inverted(self):
        return Matrix(np.linalg.inv(self.values))


class CameraData(Custom):
    def __init__(self, **values):
        super().__init__(name="Camera", type="PERSP", sensor_fit="AUTO", sensor_width=36.0,
                         sensor_height=24.0, lens=50.0, shift_x=0.0, shift_y=0.0, clip_start=0.1,
                         clip_end=100.0, dof=Strict(use_dof=False), keys={}, driven=False,
                         animation_data=None, curves=[])
        self.__dict__.update(values)

    def keyframe_insert(self, data_path, frame):
        if self.driven:
            return False
        self.keys[data_path, frame] = getattr(self, data_path)
        if self.animation_data is None:
            curves = [Strict(data_path=p, keyframe_points=[]) for p in ("shift_x", "shift_y")]
            self.animation_data = Strict(action=Strict(fcurves=curves))
        for curve in self.animation_data.action.fcurves:
            if curve.data_path == data_path:
                curve.keyframe_points.append(Strict(interpolation="BEZIER"))
        return True

    def at(self, frame):
        """The animation's values take the place of what was set."""
        for path in ("shift_x", "shift_y"):
            if (path, frame) in self.keys:
                setattr(self, path, self.keys[path, frame])

    def projection(self, width, height, aspect_x=1.0, aspect_y=1.0):
        """As Blender computes it (BKE_camera_params_compute_viewplane and _matrix)."""
        ratio = aspect_y / aspect_x
        fit = self.sensor_fit
        if fit == "AUTO":
            fit = "HORIZONTAL" if width * aspect_x >= height * aspect_y else "VERTICAL"
        side = width if fit == "HORIZONTAL" else ratio * height
        sensor = self.sensor_height if self.sensor_fit == "VERTICAL" else self.sensor_width
        pixel = sensor * self.clip_start / self.lens / side
        left = (-0.5 * width + self.shift_x * side) * pixel
        right = (0.5 * width + self.shift_x * side) * pixel
        bottom = (-0.5 * ratio * height + self.shift_y * side) * pixel
        top = (0.5 * ratio * height + self.shift_y * side) * pixel
        near, far = self.clip_start, self.clip_end
        return np.array([[2 * near / (right - left), 0, (right + left) / (right - left), 0],
                         [0, 2 * near / (top - bottom), (top + bottom) / (top - bottom), 0],
                         [0, 0, -(far + near) / (far - near), -2 * far * near / (far - near)],
                         [0, 0, -1, 0]])


class Camera(Strict):
    def __init__(self, name="Camera", **values):
        super().__init__(name=name, data=CameraData(**values), matrix_world=None)
        self.matrix_world = Matrix(np.diag([2.0, 2, 2, 1]))

    def calc_matrix_camera(self, depsgraph, x=1, y=1, scale_x=1.0, scale_y=1.0):
        assert depsgraph == "depsgraph"
        return Matrix(self.data.projection(x, y, scale_x, scale_y))


class Socket(Strict):
    def __init__(self, value=0.0, source=None):
        super().__init__(default_value=value, links=[], is_linked=False)
        if source:
            self.link(source)

    def link(self, source):
        self.links.append(Strict(from_socket=source))
        self.is_linked = True


class Nodes(list):
    modern = True

    def new(self, kind):
        assert kind == "ShaderNodeOutputAOV"
        node = Strict(type="OUTPUT_AOV", name="AOV Output", inputs={"Value": Socket()})
        if self.modern:
            node.__dict__["aov_name"] = ""
        self.append(node)
        return node


def material(name, roughness=0.5, source=None, principled=True):
    nodes = Nodes()
    if principled:
        nodes.append(Strict(type="BSDF_PRINCIPLED", name="Principled BSDF",
                            inputs={"Roughness": Socket(roughness, source)}))
    links = types.SimpleNamespace(new=lambda source, to: to.link(source))
    return Strict(name=name, library=None, node_tree=Strict(nodes=nodes, links=links))


class Aovs(list):
    def add(self):
        self.append(Strict(name="AOV", type="COLOR"))
        return self[-1]


class Scene(Custom):
    def __init__(self, modern):
        settings = dict(file_format="PNG", color_mode="RGB", color_depth="8", exr_codec="DWAA")
        if modern:
            settings["media_type"] = "IMAGE"
        layer = Strict(aovs=Aovs(), **{name: False for name in (
            "use_pass_combined", "use_pass_z", "use_pass_vector", "use_pass_normal",
            "use_pass_diffuse_color", "use_pass_glossy_color")})
        super().__init__(
            frame_start=1, frame_end=20, frame_step=1, camera=Camera(), view_layers=[layer],
            cuts={}, frame=0,
            cycles=Strict(pixel_filter_type="BLACKMAN_HARRIS", filter_width=1.5,
                          use_animated_seed=False, use_denoising=True),
            render=Strict(engine="CYCLES", resolution_x=1280, resolution_y=720,
                          resolution_percentage=50, pixel_aspect_x=1.0, pixel_aspect_y=1.0,
                          use_border=True, use_motion_blur=True, use_file_extension=False,
                          filepath="/tmp/", use_compositing=True, use_sequencer=True,
                          image_settings=Strict(**settings)))

    def frame_set(self, frame):
        self.frame = frame
        self.camera = self.cuts.get(frame, self.camera)
        self.camera.data.at(frame)


def make(folder, modern=True):
    """A module with one scene; `done` lists the operators that were called."""
    done = []
    scene = Scene(modern)
    Nodes.modern = modern
    bpy = types.ModuleType("bpy")
    bpy.context = Strict(scene=scene, evaluated_depsgraph_get=lambda: "depsgraph")
    bpy.data = Strict(materials=[])
    bpy.path = Strict(abspath=lambda path: path.replace("//", folder + "/", 1)
                      if path.startswith("//") else path)
    bpy.ops = Strict(
        wm=Strict(save_as_mainfile=lambda **values: done.append(("save", values))),
        render=Strict(render=lambda **values: done.append(("render", values))))
    bpy.done = done
    return bpy

# SPDX-License-Identifier: MIT
"""What pipelines do on the device, counted: copies, maps, devices."""
import os
import subprocess
import tempfile
import unittest

ELEMENTS = ("hsupscale", "hstestsrc", "hssequencesrc", "hssequencesink", "hsplanemux",
            "hsplanedemux")
IMAGES = "application/x-hindsight-plane(memory:VulkanImage)"
SOURCE = ["hstestsrc", "pattern=orbit", "width=64", "height=48"]


def count(*command, **settings):
    with tempfile.NamedTemporaryFile() as file:
        env = dict(os.environ, LD_PRELOAD=os.environ["HS_COUNT_LIBRARY"], HS_COUNT_FILE=file.name,
                   **settings)
        result = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
        if result.returncode:
            raise AssertionError(result.stdout + result.stderr)
        words = file.read().decode().split()
    if not words:
        raise AssertionError("nothing was counted")
    return dict(zip(words[::2], map(int, words[1::2])))


def launch(frames, *words):
    return count("gst-launch-1.0", "-q", *SOURCE, f"num-buffers={frames}", "!", *words)


class Counts(unittest.TestCase):
    def per_frame(self, *words):
        """How much a further frame adds, over 4 of them."""
        few, many = launch(2, *words), launch(6, *words)
        return {key: (many[key] - few[key]) / 4 for key in many}

    def test_no_copy_between_source_and_sink(self):
        words = ("hsupscale", "!", IMAGES, "!", "fakesink")
        counts = launch(8, *words)
        self.assertEqual((counts["uploads"], counts["downloads"]), (0, 0))
        # Two submissions a frame: the counter does see the frames.
        more = self.per_frame(*words)
        self.assertEqual((more["submits"], more["maps"]), (2, 0))

    def test_one_copy_for_a_download(self):
        """Tone-mapped video to vulkandownload: the picture is copied once, by vulkandownload."""
        words = ("hsupscale", "tone-map=aces", "!", "vulkandownload", "!", "fakesink")
        more = self.per_frame(*words)
        self.assertEqual((more["downloads"], more["uploads"]), (1, 0))

    def test_one_device(self):
        counts = launch(2, "hsupscale", "!", "queue", "!", "hsupscale", "scale=1.5", "!",
                        "vulkancolorconvert", "!", "vulkandownload", "!", "fakesink")
        # The stock plugin opens an instance when it is loaded, and so does its first element.
        stock = count("gst-launch-1.0", "-q", "videotestsrc", "num-buffers=1", "!",
                      "video/x-raw,format=RGBA", "!", "vulkanupload",
                      "!", "vulkandownload", "!", "fakesink")
        self.assertEqual(counts["instances"], stock["instances"])
        # The stock one that GstVulkan opens, and ours in its place.
        self.assertEqual(counts["devices"], stock["devices"] + 1)

    def test_scan_opens_nothing(self):
        """A new registry, with our plugin only, scanned in the process that is counted."""
        with tempfile.TemporaryDirectory() as folder:
            for element in ELEMENTS:
                counts = count("gst-inspect-1.0", element, GST_PLUGIN_SYSTEM_PATH="",
                               GST_REGISTRY=os.path.join(folder, element), GST_REGISTRY_FORK="no")
                self.assertEqual((counts["instances"], counts["devices"]), (0, 0), element)

    def test_inspection_is_complete(self):
        for element in ELEMENTS:
            text = subprocess.run(["gst-inspect-1.0", element], capture_output=True, text=True,
                                  check=True).stdout
            for word in ("Long-name", "Klass", "Author", "Description"):
                self.assertRegex(text, rf"{word} +\S", element)
            self.assertNotIn("deprecated API", text)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: MIT
"""Runs a program with the validation layer in every Vulkan instance; a message is a failure."""
import os
import re
import subprocess
import sys

MESSAGE = re.compile(r"(VUID|SYNC-HAZARD|UNASSIGNED|BestPractices)[\w-]*")
# GstVulkan 1.26 draws what it converts, and reads it past its own barrier; nothing here draws.
FOREIGN = re.compile(r"^vkCmdDraw\w*\(\): READ_AFTER_WRITE")


def messages(text):
    """The messages in the layer's output, without those about draws."""
    lines = text.split("\n")
    found = []
    for number, line in enumerate(lines):
        if MESSAGE.search(line) and "MessageID" in line:
            following = lines[number + 1] if number + 1 < len(lines) else ""
            if not FOREIGN.search(following):
                found.append(line + "\n    " + following)
    return found


def environment():
    env = dict(os.environ)
    env["VK_LOADER_LAYERS_ENABLE"] = "*validation*"
    return env


def main():
    result = subprocess.run(sys.argv[1:], env=environment(), stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, errors="replace")
    print(result.stdout)
    found = messages(result.stdout)
    if found:
        print(f"{len(found)} validation messages")
    sys.exit(result.returncode if result.returncode else bool(found))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""models/manifest.json tells the truth about the files beside it, and lists all of them."""
import hashlib
import json
import sys

import files

KEYS = {"file", "preset", "sha256", "bytes", "licence", "commit", "card"}


def metadata(data):
    size = int.from_bytes(data[:8], "little")
    return json.loads(data[8:8 + size]).get("__metadata__", {})


def check_model(folder, entry):
    name = entry.get("file", "?")
    if set(entry) != KEYS:
        yield f"{name}: keys are {sorted(entry)}"
        return
    if name != f"hs-{entry['preset']}.safetensors":
        yield f"{name}: not the name of preset {entry['preset']}"
    if not (folder / name).is_file():
        yield f"{name}: missing"
        return
    data = (folder / name).read_bytes()
    if len(data) != entry["bytes"]:
        yield f"{name}: {len(data)} bytes, not {entry['bytes']}"
    if hashlib.sha256(data).hexdigest() != entry["sha256"]:
        yield f"{name}: another SHA-256"
    about = metadata(data)
    for key in ("preset", "licence", "commit"):
        if about.get(key) != entry[key]:
            yield f"{name}: {key} is {about.get(key)}, not {entry[key]}"
    if not (folder / entry["card"]).is_file():
        yield f"{name}: no card {entry['card']}"


def main():
    folder = files.source_root() / "models"
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    errors = []
    if manifest.get("format") != "hindsight-models" or manifest.get("version") != 1:
        errors.append("manifest.json: format or version")
    for entry in manifest["models"]:
        errors += check_model(folder, entry)
    listed = {entry.get("file") for entry in manifest["models"]}
    for path in sorted(folder.glob("*.safetensors")):
        if path.name not in listed:
            errors.append(f"{path.name}: not in the manifest")
    print("\n".join(errors))
    print(f"{len(listed)} models, {len(errors)} errors")
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()

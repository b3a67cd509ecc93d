# SPDX-License-Identifier: MIT
"""Sums up the Meson test logs of several build folders: failures, reasons of skips, counts."""
import json
import pathlib
import sys

TAIL_LINES = 40


def read_log(path):
    if not path.exists():
        return []
    with open(path, encoding="utf-8", errors="replace") as log:
        return [json.loads(line) for line in log if line.strip()]


def output(test):
    return (test.get("stdout") or "") + (test.get("stderr") or "")


def main():
    build = pathlib.Path(sys.argv[1])
    folders = [word for word in sys.argv[2:] if "=" not in word]
    steps = [word.split("=") for word in sys.argv[2:] if "=" in word]
    passed = sum(result == "passed" for _, result in steps)
    failures = [name for name, result in steps if result != "passed"]
    skipped = 0
    executed = 0
    for folder in folders:
        for test in read_log(build / folder / "meson-logs" / "testlog.json"):
            name = f"{folder}: {test['name']}"
            executed += test["result"] != "SKIP"
            if test["result"] in ("OK", "EXPECTEDFAIL"):
                passed += 1
            elif test["result"] == "SKIP":
                skipped += 1
                reasons = [line for line in output(test).splitlines() if line.startswith("skip:")]
                print(f"skipped {name}", *reasons[:1])
            else:
                failures.append(name)
                print(f"\n{test['result'].lower()} {name} after {test['duration']:.1f} s:")
                for line in output(test).splitlines()[-TAIL_LINES:]:
                    print("    " + line)
    for name in failures:
        print(f"failed {name}")
    if not executed:
        failures.append("no test was executed")
        print("failed: no test was executed")
    print(f"{passed} passed, {len(failures)} failed, {skipped} skipped")
    sys.exit(1 if failures else 0)


main()

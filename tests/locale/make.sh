#!/bin/sh
# SPDX-License-Identifier: MIT
# Compiles the locale "comma" for LOCPATH, with nothing but glibc's own program: make.sh STAMP
here=$(dirname "$0")
folder=$(dirname "$1")
# It complains of the categories that we leave out, and makes the one that we want.
localedef -c -f "$here/ascii" -i "$here/comma" "$folder/comma" >"$1" 2>&1
[ -s "$folder/comma/LC_NUMERIC" ] || { cat "$1" && exit 1; }

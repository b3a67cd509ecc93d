#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints the Debian mirror that this machine's apt uses and that has the suite we need; with --list
# all that are configured, without asking them. HINDSIGHT_APT_DIR stands for apt's own folder.
# Exit status: 2 no mirror is configured, 3 none of the configured ones answers.
set -u
env_dir=$(dirname "$0")
. "$env_dir/common.sh"

etc=${HINDSIGHT_APT_DIR:-/etc/apt}

# "URI suites" of every enabled binary source, in both forms that apt knows.
list_sources()
{
    cat "$etc/sources.list" "$etc"/sources.list.d/*.list 2>/dev/null |
        sed 's/#.*//; s/\[[^]]*\]//' | awk '$1 == "deb" { print $2, $3 }'
    for file in "$etc"/sources.list.d/*.sources; do
        [ -r "$file" ] || continue
        awk '
            function stanza(    i, n, list) {
                n = split(field["uris"], list, " ")
                if (field["types"] ~ /(^| )deb( |$)/ && tolower(field["enabled"]) !~ /^ *no/)
                    for (i = 1; i <= n; i++)
                        print list[i], field["suites"]
                split("", field)
            }
            /^#/ { next }
            /^[ \t]*$/ { stanza(); next }
            /^[ \t]/ { field[key] = field[key] " " $0; next }
            { key = tolower($0); sub(/:.*/, "", key); sub(/^[^:]*:[ \t]*/, ""); field[key] = $0 }
            END { stanza() }
        ' "$file"
    done
}

# Mirrors that carry a main Debian suite; a mirror list file stands for the mirrors in it.
list_mirrors()
{
    list_sources | awk '
        BEGIN {
            split("bullseye bookworm trixie forky duke sid oldstable stable testing unstable", list)
            for (i in list) debian[list[i]] = 1
        }
        { for (i = 2; i <= NF; i++) if ($i in debian) { print $1; next } }
    ' | while read -r uri; do
        case $uri in
        mirror+file:*) awk '!/^#/ && NF { print $1 }' "${uri#mirror+file:}" ;;
        http:* | https:*) echo "$uri" ;;
        esac
    done | sed 's,/*$,,' | awk '!seen[$0]++'
}

is_debian()
{
    /usr/lib/apt/apt-helper -o APT::Sandbox::User=root -o Acquire::Retries=2 \
        download-file "$1/dists/$suite/InRelease" "$temporary" >/dev/null 2>&1 &&
        grep -q '^Origin: Debian' "$temporary" && grep -q "^Codename: $suite" "$temporary"
}

if [ "${1:-}" = --list ]; then
    list_mirrors
    exit
fi
mirrors=${HINDSIGHT_MIRROR:-$(list_mirrors)}
[ -n "$mirrors" ] || exit 2
directory=$(mktemp -d) || exit 1
temporary=$directory/InRelease
trap 'rm -rf "$directory"' EXIT
for mirror in $mirrors; do
    if is_debian "$mirror"; then
        echo "$mirror"
        exit 0
    fi
    warn "no Debian $suite at $mirror"
done
exit 3

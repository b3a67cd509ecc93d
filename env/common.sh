# SPDX-License-Identifier: MIT
# Sourced by ./run and the scripts beside this file. POSIX sh: a bare system has nothing else.

suite=trixie
: "${HINDSIGHT_START:=$(date +%s)}"
export HINDSIGHT_START

say()
{
    printf '[%4ds] %s\n' $(($(date +%s) - HINDSIGHT_START)) "$*"
}

warn()
{
    printf 'warning: %s\n' "$*" >&2
}

die()
{
    printf 'run: %s\n' "$*" >&2
    exit 1
}

# The packages of the groups in $1, one a line. $2 picks: all, backports, or main (the others).
list_packages()
{
    awk -v groups="$1" -v pick="$2" '
        BEGIN { n = split(groups, names, " "); for (i = 1; i <= n; i++) wanted[names[i]] = 1 }
        { sub(/#.*/, "") }
        /^[a-z0-9-]+:[ \t]*$/ { sub(/:.*/, ""); on = $0 in wanted; next }
        NF && on && (pick == "all" || (pick == "backports") == ($2 == "backports")) { print $1 }
    ' "$env_dir/packages"
}

# Pins for apt: what shares a source with an installed package from backports comes from there, too,
# since a -dev package wants exactly the version of its library.
pin_backports()
{
    dpkg-query -W -f '${source:Package} ${Version}\n' "$@" | awk -v suite="$suite-backports" '
        $2 ~ /~bpo/ && !seen[$1]++ {
            printf "Package: src:%s\nPin: release n=%s\nPin-Priority: 990\n\n", $1, suite
        }
    '
}

# mawk, Debian's default, keeps its input back otherwise.
awk_live='awk'
awk -W version 2>&1 </dev/null | grep -q mawk && awk_live='awk -W interactive'

# Runs a command with its output in the log file $1, and shows what $2 (awk) makes of it.
logged()
{
    logged_to=$1
    logged_filter=$2
    shift 2
    { "$@" </dev/null 2>&1 || echo "failed with status $?"; } | tee -a "$logged_to" |
        $awk_live "$logged_filter"' { last = $0 } END { exit last ~ /^failed with status / }'
}

# Progress of apt-get: packages fetched and set up.
apt_progress='
    function show(what, n) {
        if (n % 100 == 0 || n == total) {
            printf "         %s %d of %d packages\n", what, n, total; fflush()
        }
    }
    / newly installed, / { total = $1 + $3 }
    sub(/^Need to get /, "") {
        sub(/ of archives.*/, ""); print "         " $0 " to download"; fflush()
    }
    /^Get:[0-9]+ .*\[[0-9.]+ k?M?B\]/ && total { show("downloaded", ++got) }
    /^Setting up / { show("installed", ++set_up) }
'

apt_install="env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
    -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 --no-install-recommends install"

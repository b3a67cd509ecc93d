#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes the private Debian root, or enters it. Always called in a mount namespace of its own, so
# that every mount vanishes with the last process in it.
#   root.sh make ROOT LOG GROUPS      makes ROOT; ROOT.partial holds what an interrupted one got to
#   root.sh enter ROOT TREE DIR CMD…  runs CMD in DIR, with TREE bound at its own path
set -u
env_dir=$(dirname "$0")
. "$env_dir/common.sh"

keyring=/usr/share/keyrings/debian-archive-keyring.gpg

fail_with_log()
{
    tail -n 15 "$log" >&2
    die "$1; the whole log is in $log"
}

# What a step left in the root, so that an interrupted start goes on from there.
stage_is()
{
    [ "$(cat "$partial/etc/hindsight-stage" 2>/dev/null)" = "$1" ]
}

bind_system()
{
    mount --make-rprivate / &&
        mount -t proc proc "$1/proc" &&
        mount --rbind /sys "$1/sys" &&
        mount --rbind /dev "$1/dev" ||
        die "cannot mount /proc, /sys and /dev in $1"
    cp -L /etc/resolv.conf /etc/hosts "$1/etc/" 2>/dev/null
}

# debootstrap fetches with wget, which does not read apt's configuration.
export_apt_proxy()
{
    proxy=
    eval "$(apt-config shell proxy Acquire::http::Proxy)"
    case $proxy in
    '' | DIRECT | false) ;;
    *)
        export http_proxy="${http_proxy:-$proxy}" https_proxy="${https_proxy:-$proxy}"
        ;;
    esac
}

# Proxies, certificates and credentials of the host's apt hold inside as well.
carry_apt_config()
{
    apt-config dump | grep -E '^Acquire::(http|https)::.* ".+";$' \
        >"$partial/etc/apt/apt.conf.d/80host"
    sed -n 's/^Acquire::https::.*\(CaInfo\|SslCert\|SslKey\) "\(.*\)";$/\2/p' \
        "$partial/etc/apt/apt.conf.d/80host" | while read -r file; do
        mkdir -p "$partial/$(dirname "$file")" && cp -L "$file" "$partial/$file"
    done
    case $mirror in
    https:*)
        if [ -r /etc/ssl/certs/ca-certificates.crt ]; then
            cp -L /etc/ssl/certs/ca-certificates.crt "$partial/etc/apt/host-certificates.crt"
            grep -q 'https::CaInfo' "$partial/etc/apt/apt.conf.d/80host" ||
                echo 'Acquire::https::CaInfo "/etc/apt/host-certificates.crt";' \
                    >>"$partial/etc/apt/apt.conf.d/80host"
        fi
        ;;
    esac
    if [ -r /etc/apt/auth.conf ]; then
        cp /etc/apt/auth.conf "$partial/etc/apt/"
    fi
    if [ -d /etc/apt/auth.conf.d ]; then
        cp -r /etc/apt/auth.conf.d "$partial/etc/apt/"
    fi
}

make_base()
{
    script=
    [ -e "/usr/share/debootstrap/scripts/$suite" ] || script=/usr/share/debootstrap/scripts/sid
    rm -rf --one-file-system "$partial"
    mkdir -p "$partial/etc/dpkg/dpkg.cfg.d"
    # No manuals and translations, and no waiting for the disk: the root can be made anew.
    printf '%s\n' force-unsafe-io 'path-exclude=/usr/share/doc/*' 'path-exclude=/usr/share/man/*' \
        'path-exclude=/usr/share/locale/*' 'path-exclude=/usr/share/info/*' \
        >"$partial/etc/dpkg/dpkg.cfg.d/hindsight"
    logged "$log" '/^I: (Installing|Unpacking the|Configuring the|Base system)/ {
            printf "         %s\n", substr($0, 4); fflush() }' \
        debootstrap --variant=minbase --include=ca-certificates --force-check-gpg \
        --keyring="$keyring" "$suite" "$partial" "$mirror" ${script:+"$script"} ||
        fail_with_log "debootstrap failed"
    rm -f "$partial/etc/apt/sources.list"
    echo base >"$partial/etc/hindsight-stage"
}

configure_apt()
{
    for name in "$suite" "$suite-updates" "$suite-backports"; do
        echo "deb $mirror $name main"
    done >"$partial/etc/apt/sources.list"
    printf '%s\n' 'APT::Install-Recommends "false";' 'Acquire::Languages "none";' \
        >"$partial/etc/apt/apt.conf.d/81hindsight"
    carry_apt_config
    printf '#!/bin/sh\nexit 101\n' >"$partial/usr/sbin/policy-rc.d"
    chmod 755 "$partial/usr/sbin/policy-rc.d"
}

inside()
{
    chroot "$partial" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
        HOME=/tmp ${http_proxy:+"http_proxy=$http_proxy"} \
        ${https_proxy:+"https_proxy=$https_proxy"} "$@"
}

install_packages()
{
    inside dpkg --configure -a >>"$log" 2>&1
    logged "$log" '' inside apt-get -q -o Acquire::Retries=3 -o APT::Update::Error-Mode=any update
    if [ $? -ne 0 ]; then
        warn "$suite-backports cannot be read at $mirror: Mesa from $suite has no cooperative" \
            "matrices, so tests of the matrix path are skipped"
        sed -i "/$suite-backports/d" "$partial/etc/apt/sources.list"
        logged "$log" '' inside apt-get -q -o Acquire::Retries=3 \
            -o APT::Update::Error-Mode=any update || fail_with_log "apt-get update failed"
    fi
    from=
    grep -q backports "$partial/etc/apt/sources.list" && from="-t $suite-backports"
    # shellcheck disable=SC2046,SC2086
    logged "$log" "$apt_progress" inside $apt_install $from \
        $(list_packages "$groups" backports) || fail_with_log "installing packages failed"
    pin_backports --admindir="$partial/var/lib/dpkg" >"$partial/etc/apt/preferences.d/hindsight"
    say "step 4 of 4: compilers and libraries"
    # shellcheck disable=SC2046,SC2086
    logged "$log" "$apt_progress" inside $apt_install \
        $(list_packages "$groups" main) || fail_with_log "installing packages failed"
    inside apt-get clean
    rm -rf "$partial"/var/lib/apt/lists/*
}

make_root()
{
    root=$1 log=$2 groups=$3 partial=$1.partial
    export_apt_proxy
    mirror=$(sh "$env_dir/mirror.sh")
    case $? in
    0) ;;
    2) die "no Debian mirror is configured in this machine's apt sources; set HINDSIGHT_MIRROR to" \
        "the address of one" ;;
    *) die "no Debian mirror answers (see the warnings above): check the network and the proxy," \
        "or set HINDSIGHT_MIRROR to the address of a mirror that can be reached" ;;
    esac
    say "step 1 of 4: packages come from $mirror"
    if stage_is base; then
        say "step 2 of 4: going on with the base system of an interrupted start"
        resumed=yes
    else
        say "step 2 of 4: base system (about a minute)"
        resumed=no
        make_base
    fi
    bind_system "$partial"
    configure_apt
    say "step 3 of 4: Vulkan driver"
    if ! (install_packages); then
        [ $resumed = yes ] || exit 1
        echo broken >"$partial/etc/hindsight-stage"
        die "the interrupted start could not be mended; the next one begins anew"
    fi
    chroot "$partial" chmod 1777 /tmp
    grep -o 'backports' "$partial/etc/apt/sources.list" >"$partial/etc/hindsight-root" ||
        echo plain >"$partial/etc/hindsight-root"
    rm "$partial/etc/hindsight-stage"
    mv "$partial" "$root"
}

enter_root()
{
    root=$1 tree=$2 directory=$3
    shift 3
    bind_system "$root"
    IFS_before=$IFS
    IFS=:
    for path in $tree ${HINDSIGHT_BIND:-}; do
        mkdir -p "$root/$path" && mount --rbind "$path" "$root/$path" || die "cannot bind $path"
    done
    IFS=$IFS_before
    # The caller may be somebody who came here through sudo: files that are made in the work tree
    # are theirs then.
    user=${SUDO_UID:-0} home=/root
    if [ "$user" != 0 ]; then
        home=/home/$user
        mkdir -p "$root$home" && chown "$user:$SUDO_GID" "$root$home"
    fi
    set -- PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin "HOME=$home" LC_ALL=C.UTF-8 \
        sh -c 'cd "$1" && shift && exec "$@"' sh "$directory" "$@"
    pattern='CI|TERM|COLORTERM|NO_COLOR|DISPLAY|WAYLAND_DISPLAY|XDG_RUNTIME_DIR|HTTPS?_PROXY'
    pattern="$pattern|https?_proxy|no_proxy|DRI_PRIME|[A-Z]*SAN_OPTIONS"
    pattern="$pattern|(HS|HINDSIGHT|VK|MESA|LP|GALLIUM|GST|OPENBLAS|OMP|MESON)_[A-Z0-9_]*"
    for name in $(env | sed -nE "s/^($pattern)=.*/\1/p"); do
        eval "set -- \"$name=\$$name\" \"\$@\""
    done
    exec chroot --userspec="+$user:+${SUDO_GID:-0}" \
        --groups="$(id -G "${SUDO_USER:-root}" | tr ' ' ,)" "$root" /usr/bin/env -i "$@"
}

verb=$1
shift
case $verb in
make) make_root "$@" ;;
enter) enter_root "$@" ;;
esac

# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the tests on Debian's own kernel share: a small Debian in a folder, commands in it.
# Owns $BTRFS_POLICY_CACHE/vm and what is mounted in folders of it; nothing of the host is changed.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)
build=$(realpath "${top_builddir:-$top/build}")
cache=${BTRFS_POLICY_CACHE:-${HOME:-/root}/.cache/btrfs-policy}/vm
suite=${VM_SUITE:-bookworm}

# The kernel under test, and all that the packages depend on, so that they install without a network.
packages=(systemd-sysv udev kmod initramfs-tools linux-base btrfs-progs eatmydata
	dkms make gcc libc6-dev patch xz-utils zstd linux-source-6.12 libjson-c5 libbtrfsutil1 libgcrypt20 libxxhash0
	openssl mokutil jq pkg-config apt-utils ccache)

# Most of what DKMS builds was built before: the compiler's results are kept from one test to the next.
path=/usr/lib/ccache:/usr/sbin:/usr/bin:/sbin:/bin
compiler=(CCACHE_DIR=/tmp/ccache CCACHE_COMPILERCHECK=content CCACHE_MAXSIZE=1G)

. "$top/tests/tap.sh"

need_tools() {
	local tool
	[ "$(id -u)" = 0 ] || skip_all 'needs root, to install packages in a folder'
	for tool; do
		command -v "$tool" >/dev/null || skip_all "no $tool; share/vm-packages lists what is wanted"
	done
	[ -n "$(ls "$build"/deb/btrfs-policy_*.deb 2>/dev/null)" ] ||
		bail_out 'no packages; ./quickstart deb makes them'
}

# begin NAME TOOL...: leaves $kernel, the newest that the suite offers, $root, a Debian with it, $version of the
# packages and $work, which is gone at the end.
begin() {
	local name=$1
	shift
	need_tools mmdebstrap zstd "$@"
	kernel=$(offered_kernels | tail -n 1)
	try "Debian $suite offers Linux 6.12" test -n "$kernel" || done_testing
	try "Debian $suite with Linux $kernel" base_archive "$kernel" || done_testing
	work=$(mktemp -d "$(fast_folder)/$name.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	root=$work/root
	version=$(dpkg-deb -f "$build"/deb/btrfs-policy_*.deb Version)
	mkdir "$root" && tar -xf "$(base_archive "$kernel")" -C "$root"
}

# --- a Debian in a folder -----------------------------------------------------------------------

# Where packages of the suite come from: where the host has its own from.
suite_sources() {
	local file codename part new=$cache/$suite.sources
	for file in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list; do
		[ ! -s "$file" ] || break
	done
	case $file in
	*.list) new=$cache/$suite.list ;;
	esac
	codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
	# Other tests may be reading it, and apt takes an empty one for no packages.
	part=$new.$BASHPID
	sed "s/$codename/$suite/g" "$file" > "$part" && mv "$part" "$new"
	printf '%s\n' "$new"
}

# suite_apt PROGRAM WORDS...: apt with lists of its own, so that the host's age and suite do not matter. Tests that
# run at the same time wait for each other: apt does not wait for lists.
suite_apt() {
	local program=$1 dir=$cache/apt-$suite
	shift
	mkdir -p "$dir/lists/partial" "$dir/archives/partial"
	flock "$dir/lock" "$program" -q -o Dir::Etc::SourceList="$(suite_sources)" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State="$dir" -o Dir::State::Status=/dev/null -o Dir::Cache="$dir" \
		-o APT::Sandbox::User=root -o Acquire::Retries=3 "$@"
}

# The 6.12 kernels for clouds that the suite offers, oldest first, as uname says them.
offered_kernels() {
	suite_apt apt-get update >/dev/null
	suite_apt apt-cache search --names-only '^linux-headers-6\.12\..*-cloud-amd64$' |
		sed 's/^linux-headers-\([^ ]*\) .*/\1/' | sort -V
}

# bootstrap ARCHIVE PACKAGE,...
bootstrap() {
	mkdir -p "$cache"
	TMPDIR=$(fast_folder) unshare --mount mmdebstrap --quiet --format=tar --variant=apt --include="$2" \
		--aptopt='APT::Install-Recommends "false"' --aptopt='Acquire::Retries "3"' \
		--dpkgopt=force-unsafe-io --dpkgopt='path-exclude=/usr/share/doc/*' \
		"$suite" "$1.new" "$(suite_sources)" >&2 &&
	mv "$1.new" "$1"
}

# Made once for a suite, a kernel and a list of packages; prints the archive.
base_archive() {
	local kernel=$1 list archive
	list=${packages[*]},linux-image-$kernel,linux-headers-$kernel
	archive=$cache/base-$suite-$(sha256sum <<< "$suite $list" | cut -c1-12).tar
	if [ ! -f "$archive" ]; then
		rm -f "$cache/base-$suite"-*.tar
		bootstrap "$archive" "${list// /,}" || return
	fi
	printf '%s\n' "$archive"
}

# A Debian without a kernel, made once for a suite: enough for the commands and the units.
small=(btrfs-progs libjson-c5 libbtrfsutil1 libgcrypt20 libxxhash0 eatmydata initramfs-tools systemd udev)
small_archive() {
	local list=${small[*]} archive
	archive=$cache/small-$suite-$(sha256sum <<< "$list" | cut -c1-12).tar
	[ -f "$archive" ] || bootstrap "$archive" "${list// /,}" || return
	printf '%s\n' "$archive"
}

# begin_small NAME: leaves $root, such a Debian, and $work, which is gone at the end.
begin_small() {
	need_tools mmdebstrap
	work=$(mktemp -d "$(fast_folder)/$1.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	root=$work/root
	try "a small Debian $suite" small_archive || done_testing
	mkdir "$root" && tar -xf "$(small_archive)" -C "$root"
}

# A place in memory where dpkg's syncs cost nothing, if there is space for a whole system.
fast_folder() {
	local free
	free=$(df --output=avail /dev/shm 2>/dev/null | tail -n 1)
	[ "${free:-0}" -gt 3000000 ] && echo /dev/shm || echo "$cache"
}

# in_namespace ROOT COMMAND...: the host's command, while ROOT has /proc, devices and what the compiler made.
in_namespace() {
	local root=$1
	shift
	mkdir -p "$cache/ccache" "$root/tmp/ccache"
	unshare --mount --fork bash -c '
		mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mount --bind "$1" "$0/tmp/ccache" &&
		shift && exec "$@"' "$root" "$cache/ccache" "$@"
}

# in_root ROOT COMMAND...: the command of ROOT.
in_root() {
	local root=$1
	shift
	in_namespace "$root" chroot "$root" /usr/bin/env -i PATH="$path" "${compiler[@]}" HOME=/root \
		DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 eatmydata -- "$@"
}

# apt_in ROOT WORDS...: there are no lists of packages in it, so apt has nothing but what is there.
apt_in() {
	local root=$1
	shift
	in_root "$root" apt-get -y -q --no-install-recommends -o DPkg::Path="$path" "$@"
}

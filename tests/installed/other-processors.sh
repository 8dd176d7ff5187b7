#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Library and commands where a long has 32 bit (armhf) and on big endian (s390x): they build, the unit tests pass, and
# the offline reader agrees with btrfs-progs, all under qemu-user in a folder with a small Debian. Needs a network.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/tap.sh"

processors=(armhf:arm-linux-gnueabihf:arm s390x:s390x-linux-gnu:s390x)
# libgcrypt cannot be installed for two architectures at once; the library does without.
libraries=(libbtrfsutil-dev libblkid-dev libudev-dev libmount-dev libjson-c-dev libxxhash-dev libcmocka-dev)

# install: a Debian with compilers and libraries for all of them in $root
install() {
	local include=autoconf,automake,libtool,pkg-config,make,gcc,libc6-dev,qemu-user,python3-jsonschema,btrfs-progs,jq
	local architectures=amd64 arch triplet rest library

	for rest in "${processors[@]}"; do
		IFS=: read -r arch triplet rest <<<"$rest"
		architectures+=,$arch
		include+=,gcc-$triplet,libc6-dev-$arch-cross
		for library in "${libraries[@]}"; do
			include+=,$library:$arch
		done
	done
	mmdebstrap --quiet --variant=apt --architectures="$architectures" --include="$include" \
		--aptopt='Apt::Install-Recommends "false"' bookworm "$root" http://deb.debian.org/debian
}

sources() {
	mkdir "$root/src" && tar -C "$top" --exclude=./.git --exclude=./build -c . | tar -C "$root/src" -x &&
	mount -t proc proc "$root/proc" && mount --bind /dev "$root/dev" &&
	chroot "$root" sh -c 'cd /src && { [ -e configure ] || ./autogen.sh; }'
}

# inside ARCH COMMAND...: in the build folder
inside() {
	chroot "$root" env PATH=/usr/sbin:/usr/bin:/sbin:/bin top_srcdir=/src top_builddir="/src/build-$1" \
		sh -c "cd /src/build-$1 && $2"
}

builds() {	# ARCH TRIPLET
	mkdir "$root/src/build-$1" &&
	inside "$1" "PKG_CONFIG_LIBDIR=/usr/lib/$2/pkgconfig:/usr/share/pkgconfig ../configure --quiet --host=$2 --prefix=/usr" &&
	inside "$1" "make -s -j\$(nproc) && make -s -j\$(nproc) $tests"
}

# offline ARCH EMULATOR: what takes the place of libtool's script is the emulator
offline() {
	printf '#!/bin/sh\nLD_LIBRARY_PATH=/src/build-%s/libbtrfs-policy/.libs exec qemu-%s /src/build-%s/cmds/.libs/btrfs-policy "$@"\n' \
		"$1" "$2" "$1" >"$root/src/build-$1/cmds/btrfs-policy"
	inside "$1" 'bash /src/tests/cli/offline.sh' | tee "$root/out"
	[ "${PIPESTATUS[0]}" = 0 ] && [ "$(grep -c '^ok' "$root/out")" -gt 15 ]
}

[ "$(id -u)" = 0 ] || skip_all 'needs root, to install packages in a folder'
command -v mmdebstrap >/dev/null || skip_all 'no mmdebstrap; share/vm-packages lists what is wanted'
root=$(mktemp -d /var/tmp/other-processors.XXXXXX) || exit 1
trap 'umount "$root/proc" "$root/dev" 2>/dev/null; rm -rf --one-file-system "$root"' EXIT
tests=$(cd "$top" && printf '%s ' tests/unit/lib/test-*.c tests/unit/kernel/test-*.c | sed 's/\.c / /g')
try 'a small Debian with compilers' install || bail_out 'no Debian'
try 'the sources in it' sources || bail_out 'no sources'
for processor in "${processors[@]}"; do
	IFS=: read -r arch triplet emulator <<<"$processor"
	try "$arch: builds" builds "$arch" "$triplet" || continue
	for test in $tests; do
		try "$arch: ${test##*/}" inside "$arch" "qemu-$emulator ./$test"
	done
	try "$arch: the offline reader agrees with btrfs-progs" offline "$arch" "$emulator"
done
done_testing

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The life of the packages in a Debian of their own: install, upgrade from the build before, refusals,
# remove, purge, install again. No machine is started; main-job.sh boots what is tested here.
set -u
. "$(dirname "$0")/lib.sh"

previous=$(cat "$top/VERSION")~a

# The same packages under a lower version: what an upgrade starts from.
make_previous() {
	local deb new
	new=$(dpkg-deb -f "$build"/deb/btrfs-policy_*.deb Version)
	for deb in "$build"/deb/*.deb; do
		rm -rf "$work/deb"
		dpkg-deb -R "$deb" "$work/deb" || return
		rm -f "$work/deb/DEBIAN/md5sums"
		grep -rlF "$new" "$work/deb/DEBIAN" "$work/deb/usr/src" 2>/dev/null | xargs -r sed -i "s/$new/$previous/g"
		[ ! -d "$work/deb/usr/src" ] ||
			mv "$work/deb/usr/src/btrfs-policy-$new" "$work/deb/usr/src/btrfs-policy-$previous"
		dpkg-deb --root-owner-group -b "$work/deb" "$root/debs/previous" >/dev/null || return
	done
}

# Everything that a package could leave: names of all files, what those of the system hold, and what
# is in the initramfs. Left out: what apt, dpkg and ldconfig keep for themselves, and DKMS' own key.
inventory() {
	(cd "$root" && find . -xdev \( -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./var/log -o \
		-path ./var/cache -o -path ./var/lib/initramfs-tools -o -path ./debs -o -path ./tmp -o \
		-path './var/lib/dkms/mok.*' \) -prune -o -printf '%y %M %p %l\n' | sort
		find var/cache -mindepth 1 -maxdepth 1 | sort
		find etc usr/bin usr/sbin usr/lib/modules -type f ! -name ld.so.cache -print0 |
			sort -z | xargs -0 sha256sum)
	in_root "$root" lsinitramfs "/boot/initrd.img-$kernel" | sort
}

install_debs() {
	apt_in "$root" install $(cd "$root" && printf '/%s ' debs/"$1"/*.deb)
}

version_of() {
	in_root "$root" modinfo -k "$kernel" -F version btrfs
}

module_is() {
	local have
	have=$(version_of)
	[ "$have" = "$1" ] || { echo "btrfs.ko is of version '$have', want '$1'"; return 1; }
}

initramfs_has() {
	in_root "$root" lsinitramfs "/boot/initrd.img-$kernel" | tee /dev/stderr |
		grep -q "usr/lib/modules/$kernel/$1/btrfs.ko"
}

only_version() {
	in_root "$root" dkms status -m btrfs-policy | tee /dev/stderr |
		awk -v want="btrfs-policy/$1," '$1 != want { bad = 1 } END { exit bad || NR != 1 }'
}

btrfs_is() {
	local have
	have=$(in_root "$root" sh -c 'command -v btrfs')
	[ "$have" = "$1" ] || { echo "btrfs is '$have', want '$1'"; return 1; }
}

# says TEXT STATUS COMMAND...
says() {
	local text=$1 want=$2 out status=0
	shift 2
	out=$(in_root "$root" "$@" 2>&1) || status=$?
	printf '%s\nstatus %s\n' "$out" "$status"
	[ "$status" = "$want" ] && grep -qF -- "$text" <<< "$out"
}

same_as_before() {
	inventory > "$work/after" && diff "$work/before" "$work/after"
}

installs() {
	mkdir -p "$root/debs/new" "$root/debs/previous"
	cp "$build"/deb/*.deb "$root/debs/new/"
	check 'a build before this one' make_previous || finish
	inventory > "$work/before"
	check 'the build before this one installs' install_debs previous || finish
	check 'its module is in the kernel' module_is "$previous"
	mkdir -p "$root/etc/btrfs-policy.d"
	echo '# kept' > "$root/etc/btrfs-policy.d/test.conf"
	check 'upgrade' install_debs new || finish
	check 'the new module took the place of the old' module_is "$version"
	check 'DKMS knows the new version only' only_version "$version"
	check 'the initramfs has the new module' initramfs_has updates/dkms
	check 'the front is found first' btrfs_is /usr/sbin/btrfs
	check 'saved settings are still there' test -e "$root/etc/btrfs-policy.d/test.conf"
}

refusals() {
	check 'a kernel of another series is refused' \
		says 'the series is for Linux 6.12' 1 "$src/kernel-source" check 6.1.0-1-amd64
	check 'a kernel without headers is refused' \
		says 'apt install linux-headers-6.12.1-none' 1 "$src/kernel-source" check 6.12.1-none
	check 'the installation of such a kernel goes on' \
		says 'the series is for Linux 6.12' 0 /etc/kernel/postinst.d/btrfs-policy-dkms 6.1.0-1-amd64
	check 'DKMS itself refuses it too' \
		says 'BUILD_EXCLUSIVE' 77 dkms build -m btrfs-policy -v "$version" -k 6.1.0-1-amd64
}

by_hand() {
	check 'dkms uninstall' in_root "$root" dkms uninstall -m btrfs-policy -v "$version" -k "$kernel"
	check 'the stock module is back' module_is ''
	check 'in the initramfs too' initramfs_has kernel/fs/btrfs
	check 'dkms install' in_root "$root" dkms install -m btrfs-policy -v "$version" -k "$kernel"
	check 'ours again' module_is "$version"
}

goes_away() {
	check 'remove' apt_in "$root" remove btrfs-policy btrfs-policy-dkms libbtrfs-policy0
	check 'the stock module after remove' module_is ''
	check 'its initramfs too' initramfs_has kernel/fs/btrfs
	check 'the stock command' btrfs_is /usr/bin/btrfs
	check 'the hook that stays until a purge does nothing' \
		in_root "$root" /etc/kernel/postinst.d/btrfs-policy-dkms "$kernel"
	check 'purge' in_root "$root" dpkg --purge btrfs-policy btrfs-policy-dkms
	check 'nothing is left, nothing of the system is changed' same_as_before
}

comes_back() {
	local patch
	check 'install after a purge' install_debs new
	check 'the module is there' module_is "$version"
	in_root "$root" dkms remove -m btrfs-policy -v "$version" --all >/dev/null 2>&1
	patch=$(head -n 1 "$root$src/patches/series")
	sed -i 's/^ /  /' "$root$src/patches/$patch"
	check 'a series that does not fit is said, and fails nothing' \
		says "$patch does not apply" 0 "$src/kernels" install "$kernel"
	check 'the kernel keeps its stock module' module_is ''
	rm -rf "$root/var/cache/btrfs-policy-dkms"
	in_root "$root" dpkg --force-depends --purge linux-source-6.12 >/dev/null 2>&1
	check 'without the source it is refused' \
		says 'apt install linux-source-6.12=' 1 "$src/kernel-source" check "$kernel"
}

need_tools mmdebstrap mkfs.btrfs dpkg-deb
kernel=$(newest_kernel)
[ -n "$kernel" ] || skip_all 'apt offers no Linux 6.12; apt-get update?'
work=$(mktemp -d "$(fast_folder)/packages.XXXXXX")
trap 'rm -rf "$work"' EXIT
root=$work/root
version=$(dpkg-deb -f "$build"/deb/btrfs-policy_*.deb Version)
src=/usr/src/btrfs-policy-$version

check "Debian $suite with Linux $kernel" base_archive "$kernel" || finish
mkdir "$root" && tar -xf "$(base_archive "$kernel")" -C "$root"
installs
refusals
by_hand
goes_away
comes_back
echo "# seconds in all: $SECONDS"
finish

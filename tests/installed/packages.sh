#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The life of the packages in a Debian of their own: upgrade from the build before, a second
# kernel, refusals, Secure Boot, remove, purge, install again. No machine is started; main-job.sh boots.
set -u
. "$(dirname "$0")/lib.sh"
. "$here/life.sh"

# A kernel before this one, its headers and its source, as the machine of last month has them.
fetch_older() {
	suite_apt apt-get -y --no-install-recommends --allow-downgrades --download-only \
		-o Dir::State::Status="$root/var/lib/dpkg/status" -o Dir::Cache::archives="$cache/older-$older" \
		install "linux-image-$older" "linux-headers-$older" "linux-source-6.12=$older_version" &&
	mkdir "$root/debs/older" && cp "$cache/older-$older"/*.deb "$root/debs/older/"
}

# The source that the machine had before, for the way back.
fetch_newer_source() {
	local version
	version=$(in_root "$root" dpkg-query -W -f '${Version}' linux-source-6.12) &&
	mkdir -p "$cache/newer-$version" "$root/debs/newer" && cd "$cache/newer-$version" || return
	ls ./*.deb >/dev/null 2>&1 || suite_apt apt-get download "linux-source-6.12=$version"
	cp ./*.deb "$root/debs/newer/"
}

older_debs() {
	(cd "$root" && printf '%s\n' debs/older/*.deb | grep "$@" /linux-source-)
}

installs_older() {
	apt_in "$root" install $(older_debs -v | sed 's|^|/|') > "$work/older" 2>&1
}

purges_older() {
	apt_in "$root" purge $(older_debs -v | sed 's|^.*/\(.*\)_.*_.*|\1|')
}

several_kernels() {
	older=$(offered_kernels | tail -n 2 | head -n 1)
	older_version=$(suite_apt apt-cache show "linux-headers-$older" | sed -n 's/^Version: //p' | head -n 1)
	mkdir -p "$cache/older-$older/partial"
	try "a kernel before this one: $older" fetch_older || return
	try 'and the source of this one' fetch_newer_source || return
	try 'it installs' installs_older
	try 'is refused, with the source it wants' \
		grep -F "apt install linux-source-6.12=$older_version" "$work/older"
	try 'keeps its stock module' module_is '' "$older"
	try 'that source installs' apt_in "$root" install --allow-downgrades \
		"/$(older_debs -e)"
	try 'it has the module now' module_is "$version" "$older"
	try 'in its initramfs too' initramfs_has updates/dkms "$older"
	try 'the newer kernel still has it' module_is "$version"
	try 'DKMS knows it for both' test \
		"$(in_root "$root" dkms status -m btrfs-policy -v "$version" | grep -c ': installed')" = 2
	try 'the older kernel is purged' purges_older
	try 'and nothing of it is left' test ! -e "$root/usr/lib/modules/$older"
	try 'the newer source is back' apt_in "$root" install $(cd "$root/debs/newer" && printf '/debs/newer/%s ' *.deb)
}

refusals() {
	try 'a kernel of another series is refused' \
		says 'the series is for Linux 6.12' 1 "$src/kernel-source" check 6.1.0-1-amd64
	try 'a kernel without headers is refused' \
		says 'apt install linux-headers-6.12.1-none' 1 "$src/kernel-source" check 6.12.1-none
	try 'the installation of such a kernel goes on' \
		says 'the series is for Linux 6.12' 0 /etc/kernel/postinst.d/btrfs-policy-dkms 6.1.0-1-amd64
	try 'DKMS itself refuses it too' \
		says 'BUILD_EXCLUSIVE' 77 dkms build -m btrfs-policy -v "$version" -k 6.1.0-1-amd64
}

# not_served TEXT: the module is asked for anew and refused, and TEXT says why.
not_served() {
	in_root "$root" "$src/kernels" remove >/dev/null
	try 'asked for anew' says "$1" 0 "$src/kernels" install "$kernel"
	try 'the kernel keeps its stock module' module_is ''
	try 'in the initramfs too' initramfs_has kernel/fs/btrfs
}

# A kernel that has btrfs built in, and one that lacks what the module calls.
refused_kernels() {
	local headers=$root/usr/src/linux-headers-$kernel
	cp -p "$headers/.config" "$work/config" && cp -p "$headers/Module.symvers" "$work/symvers"
	sed -i 's/^CONFIG_BTRFS_FS=m/CONFIG_BTRFS_FS=y/' "$headers/.config"
	not_served 'no btrfs.ko for kernel '"$kernel"': it is built in'
	cp -p "$work/config" "$headers/.config"
	sed -i '/\tbdev_file_open_by_path\t/d' "$headers/Module.symvers"
	not_served "does not offer 'bdev_file_open_by_path'"
	cp -p "$work/symvers" "$headers/Module.symvers"
	try 'with all that it calls' in_root "$root" "$src/kernels" install "$kernel"
	try 'it is ours again' module_is "$version"
	try 'in the initramfs too' initramfs_has updates/dkms
}

# The firmware's variable that says Secure Boot is on, as the kernel shows it.
secure_boot() {
	local var=$root/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c
	if [ "$1" = on ]; then
		mkdir -p "${var%/*}" && printf '\6\0\0\0\1' > "$var"
	else
		rm -rf "$root/sys/firmware"
	fi
}

signed_by_dkms() {
	local key want
	want=$(in_root "$root" openssl x509 -inform DER -in /var/lib/dkms/mok.pub -noout -serial)
	key=$(in_root "$root" modinfo -k "$kernel" -F sig_key "$1" | tr -d ':\n\t ')
	[ -n "$key" ] && [ "serial=$key" = "$want" ] || { echo "signed by '$key', DKMS' key is '$want'"; return 1; }
}

# What the real mokutil says of the real key on a machine that has it enrolled.
mokutil_knows_key() {
	mkdir -p "$root/debs/bin"
	printf '#!/bin/sh\ncat /debs/bin/keys\n' > "$root/debs/bin/mokutil"
	chmod 755 "$root/debs/bin/mokutil"
	in_root "$root" sh -c 'openssl x509 -inform DER -in /var/lib/dkms/mok.pub -noout -fingerprint -sha1 |
		sed "s/^.*=/SHA1 Fingerprint: /" | tr A-F a-f' > "$root/debs/bin/keys"
}

with_key() {
	in_root "$root" env PATH=/debs/bin:/usr/sbin:/usr/bin "$@"
}

drop_signature() {
	local module
	module=$(in_root "$root" sh -c "ls /var/lib/dkms/btrfs-policy/$version/$kernel/*/module/btrfs.ko*")
	case $module in
	*.xz) in_root "$root" sh -c 'xz -d "$0" && strip -g "${0%.xz}" && xz "${0%.xz}"' "$module" ;;
	*) in_root "$root" strip -g "$module" ;;
	esac
}

# Without an enrolled key nothing is done, with one the module has to be signed with it.
signatures() {
	try 'the module is signed with the key of DKMS' signed_by_dkms btrfs
	secure_boot on
	try 'Secure Boot without that key is refused, with the way out' \
		says 'mokutil --import /var/lib/dkms/mok.pub' 1 "$src/kernel-source" check "$kernel"
	mokutil_knows_key
	try 'with that key it is served' with_key "$src/kernel-source" check "$kernel"
	try 'and the module passes' with_key "$src/secure-boot" signed "$kernel"
	in_root "$root" dkms uninstall -m btrfs-policy -v "$version" -k "$kernel" >/dev/null
	try 'a module without a signature' drop_signature
	try 'is not installed' fails with_key dkms install -m btrfs-policy -v "$version" -k "$kernel"
	try 'the stock module stays' module_is ''
	secure_boot off
	in_root "$root" dkms unbuild -m btrfs-policy -v "$version" -k "$kernel" >/dev/null
	try 'Secure Boot off: built again' in_root "$root" "$src/kernels" install "$kernel"
	try 'and installed' module_is "$version"
}

# The file as it was before the packages came: DKMS of Debian 13 keeps it with its own
# for as long as ours is installed.
kept() {
	local sum=$1 file=$2 kept

	for kept in "$root/$file" "$root"/var/lib/dkms/btrfs-policy*/original_module/"$kernel"/*/"${file##*/}"; do
		[ ! -e "$kept" ] || [ "$(sha256sum < "$kept")" != "$sum  -" ] || return 0
	done
	return 1
}

stock_is_untouched() {
	local sum file n=0

	while read -r sum file; do
		kept "$sum" "$file" || return
		n=$((n + 1))
	done < <(grep "^[0-9a-f]\{64\} .*/$kernel/kernel/fs/btrfs/btrfs\.ko" "$work/before")
	[ $n = 1 ]
}

by_hand() {
	try 'the stock module is kept, as it was' stock_is_untouched
	try 'dkms uninstall' in_root "$root" dkms uninstall -m btrfs-policy -v "$version" -k "$kernel"
	try 'the stock module is back' module_is ''
	try 'in the initramfs too' initramfs_has kernel/fs/btrfs
	try 'dkms install' in_root "$root" dkms install -m btrfs-policy -v "$version" -k "$kernel"
	try 'ours again' module_is "$version"
	try 'in the initramfs too' initramfs_has updates/dkms
}

# The same version over itself: nothing is lost, nothing is there twice.
reinstalls() {
	try 'apt install --reinstall' install_debs new --reinstall
	try 'the module is there' module_is "$version"
	try 'DKMS knows this version only' only_version "$version"
	try 'btrfs is the front' btrfs_is front
}

goes_away() {
	try 'remove' apt_in "$root" remove btrfs-policy btrfs-policy-dkms libbtrfs-policy0
	try 'the stock module after remove' module_is ''
	try 'its initramfs too' initramfs_has kernel/fs/btrfs
	try 'the stock command' btrfs_is stock
	try 'the hook that stays until a purge does nothing' \
		in_root "$root" /etc/kernel/postinst.d/btrfs-policy-dkms "$kernel"
	try 'purge' in_root "$root" dpkg --purge btrfs-policy btrfs-policy-dkms
	try 'nothing is left, nothing of the system is changed' same_as_before
}

comes_back() {
	local patch
	secure_boot on
	rm -f "$root"/var/lib/dkms/mok.*
	try 'install where Secure Boot is on and no key enrolled' install_debs new
	try 'the kernel keeps its stock module, which boots' module_is ''
	try 'there is a key to enrol' test -s "$root/var/lib/dkms/mok.pub"
	secure_boot off
	try 'configured again without it' in_root "$root" dpkg-reconfigure -f noninteractive btrfs-policy-dkms
	try 'the module is there' module_is "$version"
	try 'dkms remove' in_root "$root" dkms remove -m btrfs-policy -v "$version" --all
	try 'the stock module is back' module_is ''
	try 'in the initramfs too' initramfs_has kernel/fs/btrfs
	patch=$(head -n 1 "$root$src/patches/series")
	sed -i 's/^ /  /' "$root$src/patches/$patch"
	try 'a series that does not fit is said, and fails nothing' \
		says "$patch does not apply" 0 "$src/kernels" install "$kernel"
	try 'the kernel keeps its stock module' module_is ''
	rm -rf "$root/var/cache/btrfs-policy-dkms"
	in_root "$root" dpkg --force-depends --purge linux-source-6.12 >/dev/null 2>&1
	try 'without the source it is refused' \
		says 'apt install linux-source-6.12=' 1 "$src/kernel-source" check "$kernel"
}

begin packages lintian
src=/usr/src/btrfs-policy-$version
try 'lintian finds nothing' lint
try 'an initramfs' small_initramfs || done_testing
upgrades
keep_root
several_kernels
refusals
refused_kernels
signatures
by_hand
reinstalls
goes_away
comes_back
echo "# seconds in all: $SECONDS"
done_testing

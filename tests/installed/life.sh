# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What is asked of the packages in a Debian in a folder. Sourced after lib.sh; the caller owns $root,
# its $kernel, the $version of the packages and $work, the folder for notes.

# Everything that a package could leave: names of all files, what those of the system hold, and what
# is in the initramfs. Left out: what apt, dpkg, ldconfig and mount keep for themselves, and DKMS' own key.
inventory() {
	(cd "$root" && find . -xdev \( -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./var/log -o \
		-path ./var/cache -o -path ./var/lib/initramfs-tools -o -path ./debs -o -path ./tmp -o -path ./run -o \
		-path './var/lib/dkms/mok.*' \) -prune -o -printf '%y %M %p %l\n' | sort
		find var/cache -mindepth 1 -maxdepth 1 | sort
		find etc usr/bin usr/sbin usr/lib/modules -type f ! -name ld.so.cache -print0 |
			sort -z | xargs -0 sha256sum)
	in_root "$root" lsinitramfs "/boot/initrd.img-$kernel" | sort
}

# An initramfs for the machine of main-job.sh alone: the emulated processor packs and unpacks it often.
small_initramfs() {
	printf '%s\n' virtio_pci virtio_blk virtio_scsi sd_mod btrfs mq-deadline > "$root/etc/initramfs-tools/modules"
	printf '%s\n' MODULES=list COMPRESS=zstd COMPRESSLEVEL=1 > "$root/etc/initramfs-tools/conf.d/vm-test"
	in_root "$root" update-initramfs -u -k "$kernel"
}

lint() {
	lintian --allow-root --display-info --fail-on error,warning,info "$build"/deb/*.changes
}

copy_debs() {
	mkdir -p "$root/debs/new" && cp "$build"/deb/*.deb "$root/debs/new/"
}

# The scheduler as earlier versions had it in $work/deb: a second module for DKMS, which their prerm may leave.
add_scheduler() {
	local to=$work/deb/usr/src/btrfs-policy-mq-deadline-$previous
	mkdir "$to" && cp "$work/deb/usr/src/btrfs-policy-$previous"/{dkms.conf,settings,initramfs} "$to" &&
	sed -i -e 's/^PACKAGE_NAME=.*/PACKAGE_NAME="btrfs-policy-mq-deadline"/' -e 's/^\(BUILT_MODULE_NAME.*\)=.*/\1="mq-deadline"/' \
		-e '/^BUILT_MODULE_LOCATION\|^BUILD_EXCL\|^PRE_\|^CLEAN/d' \
		-e 's/^MAKE\[0\]=.*/MAKE[0]="make KDIR=$kernel_source_dir module"/' "$to/dkms.conf" &&
	printf '%b\n' 'obj-m := mq-deadline.o' 'module:' '\t$(MAKE) -C $(KDIR) M=$(CURDIR) modules' 'clean:' > "$to/Makefile" &&
	printf '%s\n' '#include <linux/module.h>' 'MODULE_LICENSE("GPL");' "MODULE_VERSION(\"$previous\");" > "$to/mq-deadline.c" &&
	sed -i "/kernels install/a dkms install -m btrfs-policy-mq-deadline -v $previous -k $kernel" "$work/deb/DEBIAN/postinst" &&
	rm "$work/deb/DEBIAN/preinst"
}

# The same packages under a lower version, in debs/previous: what an upgrade starts from.
previous=$(cat "$top/VERSION")~a
make_previous() {
	local deb folder
	mkdir -p "$root/debs/previous"
	for deb in "$build"/deb/*.deb; do
		rm -rf "$work/deb"
		dpkg-deb -R "$deb" "$work/deb" || return
		rm -f "$work/deb/DEBIAN/md5sums"
		grep -rlF "$version" "$work/deb/DEBIAN" "$work/deb/usr/src" 2>/dev/null |
			xargs -r sed -i "s/$version/$previous/g"
		for folder in "$work/deb/usr/src"/*-"$version"; do
			[ ! -d "$folder" ] || mv "$folder" "${folder%"$version"}$previous"
		done
		[ ! -d "$work/deb/usr/src" ] || add_scheduler || return
		dpkg-deb --root-owner-group -Zgzip -z1 -b "$work/deb" "$root/debs/previous" >/dev/null || return
	done
}

# install_debs FOLDER [OPTION]
install_debs() {
	apt_in "$root" install ${2:-} $(cd "$root" && printf '/%s ' debs/"$1"/*.deb)
}

upgrades() {
	copy_debs
	try 'a build before this one' make_previous || done_testing
	inventory > "$work/before"
	try 'the build before this one installs' install_debs previous || done_testing
	try 'its module is in the kernel' module_is "$previous"
	try 'its scheduler too' module_is "$previous" "$kernel" mq-deadline
	try 'in the initramfs as well' initramfs_has updates/dkms "$kernel" mq-deadline
	mkdir -p "$root/etc/btrfs-policy.d"
	echo '# kept' > "$root/etc/btrfs-policy.d/test.conf"
	try 'apt install ./*.deb upgrades it' install_debs new || done_testing
	try 'the new module took the place of the old' module_is "$version" || done_testing
	try 'the stock scheduler took the place of the old' module_is '' "$kernel" mq-deadline
	try 'it offers roles and roundrobin' module_offers btrfs device_role read_policy_roundrobin
	try 'DKMS knows the new version only' only_version "$version"
	try 'the initramfs has the new module' initramfs_has updates/dkms
	try 'and the stock scheduler' initramfs_has kernel/block "$kernel" mq-deadline
	try 'btrfs is the front' btrfs_is front
	try 'saved settings are still there' test -e "$root/etc/btrfs-policy.d/test.conf"
}

# What `upgrades` left takes minutes to make, and two tests start from it: kept for the very same packages.
kept_archive() {
	printf '%s/upgraded-%s-%s.tar\n' "$cache" "$suite" \
		"$({ base_archive "$kernel"; cat "$build"/deb/*.deb "$here/life.sh"; } | sha256sum | cut -c1-12)"
}

# Never after a failure: what is kept is taken for good.
keep_root() {
	local archive
	[ "$tap_failed" = 0 ] || return
	archive=$(kept_archive)
	rm -f "$cache/upgraded-$suite"-*
	tar -cf "$archive.new" -C "$root" . && mv "$archive.new" "$archive" || rm -f "$archive.new"
}

kept_root() {
	local archive
	archive=$(kept_archive)
	[ -f "$archive" ] && rm -r "$root" && mkdir "$root" && tar -xf "$archive" -C "$root" &&
		try 'the packages, upgraded and kept' module_is "$version"
}

# module_is VERSION [KERNEL [MODULE]]: no version is the stock module.
module_is() {
	local module=${3:-btrfs} have
	have=$(in_root "$root" modinfo -k "${2:-$kernel}" -F version "$module") || return
	[ "$have" = "$1" ] || { echo "$module.ko is of version '$have', want '$1'"; return 1; }
}

# module_offers MODULE NAME...: all of the series is in it, what a configuration symbol could leave out as well.
module_offers() {
	local module=$1 file name
	shift
	file=$root$(in_root "$root" modinfo -k "$kernel" -F filename "$module") || return
	xz -dcf "$file" > "$work/$module.ko" || return
	for name in "$@" btrfs_policy=series; do
		grep -qF "$name" "$work/$module.ko" || { echo "no '$name' in $file"; return 1; }
	done
}

# initramfs_has FOLDER [KERNEL [MODULE]]
initramfs_has() {
	local of=${2:-$kernel}
	in_root "$root" lsinitramfs "/boot/initrd.img-$of" | tee /dev/stderr |
		grep -q "usr/lib/modules/$of/$1/${3:-btrfs}.ko"
}

only_version() {
	in_root "$root" dkms status | tee /dev/stderr |
		awk -v version="$1," '$1 != "btrfs-policy/" version { bad = 1 } END { exit bad || NR != 1 }'
}

# btrfs_is front|stock, for cron and plain users too.
btrfs_is() {
	local file have=stock
	file=$(in_root "$root" env -i PATH=/usr/bin:/bin sh -c 'command -v btrfs') || return
	! grep -q BTRFS_POLICY_FRONTS "$root$file" || have=front
	[ "$have" = "$1" ] || { echo "$file is the $have one, want the $1 one"; return 1; }
}

# says TEXT STATUS COMMAND...
says() {
	local text=$1 want=$2 out status=0
	shift 2
	out=$(in_root "$root" "$@" 2>&1) || status=$?
	printf '%s\nstatus %s\n' "$out" "$status"
	[ "$status" = "$want" ] && grep -qF -- "$text" <<< "$out"
}

fails() {
	! "$@"
}

# One script of debian/tests, as autopkgtest would run it.
own_test() {
	cp "$top/debian/tests/$1" "$root/debs/" &&
		in_root "$root" sh -c 'mkdir -p /tmp/test && AUTOPKGTEST_TMP=/tmp/test sh -e "/debs/$0"' "$1"
}

same_as_before() {
	inventory > "$work/after" && diff "$work/before" "$work/after"
}

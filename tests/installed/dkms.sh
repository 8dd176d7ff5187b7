#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kernel/dkms under the DKMS of Debian 12 and that of 13, on made-up trees: installations that fail half-way, updates
# that keep the name of a kernel, entries cut short. The module is an object with the fields that modinfo reads.
set -uo pipefail
. "$(dirname "$0")/lib.sh"

# DKMS builds into what it finds in these.
unset KERNELRELEASE MAKEFLAGS MAKELEVEL
kernel=6.12.9-made-up

[ "$(id -u)" = 0 ] || skip_all 'needs root, which DKMS asks for'
for tool in gcc strip depmod modinfo apt-get; do
	command -v "$tool" >/dev/null || skip_all "no $tool"
done

# unpack_dkms SUITE: prints its program.
unpack_dkms() {
	local suite=$1
	local folder=$cache/dkms-$suite
	if [ ! -x "$folder/usr/sbin/dkms" ]; then
		mkdir -p "$folder" && suite_apt apt-get update >/dev/null &&
		(cd "$folder" && suite_apt apt-get download dkms >/dev/null && dpkg-deb -x dkms_*.deb .) || return
	fi
	printf '%s\n' "$folder/usr/sbin/dkms"
}

fake() {	# PROGRAM, its text on stdin
	{ printf '#!/bin/bash\n'; cat; } >"$T/bin/$1" && chmod 755 "$T/bin/$1"
}

# Paths of the system become those of the made-up one.
moved() {
	sed -E "s#(^|[^A-Za-z_/}\$.])/(lib/modules|var/lib/dkms|var/cache|usr/src|etc/dkms|etc/initramfs|etc/fstab|etc/default/grub|proc/cmdline|boot|sys/firmware)#\1$T/\2#g" "$1"
}

# module FILE [FIELD...]
module() {
	local file=$1 field
	shift
	mkdir -p "${file%/*}"
	for field in name=btrfs "vermagic=$kernel SMP" "$@"; do
		printf '__attribute__((section(".modinfo"), used)) static const char %s[] = "%s";\n' "${field%%=*}" "$field"
	done >"$T/module.c"
	gcc -c -o "$file" "$T/module.c" && strip -g "$file"
}

stock=lib/modules/$kernel/kernel/fs/btrfs/btrfs.ko
ours=lib/modules/$kernel/updates/dkms/btrfs.ko

# made_up SUITE: a system with a kernel and our package, which DKMS has not been asked about.
made_up() {
	local script
	rm -rf "$T"
	mkdir -p "$T"/{bin,boot,tmp,etc/dkms,var/lib/dkms} "$T/lib/modules/$kernel/build/include" "$T/usr/src/btrfs-policy-1.0"
	src=$T/usr/src/btrfs-policy-1.0
	for script in kernels initramfs secure-boot settings; do
		moved "$top/kernel/dkms/$script" >"$src/$script" && chmod 755 "$src/$script"
	done
	sed -e 's/@VERSION@/1.0/' -e 's|^MAKE.*|MAKE[0]="./build"|' "$top/kernel/dkms/dkms.conf.in" >"$src/dkms.conf"
	printf '#!/bin/sh\n[ "$1" != version ] || cat %s/headers\n' "$T" >"$src/kernel-source"
	printf '#!/bin/sh\nmkdir -p linux/fs/btrfs && cp %s/built.ko linux/fs/btrfs/btrfs.ko\n' "$T" >"$src/build"
	chmod 755 "$src/kernel-source" "$src/build"
	moved "$(unpack_dkms "$1")" | sed "s|^tmp_location=.*|tmp_location=$T/tmp|" >"$T/bin/dkms" && chmod 755 "$T/bin/dkms"
	echo CONFIG_BTRFS_FS=m >"$T/lib/modules/$kernel/build/.config"
	echo 6.12.9-1 >"$T/headers"
	: >"$T/boot/initrd.img-$kernel"
	module "$T/$stock" stock=first
	module "$T/built.ko" version=1.0 'btrfs_policy=series 0 on linux 6.12.9-1'
	touch "$T/lib/modules/$kernel"/modules.{order,builtin,builtin.modinfo}
	programs
	(PATH=$T/bin:$PATH depmod "$kernel")
}

programs() {
	rm -f "$T/bin"/{cp,ln,mv}
	fake modinfo <<<"exec $(command -v modinfo) -b $T \"\$@\""
	fake depmod <<<"exec $(command -v depmod) -b $T \"\$@\""
	fake lsinitramfs <<<"echo usr/lib/modules/$kernel/kernel/fs/btrfs/btrfs.ko"
	# The initramfs of this system is the module that modprobe would load when it is made.
	fake update-initramfs <<-END
		file=\$(modinfo -k $kernel -F filename btrfs) && cat "\$file" >$T/boot/initrd.img-$kernel
	END
}

run() {
	(PATH=$T/bin:$PATH && "$@") >"$T/said" 2>&1
}

kernels() {
	run "$src/kernels" "$@" || { cat "$T/said"; return 1; }
}

says() {
	grep -F -- "$1" "$T/said" || { cat "$T/said"; return 1; }
}

# served | not_served: the module, the initramfs and DKMS agree.
served() {
	cat "$T/said"
	cmp "$T/$ours" "$T/built.ko" && cmp "$T/boot/initrd.img-$kernel" "$T/built.ko" &&
		(PATH=$T/bin:$PATH dkms status) | grep ': installed'
}

# not_served [FIELD]: the stock module with that field is at its place, nothing of ours is left in the kernel.
not_served() {
	cat "$T/said"
	[ "$(modinfo -F stock "$T/$stock")" = "${1:-first}" ] && [ ! -e "$T/$ours" ] &&
		! compgen -G "$T/var/lib/dkms/btrfs-policy/original_module/*" &&
		! compgen -G "$T/var/lib/dkms/btrfs-policy/kernel-*" &&
		cmp "$T/$stock" <(PATH=$T/bin:$PATH; cat "$(modinfo -k "$kernel" -F filename btrfs)")
}

initramfs_is_stock() {
	[ ! -s "$T/boot/initrd.img-$kernel" ] || cmp "$T/$stock" "$T/boot/initrd.img-$kernel"
}

# copies_badly WHAT: what cp does when it copies our module into the kernel.
copies_badly() {
	fake cp <<-END
		case "\${@: -1}" in
		*/updates/dkms/*) $1 ;;
		*) exec $(command -v cp) "\$@" ;;
		esac
	END
}

half_way() {
	local way
	for way in 'exit 1' 'head -c 200 "${@: -2:1}" >"${@: -1}"; exit 0'; do
		made_up "$1"
		copies_badly "$way"
		try "$1: 'cp' as '$way': the hook goes on" kernels install "$kernel"
		try "$1: … and says that the stock module stays" says "keeps its stock btrfs.ko"
		try "$1: … which is true" not_served
		try "$1: … in the initramfs too" initramfs_is_stock
		programs
		kernels install "$kernel"
		try "$1: … with a cp that works it is served" served
	done
}

initramfs_fails() {
	made_up "$1"
	fake update-initramfs <<<'echo "gzip: No space left on device"; exit 1'
	kernels install "$kernel"
	try "$1: update-initramfs fails: its message is printed" says 'No space left on device'
	try "$1: … with what to do" says "then: $src/initramfs $kernel"
	try "$1: … the kernel keeps its stock module" not_served
	try "$1: … in the initramfs too" initramfs_is_stock
	made_up "$1"
	fake update-initramfs <<<'exit 0'
	kernels install "$kernel"
	try "$1: update-initramfs makes none: that is said" says "initrd.img-$kernel was not made anew"
	try "$1: … and the kernel keeps its stock module" not_served
}

# PATH without the host's tools for an initramfs.
without_initramfs_tools() {
	rm "$T"/bin/{update-initramfs,lsinitramfs}
	! command -v update-initramfs >/dev/null && ! command -v dracut >/dev/null
}

other_initramfs() {
	made_up "$1"
	without_initramfs_tools || { skip "$1: this host has update-initramfs or dracut"; return; }
	kernels install "$kernel"
	try "$1: neither initramfs-tools nor dracut: what is to be done is said" says "to make $T/boot/initrd.img-$kernel anew"
	try "$1: … and the module installed" test -e "$T/$ours"
	made_up "$1"
	without_initramfs_tools
	fake dracut <<-'END'
		[ "$1 $2" = '-q --force' ] && cat "$(modinfo -k "$4" -F filename btrfs)" >"$3"
	END
	mkdir -p "$T/etc/initramfs/post-update.d"
	printf '#!/bin/sh\necho "$@" >%s\n' "$T/hooked" >"$T/etc/initramfs/post-update.d/loader"
	chmod 755 "$T/etc/initramfs/post-update.d/loader"
	kernels install "$kernel"
	try "$1: dracut makes the initramfs" served
	is "$(cat "$T/hooked")" "$kernel $T/boot/initrd.img-$kernel" "$1: … and the boot loader's scripts run"
	kernels remove
	try "$1: … with the stock module after removal" initramfs_is_stock
	rm "$T/boot/initrd.img-$kernel"
	kernels install "$kernel"
	try "$1: … and none for a kernel without one" test ! -e "$T/boot/initrd.img-$kernel"
	made_up "$1"
	without_initramfs_tools
	fake dracut <<<'rm -f "$3"; exit 1'
	kernels install "$kernel"
	try "$1: dracut fails: the kernel keeps its stock module" not_served
	try "$1: … and its initramfs" test -e "$T/boot/initrd.img-$kernel"
}

# The power goes while DKMS copies.
interrupted() {
	made_up "$1"
	copies_badly 'head -c 200 "${@: -2:1}" >"${@: -1}"; kill -9 $PPID'
	run dkms add -m btrfs-policy -v 1.0
	run dkms install -m btrfs-policy -v 1.0 -k "$kernel"
	programs
	kernels remove
	try "$1: DKMS killed while it copies: removal leaves the stock module" not_served
	made_up "$1"
	copies_badly 'head -c 200 "${@: -2:1}" >"${@: -1}"; kill -9 $PPID'
	run dkms add -m btrfs-policy -v 1.0
	run dkms install -m btrfs-policy -v 1.0 -k "$kernel"
	programs
	kernels install "$kernel"
	try "$1: … the next installation serves the kernel" served
	kernels remove
	try "$1: … and its removal brings the stock module back" not_served
	kernels install "$kernel"
	: >"$T/$ours"
	kernels install "$kernel"
	try "$1: a module that the power cut short is built anew" served
	fake update-initramfs <<<"kill -9 \$PPID"
	module "$T/built.ko" version=1.0 'btrfs_policy=series 0 on linux 6.12.9-2'
	echo 6.12.9-2 >"$T/headers"
	run "$src/kernels" install "$kernel"
	programs
	kernels install "$kernel"
	try "$1: an initramfs that was not made is made" served
}

# The same name of the kernel, a new package: dpkg unpacks its stock module, then the hook comes.
kernel_updated() {
	made_up "$1"
	kernels install "$kernel"
	module "$T/$stock" stock=second
	: >"$T/headers"
	try "$1: an update without its headers goes on" kernels install "$kernel"
	try "$1: … and it is said that the module is of the source before" says "btrfs.ko built from linux 6.12.9-1"
	echo 6.12.9-2 >"$T/headers"
	module "$T/built.ko" version=1.0 'btrfs_policy=series 0 on linux 6.12.9-2'
	try "$1: an update that keeps the name of the kernel" kernels install "$kernel"
	try "$1: … is served anew" served
	kernels remove
	try "$1: … after removal the kernel has the stock module of the update" not_served second
	made_up "$1"
	kernels install "$kernel"
	module "$T/$stock" stock=second
	kernels remove
	try "$1: … removal before the hook comes leaves it, too" not_served second
}

# As an interrupted `dkms add` leaves it, or a repair of a file system.
without_link() {
	made_up "$1"
	mkdir -p "$T/var/lib/dkms/btrfs-policy/1.0/build"
	try "$1: an entry of DKMS without its link: removal" kernels remove
	try "$1: … leaves none" test ! -e "$T/var/lib/dkms/btrfs-policy"
	mkdir -p "$T/var/lib/dkms/btrfs-policy/1.0/build"
	kernels install "$kernel"
	try "$1: … and an installation serves the kernel" served
	rm "$T/var/lib/dkms/btrfs-policy/1.0/source"
	try "$1: … with the module installed, removal" kernels remove
	try "$1: … brings the stock module back" not_served
}

# A cp that fails without a sign and leaves the right version: one block is not that of the file that was built.
altered() {
	made_up "$1"
	copies_badly '{ cat "${@: -2:1}"; echo more; } >"${@: -1}"'
	kernels install "$kernel"
	try "$1: a file that is not the one that was built is seen" says 'is not the file that DKMS built'
	try "$1: … and taken away" not_served
	try "$1: … out of the initramfs too" initramfs_is_stock
}

# The power goes while DKMS builds: it takes the folder of that build for a module.
unfinished() {
	made_up "$1"
	run dkms add -m btrfs-policy -v 1.0
	mkdir -p "$T/var/lib/dkms/btrfs-policy/1.0/$kernel/x86_64/log"
	kernels install "$kernel"
	try "$1: after a build that ended early the kernel is served" served
	kernels remove
	run dkms add -m btrfs-policy -v 1.0
	mkdir -p "$T/var/lib/dkms/btrfs-policy/1.0/$kernel/x86_64/log"
	try "$1: removal of such a build" kernels remove
	try "$1: … leaves nothing" test ! -e "$T/var/lib/dkms/btrfs-policy/1.0"
	made_up "$1"
	kernels install "$kernel"
	run dkms uninstall -m btrfs-policy -v 1.0 -k "$kernel"
	echo 6.12.9-2 >"$T/headers"
	module "$T/built.ko" version=1.0 'btrfs_policy=series 0 on linux 6.12.9-2'
	kernels install "$kernel"
	try "$1: a module that was built from the source before is built anew" served
}

boot_is_full() {
	made_up "$1"
	kernels install "$kernel"
	fake update-initramfs <<<'echo "gzip: No space left on device"; exit 1'
	kernels remove
	try "$1: removal with /boot full: it is said that our module is booted" \
		says "kernel $kernel STILL BOOTS OUR btrfs.ko: free $T/boot, then: update-initramfs -u -k $kernel"
	programs
	kernels remove
	try "$1: … once there is space the initramfs is made" initramfs_is_stock
}

# DKMS of Debian 13 moves the stock module to an archive.
archived() {
	local archive=$T/var/lib/dkms/btrfs-policy/original_module/$kernel/x86_64 program
	made_up "$1"
	kernels install "$kernel"
	if [ ! -e "$archive/btrfs.ko" ]; then
		skip "$1: DKMS archives no stock module"
		return
	fi
	for program in cp ln mv; do
		fake $program <<-END
			case "\${@: -1}" in
			$T/lib/modules/*) echo "$program: No space left on device"; exit 1 ;;
			*) exec $(command -v $program) "\$@" ;;
			esac
		END
	done
	refuse "$1: the stock module cannot be put back: removal fails" kernels remove
	try "$1: … and keeps it" test -e "$archive/btrfs.ko"
	try "$1: … and ours" served
	programs
	try "$1: … with space it succeeds" kernels remove
	try "$1: … and the stock module is back" not_served
	kernels install "$kernel"
	printf '%s' "$T/lib/modules/$kernel/ker" >"$archive/btrfs.ko.origin"
	kernels remove
	try "$1: a note of the archive cut short: the stock module is back" not_served
	kernels install "$kernel"
	rm "$archive/btrfs.ko.origin"
	kernels remove
	try "$1: … without a note, too" not_served
	kernels install "$kernel"
	head -c 200 "$archive/btrfs.ko" >"$T/$stock"
	kernels remove
	try "$1: … a copy that ended early is made anew" not_served
}

plain() {
	made_up "$1"
	try "$1: DKMS installs the module" kernels install "$kernel"
	try "$1: it is there" served
	try "$1: and is told" says 'has it from its next boot on'
	try "$1: DKMS removes it" kernels remove
	try "$1: the stock module is back" not_served
	try "$1: in the initramfs too" initramfs_is_stock
}

T=$(mktemp -d "${TMPDIR:-/tmp}/dkms.XXXXXX")
trap 'rm -rf "$T"' EXIT
for release in bookworm trixie; do
	try "the DKMS of Debian $release" unpack_dkms "$release" || done_testing
	plain "$release"
	half_way "$release"
	altered "$release"
	initramfs_fails "$release"
	interrupted "$release"
	kernel_updated "$release"
	other_initramfs "$release"
	without_link "$release"
	unfinished "$release"
	boot_is_full "$release"
	archived "$release"
done
done_testing

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What kernel/dkms does with a kernel in each state. DKMS and the packages of Debian are made up; the real
# ones are in tests/installed.
set -uo pipefail

. "${top_srcdir:?}/tests/tap.sh"
temporary_folder dkms
kernel=6.12.9+deb13-amd64
mkdir "$T/bin" "$T/src"
cp "$top_srcdir"/kernel/dkms/{kernels,kernel-source,secure-boot,settings} "$T/src"
sed 's/@VERSION@/1.0/' "$top_srcdir/kernel/dkms/dkms.conf.in" >"$T/src/dkms.conf"
sed -i -e "s|^archive=.*|archive=$T/archive|" -e "s|^store=.*|store=$T/store|" "$T/src/kernel-source"
sed -i -e "s|^state=.*|state=$T/state|" -e "s|^archive=.*|archive=$T/original_module|" \
	-e "s|^modules=.*|modules=$T/modules|" -e "s|^lock=.*|lock=$T/lock|" \
	-e "s|/etc/fstab|$T/fstab|" -e "s|/proc/cmdline|$T/cmdline|" -e "s|/etc/default/grub|$T/grub|" "$T/src/kernels"
mkdir "$T/lock"
echo "$kernel SMP" >"$T/magic"
# At first no firmware asks for signatures.
sed -i -e "s|^state=.*|state=$T/firmware|" -e "s|^lockdown=.*|lockdown=$T/lockdown|" -e "s|^enforced=.*|enforced=$T/enforced|" -e "s|/var/lib/dkms/mok|$T/mok|" -e "s|/etc/dkms|$T/etc|g" \
	"$T/src/secure-boot"
: >"$T/archive"
: >"$T/image"
echo linux >"$T/from"

fake() {	# PROGRAM, its text on stdin
	{ printf '#!/bin/bash\n'; cat; } >"$T/bin/$1" && chmod 755 "$T/bin/$1"
}

fake dkms <<END
[ "\$1" = status ] || echo "\$1" >>$T/log
[ "\$1" != status ] || cat $T/status
[ "\$1" != unbuild ] || : >$T/status
[ "\$1" != install ] || { for folder in $T/state/$kernel/x86_64/module $T/modules/$kernel/updates/dkms; do
	mkdir -p "\$folder" && echo ours >"\$folder/btrfs.ko"
done; : >"\$initramfs_note"; }
END
fake modinfo <<END
case "\$*" in
*-F\ version*) echo 1.0 ;;
*-F\ vermagic*) cat $T/magic ;;
*-F\ filename*) echo $T/modules/$kernel/updates/dkms/btrfs.ko ;;
*) cat $T/built ;;
esac
END
fake dpkg-query <<END
case \$3\$4 in
*source:Package*) echo "installed \$(cat $T/from)" ;;
*linux-headers-*) echo "installed \$(cat $T/headers)" ;;
*linux-image-*) echo "installed \$(cat $T/image)" ;;
*linux-source-*) echo "installed \$(cat $T/source)" ;;
esac
END

# kernels HEADERS SOURCE [BUILT]: versions; leaves what DKMS had to do in $did, and what was said in $T/said.
kernels() {
	echo "$1" >"$T/headers"
	echo "$2" >"$T/source"
	[ -n "$1" ] || echo "$2" >"$T/image"
	: >"$T/status"
	: >"$T/log"
	: >"$T/built"
	if [ $# -gt 2 ]; then
		echo "btrfs-policy/1.0, $kernel, x86_64: installed" >"$T/status"
		echo "series 0123456789ab on linux $3" >"$T/built"
	fi
	PATH=$T/bin:$PATH "$T/src/kernels" install "$kernel" >"$T/said" 2>&1
	did=$(grep -vx add "$T/log" | tr '\n' ' ')
}

kernels 6.12.9-1 6.12.9-1
is "$did" 'install ' 'a kernel without the module gets it'
kernels 6.12.9-1 6.12.9-1 6.12.9-1
is "$did" "" 'a module of the present source stays'
kernels 6.12.9-2 6.12.9-2 6.12.9-1
is "$did" 'unbuild install ' 'an update that keeps the name of the kernel gets a new module'
kernels 6.12.9-2 6.12.9-1 6.12.9-1
is "$did" 'unbuild ' 'without the source of the update the stock module is back'
try 'and the source it wants is named' grep -F 'apt install linux-source-6.12=6.12.9-2' "$T/said"
for from in linux-upstream linux-6.12.9; do
	echo $from >"$T/from"
	kernels 6.12.9-1 6.12.9-2
	is "$did" "" "a self-made kernel, its source package $from, is not built for"
	try 'and the guide to kernels of your own is named' grep -F other-kernels.md "$T/said"
	refuse 'not a package that never exists' grep -F 'apt install linux-source' "$T/said"
done
echo linux-6.12 >"$T/from"
kernels 6.12.9-1 6.12.9-1
is "$did" 'install ' 'the kernel 6.12 of Debian 12 is one of the distribution'


# A kernel without the series refuses a mount with options of the series.
echo 'UUID=0 / btrfs subvol=@,read_policy=roundrobin 0 0' >"$T/fstab"
echo 'root=UUID=0 rootflags=nodevice_roles' >"$T/cmdline"
echo '#GRUB_CMDLINE_LINUX="rootflags=nodevice_roles"' >"$T/grub"
warning="kernel $kernel WILL NOT MOUNT with read_policy=, device_roles or nodevice_roles of $T"
rm -r "$T/state"
: >"$T/built"
kernels 6.12.9-2 6.12.9-1
try 'options in fstab that a stock kernel refuses are named' grep -F "$warning/fstab: remove" "$T/said"
try 'those of the command line too' grep -F "$warning/cmdline: remove" "$T/said"
refuse 'not those in a comment' grep -F "$T/grub" "$T/said"
kernels 6.12.9-1 6.12.9-1 6.12.9-1
refuse 'nor where our module is' grep -F "WILL NOT" "$T/said"
# warned FSTAB CMDLINE: is there a warning of options in these?
warned() {
	echo "$1" >"$T/fstab"
	echo "$2" >"$T/cmdline"
	rm -rf "$T/state"
	kernels 6.12.9-2 6.12.9-1
	grep -F 'WILL NOT' "$T/said"
}
refuse 'nor the module parameter, which a stock kernel ignores' warned '' 'root=UUID=0 btrfs.read_policy=roundrobin quiet'
refuse 'nor names that only contain the options' warned '/dev/disk/by-label/device_roles /read_policy=x btrfs subvol=nodevice_roles2 0 0' ''
try 'device_roles in fstab is named' warned 'UUID=0 / btrfs device_roles 0 0' ''
try 'and behind other options' warned 'UUID=0 / btrfs subvol=@,device_roles,noatime 0 0' ''
try 'an option beside the parameter is named' warned '' 'btrfs.read_policy=pid rootflags=read_policy=pid'
try 'and in quotes' warned '' 'rootflags="nodevice_roles"'
echo 'UUID=0 / btrfs subvol=@,read_policy=roundrobin 0 0' >"$T/fstab"
removal() {
	: >"$T/built"
	mkdir -p "$T/state"
	PATH=$T/bin:$PATH "$T/src/kernels" remove "$@" >"$T/said" 2>&1
}
removal remove
try 'they are named when the package is removed' grep -F "$warning/fstab: remove" "$T/said"
removal upgrade
refuse 'not in an upgrade, which installs the module anew' grep -F "WILL NOT" "$T/said"
rm "$T"/{fstab,cmdline,grub}

for page in README.md Documentation/guide/other-kernels.md; do
	try "$page names each option that a stock kernel refuses" grep -F '`read_policy=`, `device_roles`, `nodevice_roles`' "$top_srcdir/$page"
done

# Two runs share the folder that DKMS builds in.
(exec 9<"$T/lock" && flock 9 && PATH=$T/bin:$PATH timeout 1 "$T/src/kernels" install "$kernel" 9<&-) >"$T/said" 2>&1
is "$?" 124 'a run waits for another'
try 'and says so' grep -F 'another run' "$T/said"

# A `dkms install` by hand takes no lock of ours, and makes the folder anew in which another run builds.
mkdir -p "$T/version/source" "$T/headers.d"
cp "$top_srcdir/kernel/dkms/Makefile" "$T/version/source"
printf '#!/bin/sh\nrm -rf linux && mkdir linux\n' >"$T/version/source/prepare" && chmod 755 "$T/version/source/prepare"
printf 'modules:\n\ttouch %s; sleep 0.5; echo $(KVER) >>$(M)/btrfs.ko\n' "$T/begun" >"$T/headers.d/Makefile"
build_by_hand() {	# KERNEL
	rm -rf "$T/version/build" && cp -a "$T/version/source" "$T/version/build" &&
		env -u MAKEFLAGS -u MAKELEVEL make -s -C "$T/version/build" KVER="$1" KDIR="$T/headers.d" LOCATION=linux
}
build_by_hand 6.12.8-amd64 >"$T/said" 2>&1 &
for _ in {1..100}; do [ -e "$T/begun" ] || sleep 0.1; done
build_by_hand "$kernel" >>"$T/said" 2>&1
wait
is "$(cat "$T/version/build/linux/btrfs.ko")" "$kernel" 'a build by hand gets nothing of the one that it breaks off'

# What DKMS built may be for another kernel.
rm -rf "$T/state"
echo "6.12.8-amd64 SMP" >"$T/magic"
kernels 6.12.9-1 6.12.9-1
is "$did" 'install unbuild ' 'a module for another kernel is taken away'
echo "$kernel SMP" >"$T/magic"

# A folder of modules on another file system.
mkdir -p "$T/elsewhere/$kernel"
ln -s "$T/elsewhere" "$T/modules.link"
sed "s|^modules=.*|modules=$T/modules.link|" "$T/src/kernels" >"$T/src/kernels.link" && chmod 755 "$T/src/kernels.link"
PATH=$T/bin:$PATH "$T/src/kernels.link" install >"$T/said" 2>&1
try 'with /lib/modules as a link the kernels are found' grep -F "kernel $kernel" "$T/said"

# Without headers the package of the kernel tells its source.
: >"$T/headers"
: >"$T/image"
source_version() {
	PATH=$T/bin:$PATH "$T/src/kernel-source" version "$kernel"
}
is "$(source_version)" '' 'without headers and image the source of a kernel is not known'
echo 6.12.9-2 >"$T/image"
is "$(source_version)" 6.12.9-2 'without headers it is that of the image'
echo 6.12.9-1 >"$T/headers"
is "$(source_version)" 6.12.9-1 'with headers it is theirs'
kernels '' 6.12.9-2 6.12.9-1
is "$did" 'unbuild ' 'an update of a kernel without its headers brings the stock module back'
kernels '' 6.12.9-2 6.12.9-2
is "$did" '' 'headers that were removed leave the module of the same source'

# The hook of kernels runs the version that is installed.
hook() {	# STATUS VERSION
	local version
	for version in 1.0 2.0; do
		mkdir -p "$T/usr/src/btrfs-policy-$version"
		printf '#!/bin/sh\necho %s "$@" >>%s\n' $version "$T/hooked" >"$T/usr/src/btrfs-policy-$version/kernels"
		chmod 755 "$T/usr/src/btrfs-policy-$version/kernels"
	done
	fake dpkg-query <<<"echo '$1 $2'"
	: >"$T/hooked"
	PATH=$T/bin:$PATH sh -c "$(sed "s|/usr/src|$T/usr/src|" "$top_srcdir/kernel/dkms/hook")" hook "$kernel"
}
hook installed 2.0
is "$(cat "$T/hooked")" "2.0 install $kernel" 'the hook runs the installed version only'
hook triggers-pending 1.0
is "$(cat "$T/hooked")" "1.0 install $kernel" 'also while a trigger waits'
for status in unpacked half-configured config-files; do
	hook $status 1.0
	is "$(cat "$T/hooked")" '' "it does nothing if the package is $status"
done

# The new version's script is asked if the old one could not take its module away.
prerm() {
	sed -e "s|/usr/src|$T/usr/src|" -e 's|#ENV.MODULE_VERSION#|2.0|' "$top_srcdir/debian/btrfs-policy-dkms.prerm" >"$T/prerm"
	sh "$T/prerm" "$@"
}
refuse 'an upgrade stops if the old module cannot be removed' prerm failed-upgrade 1.0 2.0
rm -r "$T/usr/src/btrfs-policy-1.0"
try 'but not if nothing can remove it' prerm failed-upgrade 1.0 2.0

# Who would load an unsigned module, or one that is signed by DKMS?
loads() {	# "FIRMWARE SIG_ENFORCE LOCKDOWN"
	local firmware=$1 enforced=$2 lockdown=$3
	printf "\\6\\0\\0\\0\\$firmware" >"$T/firmware"
	echo "$enforced" >"$T/enforced"
	echo "$lockdown" >"$T/lockdown"
	"$T/src/secure-boot" signed "$kernel" >"$T/said" 2>&1
}
try 'without Secure Boot nothing has to be signed' loads 0 N '[none] integrity confidentiality'
refuse 'but with module.sig_enforce no key helps' loads 0 Y '[none] integrity confidentiality'
try 'which is said' grep -F 'module.sig_enforce or lockdown' "$T/said"
refuse 'nor with lockdown' loads 0 N 'none [integrity] confidentiality'
rm "$T"/{enforced,lockdown}

printf '\6\0\0\0\1' >"$T/firmware"
fake mokutil </dev/null
fake openssl <<END
echo new | tee $T/mok.key >$T/mok.pub
END
secure_boot() {
	PATH=$T/bin:$PATH "$T/src/secure-boot" enrolled >"$T/said" 2>&1
}
echo old >"$T/mok.key"
secure_boot
is "$(cat "$T/mok.key")" old 'a key without a certificate is not replaced'
try 'but named' grep -F "the key '$T/mok.key' has no certificate" "$T/said"
rm "$T/mok.key"
secure_boot
is "$(cat "$T/mok.key")" new 'without both there is a key to enrol'
done_testing

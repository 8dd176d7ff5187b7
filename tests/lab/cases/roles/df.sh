#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=3G,seed=1 --disk ssd:size=3G,seed=2 --disk hdd:size=3G,seed=3 --disk hdd:size=3G,seed=4 --disk hdd:size=3G,seed=5 --disk hdd:size=3G,seed=6
#
# What df says is available is what can be written, to within one chunk: random
# arrays of one to six devices, random roles and profiles, filled until ENOSPC.
# LAB_ARRAYS of them, from LAB_SEED on.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
names=(data-preferred metadata-preferred data-only metadata-only)
disks=($(lab_disks))

# Allocate until there is no more: bytes that it came to.
fill_up() {
	perl -e 'my ($file, $total) = ($ARGV[0], 0);
		open(my $out, ">", $file) or die;
		for (my $step = 1 << 28; $step >= 1 << 20; $step >>= 1) {
			# fallocate()
			$total += $step while syscall(285, fileno($out), 0, $total, $step) == 0;
		}
		print "$total\n"' "$LAB_MNT/full"
}

# Roles that the profiles do not allow are refused, others stay.
random_roles() {
	local id

	for id in $(seq "$1"); do
		echo "${names[RANDOM % 4]}" 2>/dev/null >"$(lab_sysfs)/devinfo/$id/role"
	done
	grep -ho '\[.*\]' "$(lab_sysfs)"/devinfo/*/role | tr -d '\n'
}

random_sizes() {
	local id

	for id in $(seq "$1"); do
		btrfs filesystem resize "$id:$((300 + RANDOM % 2700))M" "$LAB_MNT" >/dev/null 2>&1
	done
}

# one_array SEED
one_array() {
	local profile count least avail written chunk roles

	RANDOM=$1
	case $((RANDOM % 6)) in
	0) profile=single least=1 ;; 1) profile=raid1 least=2 ;; 2) profile=raid1c3 least=3 ;;
	3) profile=raid10 least=2 ;; 4) profile=raid5 least=2 ;; 5) profile=raid0 least=1 ;;
	esac
	count=$((least + RANDOM % (7 - least)))
	lab_fresh && lab_mkfs $profile/single "${disks[@]:0:count}" && lab_mount /dev/labda ||
		bail_out "seed $1: no file system"
	random_sizes $count
	roles=$(random_roles $count)
	sync
	avail=$(df -B1 --output=avail "$LAB_MNT" | tail -1)
	written=$(fill_up)
	chunk=$(lab_chunks /dev/labda | awk '$1 == "DATA" && $3 > max { max = $3 } END { print max }')
	in_range "$written" $((avail - chunk)) $((avail + chunk)) "seed $1: $profile on $roles: $avail available"
}

for seed in $(seq "${LAB_SEED:-1}" $((${LAB_SEED:-1} + ${LAB_ARRAYS:-16} - 1))); do
	one_array "$seed"
done
try 'unmount' umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labda
done_testing

# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Lab kernels, each without one mechanism. Sourced by the scripts that measure them, which
# define mechanisms(): lines of MECHANISM FILE FUNCTION STATEMENT, where the statement at
# the start of the function takes the mechanism away, or, if FUNCTION is "-", a Perl
# statement that changes the file. A line of MECHANISM+MECHANISM takes both away: one may
# hide what the other is worth.
#
# Changes files of the kernel tree in the cache while it builds, and puts them back. Needs
# `kernel/ktree build uml`.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache=${BTRFS_POLICY_CACHE:-$HOME/.cache/btrfs-policy}/6.12
read -ra seeds <<<"${SEEDS:-1 2 3}"
read -ra models <<<"${MODELS:-hdd slow ssd nvme}"
kernels=${KERNELS:-$(mktemp -d)}
work=$(mktemp -d "${TMPDIR:-/dev/shm}/ablation.XXXXXX")
trap 'rm -rf "$work"; git -C "$cache/linux" checkout -q -- fs/btrfs' EXIT

take_away() {	# FILE FUNCTION STATEMENT
	if [ "$2" = - ]; then
		perl -0pi -e "$3 or die" "$cache/linux/fs/btrfs/$1"
		return
	fi
	FUNCTION=$2 STATEMENT=$3 perl -0pi -e '
		s/^((?:static )?[\w *]+\b\Q$ENV{FUNCTION}\E\([^{;]*\)\n\{\n)/$1\t$ENV{STATEMENT}\n/m or die "no $ENV{FUNCTION}\n"' \
		"$cache/linux/fs/btrfs/$1"
}

# build NAME
build() {
	make -s -C "$cache/linux" ARCH=um O="$cache/build-uml" -j2 linux >"$work/log" 2>&1 || { cat "$work/log" >&2; return 1; }
	mkdir -p "$kernels/$1"
	cp "$cache/build-uml/linux" "$kernels/$1/"
	cp -a "$cache/build-uml/labdisk" "$kernels/$1/"
	touch "$kernels/$1/labdisk/labdisk.ko"
}

# build_without [MECHANISM...]: sets `wanted`; the kernels are $kernels/full and $kernels/MECHANISM
build_without() {
	local name part file function statement

	wanted=("$@")
	[ $# -gt 0 ] || mapfile -t wanted < <(mechanisms | cut -d' ' -f1)
	[ -x "$kernels/full/linux" ] || build full
	for name in "${wanted[@]}"; do
		[ ! -x "$kernels/$name/linux" ] || continue
		for part in ${name//+/ }; do
			read -r _ file function statement < <(mechanisms | grep "^$part ")
			take_away "$file" "$function" "$statement"
		done
		build "$name"
		git -C "$cache/linux" checkout -q -- fs/btrfs
	done
}

# machine KERNEL MODEL DISKS SEED ARGUMENT...: one run of the guest of tests/lab/cases/scrub-send
machine() {
	local spec=hdd:size=4G n
	local -a disks=()

	case $2 in
	slow) spec+=,rpm=5400,rate=110M ;;
	plain) spec+=,readahead=0 ;;
	through) spec+=,wcache=0 ;;
	ssd | nvme) spec=$2:size=4G ;;
	esac
	for n in $(seq "$3"); do
		disks+=(--disk "$spec,seed=$(($4 * 10 + n))")
	done
	"$top/tests/lab/machine/lab" run --kernel "$kernels/$1/linux" --mem "${MEMORY:-1G}" --images "$work/images" \
		--share "$top/tests/lab" --env DISKS="${DISKS:-}" --env PATH=/usr/sbin:/usr/bin:/sbin:/bin "${disks[@]}" \
		-- "$top/tests/lab/cases/scrub-send/guest" "${@:5}"
}

# measure NAMES SEED MODEL DISKS LOAD[/AGE] PROFILE ARGUMENT...: by the kernels of these names
measure() {
	local names=$1 seed=$2 model=$3 disks=$4 load=$5 profile=$6 name age DISKS

	shift 6
	IFS=/ read -r name age <<<"$load"
	rm -rf "$work/images" "$work/made"
	if [ "$load" = - ]; then
		mkdir "$work/made"
	else
		DISKS=$disks
		[ "$1" != replace ] || DISKS=$((disks - 1))
		machine full "$model" "$disks" "$seed" make "$name" "$profile" "${age:-0}" >&2
		mv "$work/images" "$work/made"
	fi
	for name in $names; do
		rm -rf "$work/images"
		cp -r --sparse=always "$work/made" "$work/images"
		machine "$name" "$model" "$disks" "$seed" "$@" 2>"$work/log" |
			awk -v name="$name $model $seed" -v of="$load,$profile,$1" '
				/^(ms|reader_p99) / { print name, of "_" $1, $2 }
				/^beside / { print name, of "_reader", $2 }'
	done
}

# Measures each line "MECHANISM[,MECHANISM]... DISKS LOAD[/AGE] PROFILE ARGUMENT..." of measurements() that names a
# wanted mechanism, or both of a wanted pair.
measure_lines() {
	local seed model of names arguments

	for seed in "${seeds[@]}"; do
		for model in "${models[@]}"; do
			while read -r -u 3 of arguments; do
				names=$(tr ' ' '\n' <<<"${wanted[*]}" | grep -Ex "(${of//,/|})(\+(${of//,/|}))?") || continue
				# shellcheck disable=SC2086
				measure "full $names" "$seed" "$model" $arguments
			done 3< <(measurements)
		done
	done
}

# Reads lines of KERNEL MODEL SEED WHAT VALUE; prints what each value is without a mechanism, in times of
# what it is with all: MECHANISM | WHAT, MODEL | median | each seed's.
ratios() {
	perl -ane '
		($name, $model, $seed, $what, $value) = @F;
		$name eq "full" ? ($with{"$model $seed $what"} = $value) :
				  push @{$gain{$name}{"$what, $model"}}, $value / $with{"$model $seed $what"};
		END {
			for $name (sort keys %gain) {
				for $where (sort keys %{$gain{$name}}) {
					@all = sort { $a <=> $b } @{$gain{$name}{$where}};
					printf "%s | %s | %.2f | %s\n", $name, $where, $all[$#all / 2], join(" ", map { sprintf "%.2f", $_ } @all);
				}
			}
		}'
}

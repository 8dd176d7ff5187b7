# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Two kernels side by side, on the host: what one and the other make of the same
# disks. A load is made once, by the stock kernel, and each kernel then works on
# a copy of it. Sourced by the scripts here; guest is the half inside the machine.
#
# SEEDS (default "1 2 3") are the disks' seeds; figures are medians over them.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${BTRFS_POLICY_CACHE:-${HOME:-/root}/.cache/btrfs-policy}/6.12
stock=${STOCK_KERNEL:-$cache/build-uml-stock/linux}
patched=${PATCHED_KERNEL:-$cache/build-uml/linux}
. "$here/../../machine/lib.sh"
read -ra seeds <<<"${SEEDS:-1 2 3}"
memory=1G

[ -x "$patched" ] || skip_all 'no lab kernel; kernel/ktree build uml'
[ -x "$stock" ] || skip_all 'no stock kernel to compare with; kernel/ktree build --stock uml'
work=$(mktemp -d "${TMPDIR:-/dev/shm}/scrub-send.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# Disks by name; each seed is another disk of that model. Of several words each is one disk.
declare -A models=(
	[hdd]=hdd:size=4G
	[slow]=hdd:size=4G,rpm=5400,rate=110M
	[track]=track:size=4G
	[one]=hdd:size=4G,segments=1
	[plain]=hdd:size=4G,readahead=0
	[through]=hdd:size=4G,wcache=0
	[ssd]=ssd:size=4G
	[few]=ssd:size=4G,channels=4,read=60us
	[nvme]=nvme:size=4G
	[uneven]='hdd:size=2G ssd:size=2G hdd:size=1G,rpm=5400,rate=110M nvme:size=512M'
	[small]='hdd:size=1G hdd:size=1G hdd:size=512M hdd:size=256M'
)

# disks MODEL SEED COUNT: the options of `lab run`
disks() {
	local n
	local -a kinds

	read -ra kinds <<<"${models[$1]}"
	for n in $(seq "$3"); do
		printf -- '--disk %s,seed=%d ' "${kinds[(n - 1) % ${#kinds[@]}]}" $(($2 * 10 + n))
	done
}

# machine KERNEL IMAGES MODEL SEED COUNT [--env NAME=VALUE]... -- ARGUMENT...
machine() {
	local kernel=$1 images=$2 model=$3 seed=$4 count=$5

	shift 5
	# shellcheck disable=SC2046
	"$here/../../machine/lab" run --kernel "$kernel" --mem "$memory" --share "$(realpath "$here/../..")" --images "$images" \
		--env 'PATH=/usr/sbin:/usr/bin:/sbin:/bin' $(disks "$model" "$seed" "$count") "$@"
}

# prepare MODEL SEED COUNT ARGUMENT...: the load in $work/made
prepare() {
	local model=$1 seed=$2 count=$3

	shift 3
	rm -rf "$work/made"
	machine "$stock" "$work/made" "$model" "$seed" "$count" --env DISKS="${DISKS:-$count}" \
		--env ROLES="$ROLES" --env CONVERT="$CONVERT" -- "$here/guest" make "$@" >"$work/log" 2>&1 ||
		{ diag "$(tail -n 20 "$work/log")"; bail_out "cannot make $* on $model"; }
}

# both MODEL SEED COUNT [--env ...] -- ARGUMENT...: results in $work/stock and $work/patched
both() {
	local model=$1 seed=$2 count=$3 which

	shift 3
	for which in stock patched; do
		rm -rf "$work/copy"
		cp -r --sparse=always "$work/made" "$work/copy"
		machine "${!which}" "$work/copy" "$model" "$seed" "$count" "$@" \
			>"$work/$which" 2>"$work/log" || {
			diag "$which: $(tail -n 30 "$work/log")"
			return 1
		}
	done
	rm -rf "$work/copy"
}

# value stock|patched NAME
value() {
	sed -n "s/^$2 //p" "$work/$1"
}

# alike NAME WHAT: both kernels said something, and the same
alike() {
	[ -n "$(value stock "$1")" ] || { not_ok "$2: nothing was said"; return; }
	is "$(value patched "$1")" "$(value stock "$1")" "$2"
}

median() {
	tr ' ' '\n' <<<"$*" | grep . | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# compare NAME LEAST MODEL COUNT LOAD [ROUNDS] -- WHAT [SAME_VALUE...]: the median
# of the ratio of times is at least LEAST; named values are the same in both
compare() {
	local name=$1 least=$2 model=$3 count=$4 load=$5 ratios='' times='' seed what same wrong=''
	shift 5
	local before=()

	while [ "$1" != -- ]; do
		before+=("$1")
		shift
	done
	what=$2
	shift 2
	for seed in "${seeds[@]}"; do
		prepare "$model" "$seed" "$count" "$load" "${before[@]}"
		both "$model" "$seed" "$count" -- "$here/guest" "$what" ||
			{ not_ok "$name: $what"; return; }
		for same in "$@"; do
			[ -n "$(value stock "$same")" ] && [ "$(value stock "$same")" = "$(value patched "$same")" ] ||
				wrong+="seed $seed, $same: stock '$(value stock "$same")', patched '$(value patched "$same")'; "
		done
		ratios+=" $(awk "BEGIN { printf \"%.2f\", $(value stock ms) / $(value patched ms) }")"
		times+=" $(value stock ms)/$(value patched ms)"
	done
	diag "$name: stock/patched ms$times"
	is "$wrong" '' "$name: ${*:-nothing else} alike"
	in_range "$(median "$ratios")" "$least" 1000 "$name: times faster, median of$ratios"
}

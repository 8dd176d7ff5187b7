# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For tests of the series: the kernels, complete patches, and cases of the lab on a kernel that was built; each result
# of a case is one of theirs. Sourced; the caller has set $top, and for cases $dir, a folder for their output.

. "$top/tests/tap.sh"

series_folders='fs/btrfs block include/uapi/linux Documentation/block'

# step WHAT COMMAND...
step() {
	local what=$1 status
	shift
	"$@" 2>&1 | sed 's/^/# /'
	status=${PIPESTATUS[0]}
	result "$status" "$what"
}

# The versions that have a series, or those of KERNELS=.
kernels() {
	echo ${KERNELS:-$(cd "$top/kernel" && echo [0-9]*)}
}

# check_selection [OTHER_TOPIC...]: ends the test if KERNELS= or TOPICS= has a name that selects nothing
check_selection() {
	local name

	for name in ${KERNELS:-}; do
		[ -d "$top/kernel/$name" ] || bail_out "KERNELS: no series for kernel '$name'"
	done
	for name in ${TOPICS:-}; do
		[[ " $* " == *" $name "* ]] || compgen -G "$top/kernel/[0-9]*/$name/" >/dev/null ||
			bail_out "TOPICS: no series has a topic '$name'"
	done
}

# has_source VERSION: without a download. KERNEL_SRC= is the source of the default kernel.
has_source() {
	[ "$1" = 6.12 ] && [ -n "${KERNEL_SRC:-}" ] || [ -e "/usr/src/linux-source-$1.tar.xz" ] ||
		[ -e "${BTRFS_POLICY_CACHE:-${HOME:?}/.cache/btrfs-policy}/linux-source-$1.tar.xz" ]
}

# For the night: downloads the sources that are missing. One that cannot be had is skipped later.
fetch_sources() {
	local kernel

	for kernel in $(kernels); do
		has_source "$kernel" || "$top/kernel/fetch-source" "$kernel" 2>&1 >/dev/null | sed 's/^/# /'
	done
}

# each_kernel FUNCTION: calls it with every version whose source is there
each_kernel() {
	local kernel

	for kernel in $(kernels); do
		if ! has_source "$kernel"; then
			skip "no source of Linux $kernel; kernel/fetch-source $kernel"
		elif [ "$kernel" = 6.12 ]; then
			"$1" "$kernel"
		else
			KERNEL_SRC='' "$1" "$kernel"
		fi
	done
}

# topics_of VERSION: in the order in which they are applied
topics_of() {
	local topic

	for topic in fixes base roles read-policy scrub-send move-stripe superblocks mq-deadline; do
		[ ! -d "$top/kernel/$1/$topic" ] || echo "$topic"
	done
}

# patches_give_the_tree VERSION: a user who applies complete patches to a stock tree has the source that is tested here.
patches_give_the_tree() {
	local dir topic status=0

	dir=$(mktemp -d) || return
	for topic in '' $(topics_of "$1"); do
		patches_give "$dir" --kernel "$1" ${topic:+--topic "$topic"} || { status=1; break; }
		echo "Linux $1, ${topic:-all topics}: $(wc -l < "$dir/patches/series") patches"
	done
	rm -rf "$dir"
	return $status
}

# patches_give DIR OPTION...: of ktree
patches_give() {
	local dir=$1 tree
	local -x GIT_AUTHOR_NAME=test GIT_AUTHOR_EMAIL=test@localhost GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test@localhost

	shift
	rm -rf "$dir/stock"
	"$top/kernel/ktree" "$@" patches "$dir/patches" && tree=$("$top/kernel/ktree" "$@" path) &&
		stock_files "$tree" "$dir/stock" && git -C "$dir/stock" am -q "$dir"/patches/0*.patch &&
		same_files "$tree" "$dir/stock"
}

# stock_files TREE DIR: the folders that the series touches, as the distribution has them
stock_files() {
	mkdir "$2" && git -C "$1" archive base $series_folders | tar -x -C "$2" &&
		git -C "$2" init -q && git -C "$2" add -A -f && git -C "$2" commit -q -m stock
}

same_files() {
	local folder

	for folder in $series_folders; do
		diff -r -q "$1/$folder" "$2/$folder" || return
	done
}

# Runs one test, from a process of xargs; leaves output and status in $dir.
run_test() {
	local out=$dir/$(basename "$1")
	bash "$top/$1" > "$out.out" 2> "$out.err"
	echo $? > "$out.status"
}

# The results of one test as results of this one; a test that has none is a failure.
retell() {
	local name out line
	name=$(basename "$1" .sh) out=$dir/$(basename "$1")
	while IFS= read -r line; do
		case $line in
		'ok '*) ok "$name: ${line#*[0-9] - }" ;;
		'not ok '*) not_ok "$name: ${line#*[0-9] - }" ;;
		'1..0 # SKIP'*) ok "$name # SKIP ${line#*SKIP }" ;;
		'1..'*) ;;
		*) printf '# %s\n' "${line#\# }" ;;
		esac
	done < "$out.out"
	if ! grep -q '^1\.\.' "$out.out" ||
	   { [ "$(cat "$out.status")" != 0 ] && ! grep -q '^not ok' "$out.out"; }; then
		sed 's/^/# /' "$out.err"
		not_ok "$name: came to its end (status $(cat "$out.status"))"
	fi
}

# run_cases CASE...: as many at a time as there are processors
run_cases() {
	[ $# -gt 0 ] || return 0
	printf '%s\n' "$@" | xargs -P "$(nproc)" -I{} bash -c 'run_test {}'
	for test; do
		retell "$test"
	done
}

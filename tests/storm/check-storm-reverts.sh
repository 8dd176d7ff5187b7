#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Does the storm find the faults that it was made for? For each of reverts/*.patch, that
# takes one repair out of the present code: build that kernel, and play fresh histories
# until one fails that does not fail with the repair. In the patch a line "Processors: N"
# says that it takes several, and "Kernel: CONFIG" another kernel than the lab's.
# STORM_MINUTES= (60) is the limit for each, STORM_REVERTS= ("1 4") which,
# STORM_SEED= the first seed.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
export top_builddir=${top_builddir:-$top/build}
status=0 number=0

# Of the patch: the machine, its kernel, and the trees.
choose() {
	cpus=$(sed -n 's/^Processors: //p' "$here/reverts/$1.patch")
	if [ -n "$cpus" ]; then
		config=storm-smp arch=x86 targets=(all) image=vmlinux options=(--cpus "$cpus") jobs=1
	else
		config=$(sed -n 's/^Kernel: //p' "$here/reverts/$1.patch")
		config=${config:-uml} arch=um targets=(linux modules) image=linux options=(--timeout 900) jobs=${STORM_JOBS:-2}
	fi
	good=$("$top/kernel/ktree" build "$config")
	tree=$("$top/kernel/ktree" path)
	cache=${good%/*}
	reverted=$cache/reverted out=$cache/build-reverted-$config
}

build() {
	git -C "$tree" worktree prune
	[ -d "$reverted" ] || git -C "$tree" worktree add -q --detach "$reverted"
	mkdir -p "$out"
	cp "$good/.config" "$out/.config"
	git -C "$reverted" checkout -q -f --detach "$(git -C "$tree" rev-parse HEAD)" &&
		git -C "$reverted" apply "$here/reverts/$1.patch" &&
		make -s -C "$reverted" ARCH=$arch O="$out" -j"$(nproc)" "${targets[@]}" >"$out/build.log" 2>&1
}

# The kernel with the repair takes the place of the stock kernel.
finds() {
	! "$here/storm" --kernel "$out/$image" --stock "$good/$image" "${options[@]}" loop --first --jobs "$jobs" \
		--minutes "${STORM_MINUTES:-60}" ${STORM_SEED:+--seed "$STORM_SEED"} \
		--findings "$top_builddir/tests/storm-reverts/$1" >"$out/$1.log" 2>&1 &&
		grep '^not ok .* - the history of' "$out/$1.log"
}

for name in ${STORM_REVERTS:-1 4}; do
	number=$((number + 1))
	choose "$name"
	build "$name" || { echo "Bail out! $name.patch: see $out/build.log"; exit 1; }
	start=$SECONDS
	word=ok
	found=$(finds "$name") || { word='not ok' status=1; }
	echo "$word $number - without the repair of $name the storm fails"
	echo "# after $((SECONDS - start)) s: ${found#not ok * - }"
done
echo "1..$number"
exit $status

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# --offline on images that mkfs.btrfs made: every profile and checksum, compared
# with what btrfs-progs reads there, then with copies damaged and devices missing.
set -u
. "${top_srcdir:?}/tests/cli/lib.sh"

command -v mkfs.btrfs >/dev/null || skip_all "no mkfs.btrfs to make images with"
uuid=b7f5c0de-1ab0-4d15-8000-0000000000ff
policy() { "$top_builddir/cmds/btrfs-policy" "$@"; }
real() { command btrfs inspect-internal "$@"; }

images() {	# COUNT MKFS-OPTION...
	local i count=$1
	shift
	rm -f "$T"/image.*
	images=()
	for ((i = 1; i <= count; i++)); do
		truncate -s 256M "$T/image.$i"
		images+=("$T/image.$i")
	done
	mkfs.btrfs -q -f -U $uuid -L pool "$@" "${images[@]}" >"$T/mkfs" 2>&1
}

# Lines "DEVID BYTES", and what is used in all: by us and by btrfs-progs.
our_sums() {
	policy --format json usage --offline "${images[@]}" >"$T/usage" &&
	python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))["device-policy-usage"]
for v in d["devices"]:
    print(v["devid"], sum(n for k, n in v.items() if k.endswith("-bytes") and "misplaced" not in k))
print("used", sum(p["used"] for p in d["profiles"]))' "$T/usage"
}

their_sums() {
	real dump-tree -t dev "${images[@]}" | awk -v n=${#images[@]} '
		/DEV_EXTENT/ { split($0, word, "[( ]+"); for (i in word) if (word[i] == "key") id = word[i + 1] }
		/chunk_objectid/ { sum[id] += $NF }
		END { for (i = 1; i <= n; i++) print i, sum[i] + 0 }' &&
	real dump-super "${images[0]}" | awk '$1 == "bytes_used" { print "used", $2 }'
}

agrees() {	# COUNT MKFS-OPTION...
	images "$@" || { cat "$T/mkfs"; return 1; }
	our_sums >"$T/ours" && their_sums >"$T/theirs" && diff "$T/theirs" "$T/ours" ||
		{ echo "differs: $*"; return 1; }
}

profiles() {
	local shape
	for shape in "1 -m single" "1 -m dup" "2 -d raid0 -m raid0" "3 -d raid1 -m raid1" \
		     "4 -d raid1c3 -m raid1c4" "4 -d raid10 -m raid10" "3 -d raid5 -m raid5" \
		     "4 -d raid6 -m raid6" "2 -M -d raid1 -m raid1"; do
		# shellcheck disable=SC2086
		agrees $shape || return 1
	done
}

# With its default, a tree of block groups.
newer_profiles() {
	(PATH=$progs:$PATH
	profiles && real dump-super "${images[0]}" | grep -q BLOCK_GROUP_TREE)
}

node_sizes() {
	local size
	for size in 4096 16384 65536; do
		agrees 2 -d raid0 -m raid1 -n $size || return 1
	done
}

checksums() {
	local name has
	for name in crc32c:1 xxhash:HAVE_XXHASH sha256:HAVE_GCRYPT blake2:HAVE_GCRYPT; do
		has=${name#*:}
		if [ "$has" = 1 ] || grep -q "^#define $has 1" "$top_builddir/config.h"; then
			agrees 2 -m raid1 --csum "${name%:*}" || return 1
			continue
		fi
		images 2 -m raid1 --csum "${name%:*}"
		! policy usage --offline "${images[@]}" 2>"$T/err" &&
			grep -q "cannot check ${name%:*}" "$T/err" || return 1
	done
}

many_files() {
	local n
	mkdir -p "$T/tree"
	for ((n = 0; n < 2000; n++)); do echo $n >"$T/tree/a-file-with-a-long-name-$n"; done
	agrees 1 -m dup -n 4096 --rootdir "$T/tree" && grep -q '^used [1-9][0-9]\{6\}' "$T/ours"
}

text() {
	images 3 -d raid1 -m raid1 || return 1
	(cd "$T" && policy show -T --offline image.1 image.2 image.3) >"$T/got"
	cat >"$T/want" <<-END
	Label: 'pool'  uuid: $uuid
	   Enforced:                          no, it is not mounted
	   Kernel:                            not mounted
	   Read-only:                         yes
	   Devices missing:                   0
	   Saved:                             no
	   Read policy:                       -
	   Rotational penalty:                -
	   Non-rotational penalty:            -
	   Penalties only in mixed arrays:    -
	   Readahead:                         -
	   Lagging superblocks:               -

	Id Path    Type Role                Size Unallocated
	-- ------- ---- -------------- --------- -----------
	 1 image.1 -    data-preferred 256.00MiB   256.00MiB
	 2 image.2 -    data-preferred 256.00MiB   145.62MiB
	 3 image.3 -    data-preferred 256.00MiB   145.62MiB
	END
	diff "$T/want" "$T/got"
}

json() {
	images 2 -m raid1 || return 1
	policy --format json show --offline "${images[@]}" >"$T/show.json" &&
	policy --format json usage --offline "${images[@]}" >"$T/usage.json" &&
	python3 "$top_srcdir/tests/cli/check-schema" "$top_srcdir/Documentation/schema" \
		"$T/show.json" "$T/usage.json"
}

zero() {	# FILE OFFSET BYTES
	dd if=/dev/zero of="$1" bs=1 seek="$2" count="$3" conv=notrunc status=none
}

refused() {	# WHAT WORD...
	policy show --offline "${@:2}" >"$T/out" 2>"$T/err"
	[ $? = 1 ] && [ ! -s "$T/out" ] && grep -q "^ERROR: cannot read '.*$1" "$T/err" ||
		{ cat "$T/err"; echo "want: $1"; return 1; }
}

superblocks() {
	images 1 -m dup && our_sums >"$T/before" || return 1
	zero "${images[0]}" 65600 8
	our_sums >"$T/after" && diff "$T/before" "$T/after" || return 1
	zero "${images[0]}" $((64 * 1024 * 1024 + 100)) 1	# generation of the second copy
	printf '\377' | dd of="${images[0]}" bs=1 seek=$((64 * 1024 * 1024 + 300)) conv=notrunc status=none
	refused "no superblock of btrfs" "${images[@]}"
}

# rewrite FILE AT SIZE OFFSET FORMAT VALUE: a field of the block, and its crc32c made anew; adds to the field.
rewrite() {
	python3 -c 'import struct, sys
def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff
path, at, size, field, kind, value = sys.argv[1:]
with open(path, "r+b") as file:
    file.seek(int(at))
    block = bytearray(file.read(int(size)))
    old, = struct.unpack_from("<" + kind, block, int(field))
    struct.pack_into("<" + kind, block, int(field), old + int(value))
    struct.pack_into("<I", block, 0, crc32c(block[32:]))
    file.seek(int(at))
    file.write(block)' "$@"
}

# set_feature BIT FILE: in both superblocks
set_feature() {
	rewrite "$2" 65536 4096 188 Q $((1 << $1)) && rewrite "$2" $((64 << 20)) 4096 188 Q $((1 << $1))
}

# What is there may mean something else then.
features() {
	images 1 -m dup && set_feature 16 "${images[0]}" && our_sums || return 1
	set_feature 18 "${images[0]}"
	policy show --offline "${images[0]}" >"$T/out" 2>"$T/err"
	[ $? = 2 ] && [ ! -s "$T/out" ] &&
		grep -q "features that this version does not know, incompat_flags 0x40000$" "$T/err"
}

# find_block LOGICAL FILE...: lines "OFFSET FILE" where a block with that address is.
find_block() {
	python3 -c 'import struct, sys
for path in sys.argv[2:]:
    with open(path, "rb") as file:
        data = file.read()
    for at in range(1 << 20, len(data), 4096):
        if data[at + 48:at + 56] == struct.pack("<Q", int(sys.argv[1])):
            print(at, path)' "$@"
}

# The chunk root: each copy alone may be lost, both may not.
copies() {
	local logical place
	images 2 -d raid1 -m raid1 -n 4096 && our_sums >"$T/before" || return 1
	logical=$(real dump-super "${images[0]}" | awk '$1 == "chunk_root" { print $2 }')
	place=$(find_block "$logical" "${images[@]}")
	[ "$(wc -l <<<"$place")" = 2 ] || { echo "no places: $place"; return 1; }
	while read -r at file; do
		cp "$file" "$file.whole"
		printf 'X' | dd of="$file" bs=1 seek=$((at + 200)) conv=notrunc status=none
		our_sums >"$T/after" && diff "$T/before" "$T/after" || return 1
		mv "$file" "$file.bad"; mv "$file.whole" "$file"
	done <<<"$place"
	for file in "${images[@]}"; do mv "$file.bad" "$file"; done
	refused "checksum is wrong" "${images[@]}"
}

# A copy that missed the last writes has an older root of the extent tree: it does not count.
stale_root() {
	local logical at file bad used
	mkdir -p "$T/few" && head -c 100000 /dev/urandom >"$T/few/file" &&
	images 1 -m dup -n 4096 --rootdir "$T/few" && our_sums >"$T/before" || return 1
	logical=$(real dump-tree -r "${images[0]}" 2>/dev/null | awk '/EXTENT_TREE/ && $(NF - 1) == "level" { print $(NF - 2) }')
	used=$(real dump-tree -t extent "${images[0]}" 2>/dev/null |
		awk '/BLOCK_GROUP_ITEM/ && !at { at = 101 + $(NF - 2) } END { print at }')
	for bad in 1 2; do
		read -r at file < <(find_block "$logical" "${images[0]}" | sed -n ${bad}p)
		rewrite "$file" "$at" 4096 80 Q -1 && rewrite "$file" "$at" 4096 "$used" Q 4096 || return 1
		our_sums >"$T/after" && diff "$T/before" "$T/after" || return 1
		rewrite "$file" "$at" 4096 80 Q 1 && rewrite "$file" "$at" 4096 "$used" Q -4096 || return 1
	done
}

# A smaller file system leaves the third superblock of an earlier one, which may be newer.
earlier_superblock() {
	rm -f "$T/large" && truncate -s 300G "$T/large" && mkfs.btrfs -q -K "$T/large" 2>/dev/null &&
	rewrite "$T/large" $((256 << 30)) 4096 72 Q 1000 && mkfs.btrfs -q -f -K -b 100G -L later "$T/large" 2>/dev/null &&
	policy show --offline "$T/large" | grep -q "^Label: 'later'"
}

missing() {
	images 3 -d raid1 -m raid1 || return 1
	policy show -T --offline "${images[1]}" "${images[2]}" >"$T/out" &&
	grep -q '^   Devices missing: *1$' "$T/out" && grep -q '^ 1 - *missing' "$T/out" &&
	refused "is not there; name its other devices too" "${images[0]}"
}

# All that fits on a device of the size that its item says would be counted for hours, if it says 4EiB.
too_short() {
	images 2 -d raid1 -m raid1 && truncate -s 255M "${images[1]}" &&
	refused "device 2 should have 268435456 bytes and has 267386880" "${images[@]}"
}

# The mirrors of devices that are not named are unknown.
not_named() {
	images 3 -d raid1 -m raid1 || return 1
	policy usage -c --offline "${images[@]:1}" >"$T/out" 2>"$T/err"
	[ $? = 1 ] && grep -q '^WARNING: 1 of 3 devices of the file system is not named' "$T/err"
}

# Mixed block groups have a column of their own, and one profile.
mixed() {
	images 2 -M -d raid1 -m raid1 || return 1
	policy usage -T --offline "${images[@]}" >"$T/out" && grep -q 'Data+Metadata' "$T/out" &&
		policy usage --offline --assume data=single "${images[@]}" >"$T/out" &&
		grep -q '^Would fit: .*more data (single), or .*more metadata (single)' "$T/out"
}

nonsense() {
	images 2 -m raid1 && mv "${images[1]}" "$T/other" && images 2 -U "${uuid%ff}fe" || return 1
	refused "belongs to another file system" "${images[0]}" "$T/other" &&
	refused "claims to be device 1, and so does" "${images[0]}" "${images[0]}" &&
	: >"$T/empty" && refused "no superblock" "$T/empty" && refused "neither" /dev/null &&
	refused "neither" "$T" && refused "No such file" "$T/nowhere" &&
	refused "No such file" no-such-label && head -c 70000 "${images[0]}" >"$T/short" &&
	refused "" "$T/short" && ! policy show --offline 2>"$T/err" &&
	grep -q '^ERROR: no device given' "$T/err" && ! policy usage / / 2>"$T/err" &&
	grep -q 'only --offline takes several' "$T/err"
}

# What takes the place of a closed stream: /dev/null, which no command writes to.
closed_streams() {
	policy usage --offline /proc/self/fd/0 2>"$T/err" <&-
	grep -q 'neither a block device nor' "$T/err" && ! policy --version 2>"$T/err" >&- &&
		grep -q 'cannot write to standard output' "$T/err"
}

check "every profile agrees with btrfs-progs" profiles
newer_progs
case $? in
0) check "every profile of newer btrfs-progs" newer_profiles ;;
77) result 0 "every profile of newer btrfs-progs # SKIP $(tail -n 1 "$T/progs")" ;;
*) result 1 "every profile of newer btrfs-progs" "$T/progs" ;;
esac
check "every nodesize" node_sizes
check "every checksum, or a word about what cannot be checked" checksums
check "trees of several levels" many_files
check "what show prints" text
check "JSON is what its schema says" json
check "another superblock is taken if one is damaged" superblocks
check "another copy is taken if one is damaged" copies
check "a mirror with an older tree is not taken" stale_root
check "nor is the superblock of an earlier file system" earlier_superblock
check "a device may be missing" missing
check "a device that is shorter than it says is refused" too_short
check "devices that are not named are told, and no verdict is given" not_named
check "mixed block groups in a table, and with another profile" mixed
check "features of newer kernels are refused" features
check "what does not belong together, or is nothing, is refused" nonsense
check "a device is not opened as a standard stream that was closed" closed_streams
done_testing

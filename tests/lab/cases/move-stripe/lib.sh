# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For cases of stripes that move: where chunks are, and moving them. Sourced in the lab, after $LAB_LIB.

move=$(dirname "${BASH_SOURCE[0]}")/../../machine/move-stripes

# stripes DEVICE [KIND]: a line "CHUNK STRIPE DEVID OFFSET KIND PROFILE" for each stripe of each chunk
stripes() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
	btrfs inspect-internal dump-tree -t chunk "$1" | awk -v kind="${2:-}" '
		/ CHUNK_ITEM / { chunk = $6; sub(/\).*/, "", chunk) }
		$1 == "length" { n = split($NF, part, "|"); profile = n > 1 ? part[2] : "single" }
		$1 == "stripe" && $3 == "devid" && (kind == "" || part[1] == kind) {
			print chunk, $2, $4, $6, part[1], profile
		}'
}

# vacant DEVICE CHUNK DEVICES: the devids up to DEVICES that have no stripe of the chunk
vacant() {
	stripes "$1" | awk -v chunk="$2" -v devices="$3" '
		$1 == chunk { taken[$3] = 1 }
		END { for (n = 1; n <= devices; n++) if (!taken[n]) print n }'
}

# at DEVICE CHUNK STRIPE: its devid
at() {
	stripes "$1" | awk -v chunk="$2" -v stripe="$3" '$1 == chunk && $2 == stripe { print $3 }'
}

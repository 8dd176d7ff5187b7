# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# `balance --preferred-metadata` by stripes and by relocation, of the same metadata in one
# run: from the hard disks labdc and labdd to the SSDs labda and labdb.  Source it behind
# balance.sh.

# Metadata belongs on the SSDs, or on the hard disks; data stays on the hard disks.
to_ssds() {
	btrfs -q device policy tag metadata-only 3 4 "$LAB_MNT" --force
}

to_disks() {
	btrfs -q device policy tag data-only 3 4 "$LAB_MNT" --force
}

# move_by METHOD: moves what is misplaced; /tmp/ms is the virtual time that it took
move_by() {
	local start

	btrfs --dry-run --format json balance --preferred-metadata --method "$1" "$LAB_MNT" |
		jq '.[keys[1]].plan' >/tmp/plan
	lab_drop_caches
	lab_reset
	start=$(lab_now)
	btrfs --format json balance --preferred-metadata --method "$1" "$LAB_MNT" >/tmp/report 2>/tmp/errors ||
		{ cat /tmp/errors; return 1; }
	echo $((($(lab_now) - start) / 1000000)) >/tmp/ms
}

of_report() {
	jq ".[keys[1]].report[\"$1\"]" /tmp/report
}

# rewrite_files DIR COUNT OF SEED: so many of the files 1 to OF, chosen by SEED, are written anew
rewrite_files() {
	perl -e 'my ($dir, $count, $of, $seed) = @ARGV;
		srand($seed);
		for (1 .. $count) {
			open(my $file, ">", "$dir/" . (1 + int(rand($of)))) or die "$!\n";
			print {$file} "x" x 1900;
			close($file) or die "$!\n";
		}' "$@"
}

# Files in metadata, and a day's snapshot after each fortieth of them is written anew: many_files COUNT SNAPSHOTS
many_files() {
	local n

	lab_mkfs raid1/raid1 /dev/labdc /dev/labdd && lab_mount /dev/labdc || return
	btrfs -q subvolume create "$LAB_MNT/tree" &&
	lab_fill "$LAB_MNT/big" 24 &&
	[ "$(lab_small_files "$LAB_MNT/tree/mail" "$1" 1900)" = all ] || return
	for n in $(seq "$2"); do
		rewrite_files "$LAB_MNT/tree/mail" $(($1 / 40)) "$1" "$n" &&
		btrfs -q subvolume snapshot -r "$LAB_MNT/tree" "$LAB_MNT/day$n" || return
	done
	btrfs -q device add -f /dev/labda /dev/labdb "$LAB_MNT"
}

# compare_methods FILES SNAPSHOTS TIMES: stripes are at least so many times faster; sets stripes_ms and copied, its bytes
compare_methods() {
	local used ms

	try 'files and snapshots' many_files "$1" "$2" || bail_out many_files
	sums tree >/tmp/before
	try 'metadata belongs on the SSDs' to_ssds
	used=$(usage '.totals["misplaced-used"]')
	try 'it moves by its stripes' move_by auto
	ms=$(cat /tmp/ms) stripes_ms=$ms
	copied=$(of_report copied-bytes)
	is "$(of_report by-stripes-chunks)" "$(of_report relocated-chunks)" 'all chunks moved by their stripes'
	is "$(of_report still-misplaced-chunks)" 0 'none is left'
	is "$(verdict)" 0 'usage -c is content'
	in_range "$(of_report copied-bytes)" "$((2 * used * 98 / 100))" \
		"$((2 * used * 102 / 100 + (8 << 20) * $(of_report relocated-chunks)))" 'bytes copied: two copies of what is used'
	in_range "$((ms / 1000))" "$(jq '.["least-seconds"]' /tmp/plan)" "$(jq '.["most-seconds"]' /tmp/plan)" \
		'seconds, as the plan says'
	diag "stripes: $ms ms for $(mebibytes "$used") MiB; disks read $(mebibytes $(($(lab_stat /dev/labdc read_bytes) + $(lab_stat /dev/labdd read_bytes)))) MiB, all disks wrote $(mebibytes "$(written)") MiB"
	is "$(lab_devids /dev/labdc METADATA SYSTEM)" '3 4' 'metadata is on the SSDs'
	try 'it belongs on the disks' to_disks
	try 'back by stripes' move_by stripes
	try 'it belongs on the SSDs again' to_ssds
	try 'it moves by relocation' move_by relocate
	ms=$(cat /tmp/ms)
	is "$(of_report by-stripes-chunks)" 0 'no chunk moved by its stripes'
	is "$(verdict)" 0 'usage -c is content'
	in_range "$((ms / 1000))" "$(jq '.["least-seconds"]' /tmp/plan)" "$(jq '.["most-seconds"]' /tmp/plan)" \
		'seconds, as the plan says'
	diag "$(mebibytes "$used") MiB, ${1%000},000 files, $2 snapshots: stripes $stripes_ms ms, relocation $ms ms, $(awk "BEGIN { printf \"%.1f\", $ms / $stripes_ms }") times"
	in_range "$((ms / stripes_ms))" "$3" 100000 'times slower is relocation'
}

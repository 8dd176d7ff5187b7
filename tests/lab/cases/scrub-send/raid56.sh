#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Scrub of RAID5 and RAID6 by the stock and by the patched kernel: the same counters,
# the same damage found and repaired, parity too, whatever devices take part, and how
# long it takes. ALONE=patched is what says something with that kernel only.
. "$(dirname "$0")/lib.sh"

# damaged PROFILE COUNT STEP SHIFT DEVID...: the load on one disk model with rubbish on
# those devices; as it was before in $work/before, the places in $work/places
damaged() {
	local profile=$1 count=$2 step=$3 shift=$4

	shift 4
	prepare hdd 1 "$count" small:20 "$profile/$profile"
	machine "$stock" "$work/made" hdd 1 "$count" -- "$here/guest" extents >"$work/extents" 2>"$work/log" ||
		bail_out "no extents: $(cat "$work/log")"
	# The last chunk is the one of data.
	if [ -n "$DATA_ONLY" ]; then
		awk '{ last[$1] = $0 } END { for (i in last) print last[i] }' "$work/extents" | sort -n >"$work/data"
		mv "$work/data" "$work/extents"
	fi
	rm -rf "$work/before"
	cp -r --sparse=always "$work/made" "$work/before"
	"$here/damage.pl" write "$work/made" "$step" "$shift" "$@" <"$work/extents" >"$work/places"
	in_range "$(wc -l <"$work/places")" 100 100000 "$profile, devices $*: damaged blocks"
}

# after WHAT COUNT [--env ...] -- ARGUMENT...: both kernels on copies of the disks, and in
# $work/stock.restored and $work/patched.restored what is as it was before the damage; ALONE: the patched one
after() {
	local what=$1 count=$2 which

	shift 2
	for which in ${ALONE:-stock patched}; do
		rm -rf "$work/copy"
		cp -r --sparse=always "$work/made" "$work/copy"
		machine "${!which}" "$work/copy" hdd 1 "$count" "$@" >"$work/$which" 2>"$work/log" ||
			{ not_ok "$what: $which"; diag "$(tail -n 30 "$work/log")"; return 1; }
		"$here/damage.pl" restored "$work/copy" "$work/before" <"$work/places" >"$work/$which.restored"
	done
	rm -rf "$work/copy"
}

# restored WHAT LEAST: as much as by stock, and so much at least
restored() {
	[ -n "$ALONE" ] || is "$(md5sum <"$work/patched.restored")" "$(md5sum <"$work/stock.restored")" "$1: the same blocks are repaired"
	in_range "$(wc -l <"$work/patched.restored")" "$2" 100000 "$1: blocks repaired"
}

# per_device WHAT DEVID...: what each device's scrub has counted, its end and last_physical
per_device() {
	local what=$1 devid

	[ -z "$ALONE" ] || return 0
	shift
	for devid; do
		alike "device$devid" "$what: device $devid of stock and patched"
	done
}

# corrected NAME: the count in stock's or the patched kernel's counters
corrected() {
	value "$1" "$2" | grep -o 'corrected_errors:[0-9]*' | cut -d: -f2
}

# All devices at once. The stock kernel repairs data also while it checks parity, without
# counting it, so its count depends on who comes first; all of it is the most it can be.
repairs() {
	local profile=$1 count=$2 made least=80
	local what="$profile, all devices damaged"

	# shellcheck disable=SC2046
	damaged "$profile" "$count" 65 13 $(seq "$count")
	made_content "$count" "$work/before"
	after "$what" "$count" --env TWICE=yes -- "$here/guest" scrub || return
	restored "$what" 80
	is "$(value patched content)" "$made" "$what: content"
	is "$(value patched status)" 0 "$what: status"
	is "$(value patched again | grep -o 'csum_errors:[0-9]*')" csum_errors:0 "$what: a second scrub finds nothing"
	[ -n "$ALONE" ] || least=$(corrected stock counters)
	in_range "$(corrected patched counters)" "$least" 100000 "$what: counted"
	# shellcheck disable=SC2046
	after "$what" "$count" -- "$here/guest" each $(seq "$count") || return
	restored "$what, one after the other" 80
	# shellcheck disable=SC2046
	per_device "$what, one after the other" $(seq "$count")
}

# A full block group, and one with another number of parities after it: nothing counts in both.
two_profiles() {
	local what='raid5 and raid6'

	CONVERT=raid6 prepare nvme 1 4 big:1600 raid5/raid1
	machine "$patched" "$work/made" nvme 1 4 -- "$here/guest" each 1 2 3 4 >"$work/patched" 2>"$work/log" ||
		{ not_ok "$what"; diag "$(tail -n 30 "$work/log")"; return; }
	is "$(grep -o 'data_bytes:[0-9]*' "$work/patched" | awk -F: '{ s += $2 } END { print s / 1048576 }')" 1600 \
		"$what: MiB of data"
}

# Only one is scrubbed: the others are not repaired but for what its parity needs.
single() {
	damaged "$1" 4 65 13 1 2 3 4
	after "$1, device 3 only" 4 -- "$here/guest" each 3 || return
	restored "$1, device 3 only" 20
	per_device "$1, device 3 only" 3
}

# count stock|patched|whole DEVID NAME: one counter of what that device's scrub has counted
count() {
	value "$1" "device$2" | grep -o "\<$3:[0-9]*" | cut -d: -f2
}

# left_out DEVID: does the stock kernel end, with an error or without, before it has read all?
left_out() {
	[ "$(count stock "$1" data_bytes)" -lt "$(count whole "$1" data_bytes)" ]
}

# More rubbish in a stripe than can be repaired: what cannot be is counted, and parity of it
# is not touched. Stock 6.12 stops the scrub of the device with that parity. Linux 7.3 has lost the error;
# where the last data device of such a stripe has nothing there, it leaves out the rest of
# the chunk. With the series all of it is scrubbed.
beyond_repair() {
	local devid what="$1, beyond repair"

	damaged "$1" 4 201 0 "${@:2}"
	rm -rf "$work/copy"
	cp -r --sparse=always "$work/before" "$work/copy"
	machine "$patched" "$work/copy" hdd 1 4 -- "$here/guest" each 1 2 3 4 >"$work/whole" 2>"$work/log" ||
		{ not_ok "$what: before the damage"; diag "$(tail -n 30 "$work/log")"; return; }
	after "$what" 4 -- "$here/guest" each 1 2 3 4 || return
	restored "$what" 0
	for devid in 1 2 3 4; do
		left_out "$devid" || { per_device "$what" "$devid"; continue; }
		is "$(value patched "device$devid" | cut -d, -f1)" end:finished "$what: end of device $devid"
		is "$(count patched "$devid" data_bytes)" "$(count whole "$devid" data_bytes)" \
			"$what: bytes of device $devid, where stock has left some out"
		in_range "$(count patched "$devid" csum_errors)" "$(count stock "$devid" csum_errors)" 1000 \
			"$what: errors of device $devid, at least as many as by stock"
	done
	after "$1, beyond repair, all at once" 4 -- "$here/guest" late 0 || return
	restored "$1, beyond repair, all at once" 0
	is "$(value patched ends)" finished,finished,finished,finished "$1, beyond repair, all at once: how the scrubs end"
}

# The stock kernel writes parity also in a read-only scrub, computed from damaged data, so
# that the next device's damage is beyond repair.
readonly_scrub() {
	local devid

	damaged raid5 4 65 13 1 2 3 4
	after 'raid5, read-only' 4 --env READONLY=yes -- "$here/guest" each 1 2 3 4 || return
	is "$(wc -l <"$work/patched.restored")" 0 'raid5, read-only: nothing is written'
	for devid in 1 2 3 4; do
		is "$(value patched "device$devid" | grep -o ',csum_errors:[0-9]*')" \
			"$(value stock "device$devid" | grep -o ',csum_errors:[0-9]*')" "raid5, read-only: found on device $devid"
		is "$(value patched "device$devid" | grep -o 'uncorrectable_errors:[0-9]*')" uncorrectable_errors:0 \
			"raid5, read-only: all of device $devid could be repaired"
	done
}

# Scrubs that begin at different times still find everything once, and only once.
late() {
	prepare hdd 1 4 big:100 raid5/raid5
	both hdd 1 4 -- "$here/guest" late 70 || { not_ok 'scrubs that begin late'; return; }
	per_device 'begun 70 ms after each other' 1 2 3 4
}

# Cancelled, resumed, and once more: nothing is lost and nothing counted twice.
resumed() {
	local total

	# Trees are repaired by who happens to read them.
	DATA_ONLY=yes damaged raid5 4 65 13 1 2 3 4
	after 'cancelled' 4 --env TWICE=yes -- "$here/guest" scrub || return
	total=$(corrected patched counters)
	after 'cancelled' 4 -- "$here/guest" resumed "$1" || return
	is "$(value patched first_ends)" cancelled,cancelled,cancelled,cancelled "cancelled after $1 ms"
	is "$(value patched second_ends)" finished,finished,finished,finished 'resumed'
	in_range "$(value patched first)" 1 $((total - 1)) 'cancelled: some was repaired'
	is $(($(value patched first) + $(value patched second))) "$total" 'resumed: the rest was'
	is "$(value patched third)" 0 'once more: nothing left'
}

# Each commit pauses all of it.
paused() {
	prepare hdd 1 4 big:100 raid5/raid5
	both hdd 1 4 --env COMMITS=yes -- "$here/guest" scrub || { not_ok 'beside commits'; return; }
	alike status 'beside commits: status'
	is "$(value patched counters | grep -o 'uncorrectable_errors:[0-9]*')" uncorrectable_errors:0 'beside commits: no errors'
	in_range "$(value patched commits)" 3 1000 'beside commits: there were some'
}

# A limit on one device, or on all: the time is what it stands for, for the 25 MiB of data of each.
limited() {
	prepare hdd 1 4 big:100 raid5/raid5
	both hdd 1 4 --env "DEVICES=$1" -- "$here/guest" limits 10m || { not_ok 'limited'; return; }
	diag "limit of 10 MiB/s on devices $1: ms $(value stock ms)/$(value patched ms)"
	# A device has 25 MiB of data, and a third of that is parity.
	in_range $(($(value patched ms) * 3 / 100)) 95 105 "limited, devices $1: percent of the time this stands for"
}

# Devices of other sizes and kinds, so that chunks are of four stripes and of three.
uneven() {
	local devid

	prepare uneven 1 4 big:600 "$1/$1"
	both uneven 1 4 -- "$here/guest" late 0 || { not_ok "$1, uneven disks"; return; }
	per_device "$1, uneven disks" 1 2 3 4
	both uneven 1 4 --env TWICE=yes -- "$here/guest" scrub || { not_ok "$1, uneven disks"; return; }
	alike counters "$1, uneven disks: counters"
	alike content "$1, uneven disks: content"
	diag "$1, uneven disks: stock/patched ms $(value stock ms)/$(value patched ms)"
	in_range "$(value patched ms)" 1 "$(value stock ms)" "$1, uneven disks: not longer than by stock"
}

# Too few devices have space for another chunk, so that the only block group of trees, and
# that of the chunk tree, stay writeable. Scrub still checks and repairs them.
no_room() {
	local made what='raid6, no space for another chunk'

	prepare small 1 4 big:400 raid6/raid6
	made_content 4
	machine "$patched" "$work/made" small 1 4 -- "$here/guest" extents >"$work/extents" 2>"$work/log"
	in_range "$(awk '{ last[$1] = $2 + $3 } END { print last[3] }' "$work/extents")" $((510 << 20)) $((512 << 20)) \
		"$what: the third device has none"
	rm -rf "$work/before"
	cp -r --sparse=always "$work/made" "$work/before"
	"$here/damage.pl" write "$work/made" 5 0 2 <"$work/extents" >"$work/places"
	machine "$patched" "$work/made" small 1 4 --env TWICE=yes -- "$here/guest" scrub >"$work/patched" 2>"$work/log" ||
		{ not_ok "$what"; diag "$(tail -n 30 "$work/log")"; return; }
	is "$(value patched status)" 0 "$what: scrub goes to the end"
	in_range "$(value patched counters | grep -o 'verify_errors:[0-9]*' | cut -d: -f2)" 1 1000 "$what: errors in trees"
	is "$(value patched content)" "$made" "$what: content"
	is "$(value patched again | grep -oE '(csum|verify|uncorrectable)_errors:[0-9]+' | paste -sd,)" \
		csum_errors:0,verify_errors:0,uncorrectable_errors:0 "$what: a second scrub finds nothing"
	in_range "$("$here/damage.pl" restored "$work/made" "$work/before" <"$work/places" | wc -l)" 1500 100000 \
		"$what: blocks repaired, half of them parity"
}

# clean WHAT NAME: the files are as they were, and scrub finds nothing
clean() {
	is "$(value "$2" content)" "$made" "$1: content"
	is "$(value "$2" again | grep -oE ':[0-9]+' | sort -u)" :0 "$1: a scrub of all finds nothing"
}

# beside WHAT COUNT ARGUMENT...: something is done while scrub goes on
beside() {
	local what=$1 count=$2

	shift 2
	rm -rf "$work/copy"
	cp -r --sparse=always "$work/made" "$work/copy"
	machine "$patched" "$work/copy" hdd 1 "$count" --env MEMBERS="$members" -- "$here/guest" "$@" \
		>"$work/patched" 2>"$work/log" || { not_ok "$what"; diag "$(tail -n 30 "$work/log")"; return 1; }
	diag "$what: $(grep -E '^(status|ends)' "$work/patched" | paste -sd' ')"
	is "$(value patched status)" 0 "$what: done"
	clean "$what" patched
	rm -rf "$work/copy"
}

# made_content COUNT [DISKS]: sets `made`, the content of what was made, as the stock kernel reads it
made_content() {
	rm -rf "$work/copy"
	cp -r --sparse=always "${2:-$work/made}" "$work/copy"
	machine "$stock" "$work/copy" hdd 1 "$1" --env TWICE=yes -- "$here/guest" scrub >"$work/stock" 2>"$work/log" &&
		made=$(value stock content) && [ -n "$made" ] ||
		{ diag "$(tail -n 30 "$work/log")"; bail_out 'the content of what was made cannot be read'; }
}

# The device that reads for all is taken away, or one that is not scrubbed itself is replaced
# while the others read it, early and late.
leader_goes() {
	local made members after

	DISKS=4 prepare hdd 1 5 big:100 raid5/raid5
	made_content 5
	members=4
	for after in ${leader:-5 60 150}; do
		beside "device 1 is removed after $after ms" 5 removed "$after" 1
		beside "device 1 is replaced after $after ms" 5 replaced "$after" 1 /dev/labde
	done
}

# Some wait before a chunk for one that is slow and not there yet, when a device of that chunk is removed.
device_goes_from_who_waits() {
	local made members after

	DISKS=4 prepare hdd 1 5 small:100 raid5/raid5
	made_content 5
	for after in ${waiting:-100 300 1000}; do
		beside "others wait, device 5 is removed after $after ms" 5 waited "$after" || continue
		is "$(value patched still)" 1 "others wait, device 5 is removed after $after ms: before the slow one has come"
	done
}

# What one has repaired in memory only needs the parity, which the others leave as it is.
one_reads_only() {
	local made what="$1, device 1 read-only"

	DATA_ONLY=yes damaged "$1" 4 16 1 1 2 3 4
	made_content 4 "$work/before"
	rm -rf "$work/copy"
	cp -r --sparse=always "$work/made" "$work/copy"
	machine "$patched" "$work/copy" hdd 1 4 -- "$here/guest" reader 1 >"$work/patched" 2>"$work/log" ||
		{ not_ok "$what"; diag "$(tail -n 30 "$work/log")"; return; }
	is "$(value patched ends)" finished,finished,finished,finished "$what: ends"
	is "$(value patched content)" "$made" "$what: content"
	is "$(value patched again | grep -o 'uncorrectable_errors:[0-9]*')" uncorrectable_errors:0 "$what: all can be repaired"
}

# With roles, trees are on some of the disks and data on others.
roles() {
	local made
	local ROLES='1=metadata-only 2=metadata-preferred 5=data-only'

	machine "$patched" "$work/made" hdd 1 1 -- /bin/ls /sys/fs/btrfs/features >"$work/features" 2>"$work/log" ||
		bail_out 'cannot list the features of the kernel'
	grep -qx device_role "$work/features" ||
		{ skip "$1 with roles: a kernel of the topic alone"; return; }
	stock=$patched prepare hdd 1 6 small:20 "$1/raid1"
	stock=$patched made_content 6
	machine "$patched" "$work/made" hdd 1 6 -- "$here/guest" extents >"$work/extents" 2>"$work/log"
	# Data is repaired from parity; device 1 has no data.
	awk '{ last[$1] = $0 } END { for (i in last) print last[i] }' "$work/extents" | sort -n >"$work/data"
	"$here/damage.pl" write "$work/made" 65 13 3 4 5 6 <"$work/data" >"$work/places"
	in_range "$(wc -l <"$work/places")" 50 100000 "$1 with roles: damaged blocks"
	machine "$patched" "$work/made" hdd 1 6 --env TWICE=yes -- "$here/guest" scrub >"$work/patched" 2>"$work/log" ||
		{ not_ok "$1 with roles"; diag "$(tail -n 30 "$work/log")"; return; }
	in_range "$(corrected patched counters)" 20 100000 "$1 with roles: repaired"
	is "$(value patched content)" "$made" "$1 with roles: content"
	is "$(value patched again | grep -oE '(csum|uncorrectable)_errors:[0-9]+' | paste -sd,)" \
		csum_errors:0,uncorrectable_errors:0 "$1 with roles: a second scrub finds nothing"
}

# A disk is missing: scrub goes to the end, calls no good block bad, and writes nothing
# to the missing device.
missing() {
	local devid

	prepare hdd 1 4 small:20 "$1/$1"
	rm "$work/made/labdd.img"
	both hdd 1 3 --env DEGRADED=yes -- "$here/guest" each 1 2 3 || { not_ok "$1, a disk missing"; return; }
	for devid in 1 2 3; do
		in_range "$(value patched "device$devid" | grep -o 'data_bytes:[0-9]*' | cut -d: -f2)" \
			"$(value stock "device$devid" | grep -o 'data_bytes:[0-9]*' | cut -d: -f2)" 1000000000 \
			"$1, a disk missing: bytes of device $devid, at least as many as by stock"
		is "$(value patched "device$devid" | grep -o 'read_errors:.*')" \
			"$(value stock "device$devid" | grep -o 'read_errors:.*')" "$1, a disk missing: errors of device $devid"
		is "$(value patched "device$devid" | cut -d, -f1)" end:finished "$1, a disk missing: end of device $devid"
	done
	in_range "$(value patched told)" 1 100 "$1, a disk missing: the log says that parity cannot be checked"
	is "$(value patched write_errors)" 0 "$1, a disk missing: no write to it is tried"
}

# replace MODEL PROFILE: copies one member. At most a few commits come before it that stock does without (fixes/0032),
# so there has to be some data.
replace() {
	DISKS=4 compare "replace in $2, $1" 0.97 "$1" 5 big:400 "$2/$2" -- replace content counters check
	is "$(value patched check)" clean "replace in $2, $1: btrfs check"
}

# The source is read in the order of its addresses, parity too. A disk of this model loses a revolution for
# each way back; how much that is depends on the seed, and the third one's is the most.
in_order() {
	local -a seeds=(3)

	replace track raid5
}

# alone MODEL PROFILE: one device, by itself
alone() {
	prepare "$1" 1 4 big:100 "$2/$2"
	both "$1" 1 4 -- "$here/guest" each 2 || { not_ok "one device, $2, $1"; return; }
	diag "one device, $2, $1: stock/patched ms $(value stock ms)/$(value patched ms)"
	per_device "one device, $2, $1" 2
	in_range "$(value patched ms)" 1 "$(value stock ms)" "one device, $2, $1: not longer than by stock"
}

# speed MODEL PROFILE COUNT LOAD LEAST
speed() {
	compare "$4 in $2 of $3, $1" "$5" "$1" "$3" "$4" "$2" -- scrub counters status
}

# In the middle of a chunk is what CI has time for.
[ -z "$ALONE" ] || leader=60 waiting=300
repairs raid5 4
repairs raid6 4
two_profiles
resumed 100
leader_goes
device_goes_from_who_waits
one_reads_only raid5
one_reads_only raid6
roles raid5
no_room
[ -z "$ALONE" ] || { done_testing; exit; }

beyond_repair raid5 1 2
readonly_scrub
single raid6
repairs raid6 6
single raid5
beyond_repair raid6 1 2 3
uneven raid5
uneven raid6
late
paused
limited 2
limited 1,2,3,4
missing raid5
missing raid6
for profile in raid5 raid6; do
	speed hdd $profile 4 big:100 3
	speed slow $profile 4 big:100 3
	speed hdd $profile 4 small:40 3
	# Trees are on some of the disks only, and those are late at the data.
	speed hdd $profile/raid1 4 small:40 3
	for model in one plain ssd nvme; do
		speed $model $profile 4 big:100 1
		speed $model $profile/raid1 4 small:40 1
	done
	replace hdd $profile
done
for model in hdd plain ssd nvme; do
	alone $model raid5
done
speed hdd raid6 6 big:200 3
speed plain raid6 6 small:40 1
speed nvme raid6 6 big:200 1
replace ssd raid6
replace track raid6
in_order
done_testing

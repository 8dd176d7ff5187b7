# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What tests inside the lab share, beside TAP: arrays, caches, measurements in virtual
# time.  Source it with `. "$LAB_LIB"`.  Sizes are MiB unless a name says
# otherwise.  Must stay usable from any kernel the lab boots, stock ones too.

LAB_MNT=${LAB_MNT:-/mnt}
LAB_UUID=${LAB_UUID:-b7f5c0de-1ab0-4d15-8000-000000000001}
. "$(dirname "${BASH_SOURCE[0]}")/../../tap.sh"

# --- time ---

# Nanoseconds of virtual time.
lab_now() {
	date +%s%N
}

# lab_time COMMAND...: milliseconds of virtual time it took, on stdout
lab_time() {
	local start

	start=$(lab_now)
	"$@" >/dev/null || return
	echo $((($(lab_now) - start) / 1000000))
}

# --- disks ---

lab_disks() {
	local d

	for d in /sys/block/labd?; do
		[ -e "$d" ] && echo "/dev/${d##*/}"
	done
}

# lab_stat DEVICE NAME
lab_stat() {
	awk -v n="$2" '$1 == n { print $2 }' "/sys/block/${1##*/}/lab/stats"
}

# lab_reset [DEVICE...]: start the counts again, of all without arguments
lab_reset() {
	local d

	for d in ${*:-$(lab_disks)}; do
		echo 0 >"/sys/block/${d##*/}/lab/stats"
	done
}

# lab_load DEVICE PERCENT [MILLISECONDS]: the share that is someone else's
lab_load() {
	echo "$2 ${3:-}" >"/sys/block/${1##*/}/lab/load"
}

# lab_slow DEVICE PERCENT: 100 as built, 1000 ten times slower
lab_slow() {
	echo "$2" >"/sys/block/${1##*/}/lab/slow"
}

# lab_power DEVICE on|cut|"cut keep"|"cut random SEED"|"no flush"
lab_power() {
	echo "$2" >"/sys/block/${1##*/}/lab/power"
}

# lab_add SPEC and lab_pull DEVICE: plug in, pull out
lab_add() {
	echo "$1" >/sys/module/labdisk/parameters/add
}

lab_pull() {
	echo "${1##*/}" >/sys/module/labdisk/parameters/remove
}

# --- file systems ---

# lab_mkfs PROFILE[/METADATA_PROFILE] DEVICE...: always the same UUID
lab_mkfs() {
	local data=${1%/*} meta=${1#*/} said

	shift
	# Quiet is not quite quiet in every version.
	said=$(mkfs.btrfs -q -f -K -U "$LAB_UUID" -d "$data" -m "$meta" "$@" 2>&1) ||
		{ echo "$said" >&2; return 1; }
}

# lab_mount DEVICE [OPTIONS]
lab_mount() {
	mount -t btrfs ${2:+-o "$2"} "$1" "$LAB_MNT"
}

lab_sysfs() {
	echo "/sys/fs/btrfs/$LAB_UUID"
}

# lab_wipe DEVICE...: the file system there is forgotten by everyone. For two
# seconds libblkid believes what its cache says, and mkfs refuses a UUID it knows.
lab_wipe() {
	wipefs -qa "$@" && btrfs device scan --forget && rm -f /run/blkid/blkid.tab*
}

# Every file system here has one UUID, so nothing of the last one may be left.
lab_fresh() {
	! mountpoint -q "$LAB_MNT" || umount "$LAB_MNT" || return
	lab_wipe $(lab_disks)
}

# lab_store FILE: stdin in one write(2); says "taken" or the name of the error
lab_store() {
	perl -MErrno -MFcntl -e 'local $/; my $data = <STDIN> // "";
		my $file;
		my $done = sysopen($file, $ARGV[0], O_WRONLY) && defined syswrite($file, $data);
		print $done ? "taken" : (sort grep { $!{$_} } keys %!)[0], "\n"' "$1"
}

# lab_take_all FILE: allocates files FILE1, FILE2, ... until there is no space for another one. Fails if
# there is none for the first, or on any other error.
lab_take_all() {
	local n said

	for n in $(seq 400); do
		said=$(fallocate -l 8M "$1$n" 2>&1) && continue
		[ "$n" -gt 1 ] && [[ $said == *'No space left on device' ]] && return
		echo "file $n: $said"
		return 1
	done
	echo 'there is still space'
	return 1
}

# lab_commit: writes metadata and commits it
lab_commit() {
	mkdir -p "$LAB_MNT/folder" && sync && rmdir "$LAB_MNT/folder"
}

# lab_start_commits: commits in the background, one after the other, until one fails or lab_stop_commits
lab_start_commits() {
	rm -f /tmp/commits
	while lab_commit; do echo >>/tmp/commits; done 2>/tmp/commit_error &
	lab_committer=$!
}

# lab_stop_commits: ok if there were commits and none failed
lab_stop_commits() {
	local status=0

	kill $lab_committer 2>>/tmp/commit_error && [ -s /tmp/commits ] || status=1
	wait $lab_committer 2>/dev/null
	result $status "commits go on meanwhile ($(cat /tmp/commits 2>/dev/null | wc -l))" /tmp/commit_error
}

# lab_small_files DIR COUNT BYTES [XATTR_BYTES]: files that live in metadata, with
# ballast beside them; says "all" or the error that ended it
lab_small_files() {
	perl -e 'my ($dir, $count, $bytes, $ballast) = @ARGV;
		my $data = join("", map { chr(rand(256)) } 1 .. 65536);
		my ($content, $extra, $name) = (substr($data, 0, $bytes), substr($data, 0, $ballast), "user.ballast");
		sub check { return if $_[0]; print "$!\n"; exit }
		check(-d $dir || mkdir($dir));
		for my $n (1 .. $count) {
			check(open(my $file, ">", "$dir/$n"));
			check(defined syswrite($file, $content));
			# fsetxattr()
			check(syscall(190, fileno($file), $name, $extra, length($extra), 0) == 0) if $ballast;
			check(close($file));
		}
		print "all\n"' "$1" "$2" "$3" "${4:-0}"
}

# lab_null_disks MIB N: disks in memory, /dev/disk1 to N, whose configfs can take away sectors and power
lab_null_disks() {
	local disk n

	mount -t configfs none /sys/kernel/config || return
	for n in $(seq "$2"); do
		disk=/sys/kernel/config/nullb/disk$n
		mkdir "$disk" && echo "$1" >"$disk/size" && echo 1 >"$disk/memory_backed" && echo 1 >"$disk/power" || return
	done
}

# lab_last_chunk DEVICE: "DEVID SECTOR" of each stripe of the last chunk
lab_last_chunk() {
	btrfs inspect-internal dump-tree -t chunk "$1" | awk '
		$1 == "item" { out = "" }
		$1 == "stripe" { out = out $4 " " $6 / 512 "\n" }
		END { printf "%s", out }'
}

# Is it still the writable file system that was mounted?
lab_writable() {
	grep -q " $LAB_MNT btrfs rw" /proc/mounts &&
		! dmesg | grep -iE 'transaction aborted|forced readonly|remounting'
}

# lab_chunks DEVICE: every chunk as "KIND PROFILE BYTES DEVID...", as another program reads it from disk
lab_chunks() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
	btrfs inspect-internal dump-tree -t chunk "$1" | awk '
		function flush() {
			if (kind != "")
				print kind, profile, bytes devids
			kind = devids = ""
		}
		/ CHUNK_ITEM / { flush() }
		$1 == "length" {
			n = split($NF, part, "|")
			kind = part[1]
			profile = n > 1 ? part[2] : "single"
			bytes = $2
		}
		$1 == "stripe" && $3 == "devid" { devids = devids " " $4 }
		END { flush() }'
}

# lab_devids DEVICE KIND...: devids with a part of a chunk of these kinds, each once
lab_devids() {
	lab_chunks "$1" | grep -E "^($(IFS='|'; echo "${*:2}")) " | cut -d' ' -f4- | xargs -n1 | sort -nu | xargs
}

# Does scrub end well, without an error that it has repaired?
lab_scrub() {
	local said status=0

	said=$(btrfs scrub start -B "$LAB_MNT" 2>&1) || status=$?
	[ $status = 0 ] && grep -q 'no errors found' <<<"$said" && return
	echo "$said"
	return 1
}

# Nothing may stay accounted as in flight once all is quiet.
lab_idle() {
	local try

	sync
	if [ -e /sys/fs/btrfs/features/read_policy_roundrobin ] && ! grep -q '^load_ns' "$(lab_sysfs)"/devinfo/*/read_stats; then
		echo 'no device says what is in flight'
		return 1
	fi
	for try in $(seq 100); do
		cat "$(lab_sysfs)"/devinfo/*/read_stats | grep -q '^load_ns [1-9]' || return 0
		sleep 0.05
	done
	grep -H load_ns "$(lab_sysfs)"/devinfo/*/read_stats
	return 1
}

# Nothing of any file stays in memory; afterwards disks are idle.
lab_drop_caches() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
}

# lab_warm FILE...: a block of every leaf of their checksums is read past the page cache, so
# that what finds the data is in memory and nothing else
lab_warm() {
	python3 -c '
import mmap, os, sys
page = mmap.mmap(-1, 4096)
for name in sys.argv[1:]:
    file = os.open(name, os.O_RDONLY | os.O_DIRECT)
    for at in range(0, os.fstat(file).st_size, 8 << 20):
        os.preadv(file, [page], at)' "$@"
}

# lab_readahead KIB
lab_readahead() {
	echo "$1" >"$(lab_sysfs)/bdi/read_ahead_kb"
}

# lab_fill FILE MIB [SEED]: content that is the same in every run
lab_fill() {
	lab_stream "${3:-1}" "$2" >"$1"
}

# lab_stream SEED MIB: numbered lines, cheap to make and never two blocks alike
lab_stream() {
	yes "seed $1 of a stream that fills a disk with text" | cat -n |
		head -c "${2}M"
}

# lab_sum FILE...: one line of checksum each, and never the same for what cannot be read
lab_sum() {
	{ sha256sum "$@" || echo "unreadable-$RANDOM$RANDOM"; } | cut -d' ' -f1
}

# --- measurements ---

# lab_average COMMAND...: of what it says five times.  Who meets whom at which disk, and
# where the platters stand then, is chance, also where it comes out the same each time:
# it is another figure on another host.
lab_average() {
	for _ in 1 2 3 4 5; do
		"$@"
	done | awk '{ sum += $1 } END { print sum / NR }'
}

# lab_read_rate FILE...: MiB/s of virtual time, read one after the other
lab_read_rate() {
	local start end bytes

	bytes=$(stat -c %s "$@" | awk '{ s += $1 } END { print s }')
	start=$(lab_now)
	cat "$@" >/dev/null || return
	end=$(lab_now)
	awk -v b="$bytes" -v ns=$((end - start)) \
		'BEGIN { printf "%.1f\n", b / 1048576 / (ns / 1e9) }'
}

# lab_fio ARGUMENT...: fio on the lab's clock, with fixed random numbers
lab_fio() {
	LD_PRELOAD=/run/lab/spin.so fio --clocksource=clock_gettime \
		--randseed=1 --thread=0 "$@"
}

# lab_measure FIO_ARGUMENT...: a line "job read-MiB/s read-IOPS p99-ms
# write-MiB/s write-IOPS p99-ms fsync-p50-ms fsync-p99-ms fsync-max-ms" a job
lab_measure() {
	lab_fio --output-format=json "$@" | python3 -c '
import json, sys

def ms(lat, rank):
    return lat.get("percentile", {}).get(rank, 0) / 1e6

for job in json.load(sys.stdin)["jobs"]:
    line = [job["jobname"]]
    for way in ("read", "write"):
        part = job[way]
        line += ["%.1f" % (part["bw_bytes"] / 1048576), "%.1f" % part["iops"],
                 "%.3f" % ms(part["clat_ns"], "99.000000")]
    sync = job["sync"].get("lat_ns", {})
    line += ["%.3f" % ms(sync, "50.000000"), "%.3f" % ms(sync, "99.000000"),
             "%.3f" % (sync.get("max", 0) / 1e6)]
    print(*line)'
}

# lab_fsync_latency DIRECTORY [COUNT]: "p50 p99 max" in ms of 4 KiB appends
lab_fsync_latency() {
	lab_measure --name=fsync --directory="$1" --rw=write --bs=4k \
		--size=$((${2:-100} * 4))k --fsync=1 --ioengine=psync |
		awk '{ print $8, $9, $10 }'
}

# Can metadata grow to more than ten times its size?
lab_metadata_has_space() {
	btrfs --format json device policy usage -c "$LAB_MNT" | tr -d ' ,"' |
		awk -F: '$1 == "metadata-used" { used = $2 } $1 == "metadata-more" { more = $2 }
			END { exit !(used && more >= 10 * used) }'
}

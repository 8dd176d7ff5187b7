# SPDX-License-Identifier: GPL-2.0-only
"""What is measured: arrays, workloads, policies and which goes with which.

Tables only.  A disk of an array is a specification as tests/lab/README.md has
it, without size and seed; a workload is what fio is told.
"""

HDD, SSD, NVME = "hdd:", "ssd:", "nvme:"
SLOW = "hdd:rpm=5400,rate=120M,seek=1.2ms,stroke=18ms"
LOADED = "hdd:load=70,load_period=100ms"

# name: (profile, disks, title)
ARRAYS = {
    "2hdd": ("raid1", [HDD] * 2, "2 HDD, RAID1"),
    "3hdd": ("raid1c3", [HDD] * 3, "3 HDD, RAID1C3"),
    "4hdd": ("raid1c4", [HDD] * 4, "4 HDD, RAID1C4"),
    "raid10": ("raid10", [HDD] * 4, "4 HDD, RAID10"),
    "hdd+slow": ("raid1", [HDD, SLOW], "HDD of 217 and of 120 MiB/s, RAID1"),
    "2hdd-loaded": ("raid1", [LOADED, HDD], "2 HDD, one 70 % busy with other work, RAID1"),
    "3hdd-loaded": ("raid1c3", [LOADED, HDD, HDD], "3 HDD, one 70 % busy with other work, RAID1C3"),
    "2hdd+ssd": ("raid1c3", [HDD, HDD, SSD], "2 HDD and SATA SSD, RAID1C3"),
    "hdd+ssd": ("raid1", [HDD, SSD], "HDD and SATA SSD, RAID1"),
    "ssd+nvme": ("raid1", [SSD, NVME], "SATA SSD and NVMe, RAID1"),
    "2ssd": ("raid1", [SSD] * 2, "2 SATA SSD, RAID1"),
    "2nvme": ("raid1", [NVME] * 2, "2 NVMe, RAID1"),
    "3ssd": ("raid1c3", [SSD] * 3, "3 SATA SSD, RAID1C3"),
    "3nvme": ("raid1c3", [NVME] * 3, "3 NVMe, RAID1C3"),
    "2ssd+nvme": ("raid1c3", [SSD, SSD, NVME], "2 SATA SSD and NVMe, RAID1C3"),
    "raid10-ssd": ("raid10", [SSD] * 4, "4 SATA SSD, RAID10"),
}

# f0 is for those who read alone, the others for one stream each.
FILES = [640] + [96] * 8
# Workloads that end in "-long" have f0 only: what happens once, at the start, weighs less.
# It fits into memory, or what finds the data would be read again and again.
LONG_FILES = [1600]


MEMORY, LONG_MEMORY = "1200M", "2600M"


def is_long(workload):
    return workload.endswith("-long")


def streams(count, *options):
    """`count` sequential readers of a file each."""
    jobs = []
    for n in range(count):
        jobs += ["--name=s%d" % n, "--filename=f%d" % (n + 1 if count > 1 else 0),
                 *(options or ("--rw=read", "--bs=128k"))]
    return jobs


def random(depth, jobs=1, size="4k", seconds=3):
    """Direct random reads of the large file; the fewer at once, the longer it takes to have enough of them."""
    return ["--name=r", "--filename=f0", "--rw=randread", "--bs=" + size, "--direct=1",
            "--ioengine=libaio", "--iodepth=%d" % depth, "--numjobs=%d" % jobs,
            "--runtime=%d" % seconds, "--time_based",
            "--number_ios=20000"]


def beside():
    """A stream with random reads of another file beside it; the stream is what counts."""
    return ["--name=s0", "--filename=f0", "--rw=read", "--bs=128k", "--runtime=2500ms",
            "--name=r", "--filename=f8", "--rw=randread", "--bs=4k", "--direct=1",
            "--ioengine=libaio", "--iodepth=4", "--runtime=2500ms", "--time_based"]


# name: (title, what counts, readahead in KiB or 0, fio arguments)
WORKLOADS = {
    "seq1": ("1 stream", "MiB/s", 0, streams(1)),
    "seq1-cold": ("1 stream, metadata not in memory either", "MiB/s", 0, streams(1)),
    "seq8-cold": ("8 streams, metadata not in memory either", "MiB/s", 0, streams(8)),
    "seq1-8M": ("1 stream, readahead 8 MiB", "MiB/s", 8192, streams(1)),
    "seq1-16M": ("1 stream, readahead 16 MiB", "MiB/s", 16384, streams(1)),
    "seq1-long": ("1 stream of 1600 MiB", "MiB/s", 0, streams(1)),
    "seq1-16M-long": ("1 stream of 1600 MiB, readahead 16 MiB", "MiB/s", 16384, streams(1)),
    "seq2": ("2 streams", "MiB/s", 0, streams(2)),
    "seq3": ("3 streams", "MiB/s", 0, streams(3)),
    "seq4": ("4 streams", "MiB/s", 0, streams(4)),
    "seq8": ("8 streams", "MiB/s", 0, streams(8)),
    "dio1": ("1 stream, direct 1 MiB", "MiB/s", 0,
             streams(1, "--rw=read", "--bs=1M", "--direct=1")),
    "dio1M4": ("1 stream, direct 1 MiB QD4", "MiB/s", 0,
               streams(1, "--rw=read", "--bs=1M", "--direct=1",
                       "--ioengine=libaio", "--iodepth=4")),
    "dio128k4": ("1 stream, direct 128 KiB QD4", "MiB/s", 0,
                 streams(1, "--rw=read", "--bs=128k", "--direct=1",
                         "--ioengine=libaio", "--iodepth=4")),
    "dio64k": ("1 stream, direct 64 KiB QD8", "MiB/s", 0,
               streams(1, "--rw=read", "--bs=64k", "--direct=1",
                       "--ioengine=libaio", "--iodepth=8")),
    "rand1": ("random 4 KiB QD1", "IOPS", 0, random(1, seconds=20)),
    "rand1-long": ("random 4 KiB QD1 in 1600 MiB", "IOPS", 0, random(1, seconds=20)),
    "rand2": ("random 4 KiB QD2", "IOPS", 0, random(2, seconds=10)),
    "rand3": ("random 4 KiB QD3", "IOPS", 0, random(3, seconds=10)),
    "rand4": ("random 4 KiB QD4", "IOPS", 0, random(4, seconds=10)),
    "rand6": ("random 4 KiB QD6", "IOPS", 0, random(6)),
    "rand8": ("random 4 KiB QD8", "IOPS", 0, random(8)),
    "rand16": ("random 4 KiB QD16", "IOPS", 0, random(16)),
    "rand32": ("random 4 KiB QD32", "IOPS", 0, random(32)),
    "rand8x1": ("random 4 KiB, 8 jobs", "IOPS", 0, random(1, jobs=8)),
    "rand64k": ("random 64 KiB, 4 jobs QD64", "MiB/s", 0, random(64, jobs=4, size="64k")),
    "rand256k": ("random 256 KiB QD4", "MiB/s", 0, random(4, size="256k", seconds=6)),
    "mix1": ("1 stream beside random 4 KiB QD4", "MiB/s", 0, beside()),
    # The jobs of the announcement of the first roundrobin patches, 2021.
    "ann1": ("1 job, buffered 64 KiB", "MiB/s", 0, streams(1, "--rw=read", "--bs=64k")),
    "ann8": ("8 jobs on one file, buffered 64 KiB", "MiB/s", 0,
             ["--name=s", "--filename=f0", "--rw=read", "--bs=64k", "--numjobs=8"]),
}

_HARD = ["seq1", "seq2", "seq3", "seq4", "seq8", "rand1", "rand4", "rand32", "rand256k", "mix1"]
_FLASH = ["seq1", "seq2", "seq8", "dio1", "rand1", "rand32", "rand64k"]

# array: workloads
CELLS = {
    "2hdd": _HARD + ["seq1-long", "seq1-16M"],
    "3hdd": _HARD + ["seq1-cold", "seq8-cold", "seq1-8M", "seq1-16M", "seq1-16M-long", "rand1-long", "dio1",
                     "dio64k", "rand8x1", "ann1", "ann8"],
    "4hdd": ["seq1", "seq2", "seq4", "seq8", "rand1", "rand32", "rand256k"],
    "raid10": ["seq1", "seq2", "seq4", "seq8", "rand1", "rand32"],
    "hdd+slow": ["seq1", "seq2", "seq4", "rand1", "rand32", "dio1", "dio64k"],
    "2hdd-loaded": ["seq1", "seq3", "rand1", "rand32"],
    "3hdd-loaded": ["seq1", "seq1-long", "seq1-16M", "seq3", "rand1", "rand32"],
    "2hdd+ssd": ["seq1", "seq4", "seq8", "rand1", "rand32", "rand256k", "mix1", "ann1", "ann8"],
    "hdd+ssd": ["seq1", "seq2", "rand1", "rand32"],
    "ssd+nvme": _FLASH,
    "2ssd": _FLASH,
    "2nvme": _FLASH,
}

# What everybody is interested in first, and what a change of the policy moves.
QUICK = {
    "3hdd": ["seq1", "seq3", "seq8", "rand1"],
    "3hdd-loaded": ["seq1"],
    "2hdd+ssd": ["seq1"],
    "ssd+nvme": ["seq1"],
}

# md is md raid1 over the same disks; those after it are in rivals.patch only.
POLICIES = ["pid", "roundrobin", "md", "least-queue", "latency", "first-roundrobin"]
SEEDS = [1, 2, 3]


def policies(array):
    """md mirrors over all disks, so it is nothing to compare RAID10 with."""
    return [p for p in POLICIES if p != "md" or ARRAYS[array][0] != "raid10"]

# What roundrobin has to reach: (what, its cell, at least that many times the reference, the reference's
# name, (how its figures go together, (times, array, workload, column)...)).
GOALS = [
    ("3 HDD, 1 stream", ("3hdd", "seq1"), 2.0, "`pid`", (max, (1, "3hdd", "seq1", "pid best"))),
    ("3 HDD, 1 stream, readahead 16 MiB", ("3hdd", "seq1-16M"), 2.6, "`pid`",
     (max, (1, "3hdd", "seq1-16M", "pid best"))),
    ("the same, file of 1600 MiB", ("3hdd", "seq1-16M-long"), 2.6, "`pid`",
     (max, (1, "3hdd", "seq1-16M-long", "pid best"))),
    ("3 HDD, 3 streams", ("3hdd", "seq3"), 0.97, "3 disks, one each (`pid`)", (max, (1, "3hdd", "seq3", "pid best"))),
    ("3 HDD, 8 streams", ("3hdd", "seq8"), 0.95, "best of `pid` and md",
     (max, (1, "3hdd", "seq8", "pid best"), (1, "3hdd", "seq8", "md"))),
    ("3 HDD, random 4 KiB QD1", ("3hdd", "rand1"), 1.2, "`pid`", (max, (1, "3hdd", "rand1", "pid best"))),
    ("the same, file of 1600 MiB", ("3hdd", "rand1-long"), 1.2, "`pid`",
     (max, (1, "3hdd", "rand1-long", "pid best"))),
    ("3 HDD, one loaded, 1 stream", ("3hdd-loaded", "seq1"), 4.0, "worst `pid`",
     (max, (1, "3hdd-loaded", "seq1", "pid worst"))),
    ("the same", ("3hdd-loaded", "seq1"), 0.9, "two free disks", (max, (1, "2hdd", "seq1", "roundrobin"))),
    ("the same, file of 1600 MiB", ("3hdd-loaded", "seq1-long"), 0.9, "two free disks",
     (max, (1, "2hdd", "seq1-long", "roundrobin"))),
    ("the same, readahead 16 MiB", ("3hdd-loaded", "seq1-16M"), 0.9, "two free disks",
     (max, (1, "2hdd", "seq1-16M", "roundrobin"))),
    ("2 HDD + SSD, 1 stream", ("2hdd+ssd", "seq1"), 2.7, "worst `pid`", (max, (1, "2hdd+ssd", "seq1", "pid worst"))),
    ("SSD + NVMe, 1 stream", ("ssd+nvme", "seq1"), 0.97, "SSD and NVMe",
     (sum, (1, "ssd+nvme", "seq1", "pid worst"), (1, "ssd+nvme", "seq1", "pid best"))),
    ("SSD + NVMe, random 4 KiB QD32", ("ssd+nvme", "rand32"), 1.0, "NVMe",
     (max, (1, "ssd+nvme", "rand32", "pid best"))),
    ("2 SSD, 1 stream", ("2ssd", "seq1"), 0.99, "best other", None),
    ("2 SSD, random 4 KiB QD32", ("2ssd", "rand32"), 0.99, "best other", None),
    ("2 NVMe, 1 stream", ("2nvme", "seq1"), 0.99, "best other", None),
    ("2 NVMe, random 4 KiB QD32", ("2nvme", "rand32"), 0.99, "best other", None),
]

# MiB/s that the announcement of the first roundrobin patches gave, 2021: (pid, roundrobin).
# Under pid on 2 HDD and SSD it is the worst and the best of its runs.
ANNOUNCED = {
    ("3hdd", "ann1"): ("217", "409"),
    ("3hdd", "ann8"): ("1569", "1733"),
    ("2hdd+ssd", "ann1"): ("220 to 513", "541"),
    ("2hdd+ssd", "ann8"): ("1843", "2485"),
}

# Why a goal is missed, where it is: from traces of the choices.
MISSED = {
    ("3hdd", "seq1-16M"): "longer slices give 557, but leave a disk that becomes slow later than after 100 ms",
    ("3hdd", "seq1-16M-long"): "the same",
}

# Why roundrobin is below the best of the others, where it is.
CAUSES = {}

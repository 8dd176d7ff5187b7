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
}

# f0 is for those who read alone, the others for one stream each.
FILES = [640] + [96] * 8


def streams(count, *options):
    """`count` sequential readers of a file each."""
    jobs = []
    for n in range(count):
        jobs += ["--name=s%d" % n, "--filename=f%d" % (n + 1 if count > 1 else 0),
                 *(options or ("--rw=read", "--bs=128k"))]
    return jobs


def random(depth, jobs=1, size="4k", seconds=3):
    """Direct random reads of the large file."""
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
    "seq2": ("2 streams", "MiB/s", 0, streams(2)),
    "seq3": ("3 streams", "MiB/s", 0, streams(3)),
    "seq4": ("4 streams", "MiB/s", 0, streams(4)),
    "seq8": ("8 streams", "MiB/s", 0, streams(8)),
    "dio1": ("1 stream, direct 1 MiB", "MiB/s", 0,
             streams(1, "--rw=read", "--bs=1M", "--direct=1")),
    "dio64k": ("1 stream, direct 64 KiB QD8", "MiB/s", 0,
               streams(1, "--rw=read", "--bs=64k", "--direct=1",
                       "--ioengine=libaio", "--iodepth=8")),
    "rand1": ("random 4 KiB QD1", "IOPS", 0, random(1)),
    "rand4": ("random 4 KiB QD4", "IOPS", 0, random(4)),
    "rand32": ("random 4 KiB QD32", "IOPS", 0, random(32)),
    "rand8x1": ("random 4 KiB, 8 jobs", "IOPS", 0, random(1, jobs=8)),
    "rand64k": ("random 64 KiB, 4 jobs QD64", "MiB/s", 0, random(64, jobs=4, size="64k")),
    "mix1": ("1 stream beside random 4 KiB QD4", "MiB/s", 0, beside()),
    # The jobs of the announcement of the first roundrobin patches, 2021.
    "ann1": ("1 job, buffered 64 KiB", "MiB/s", 0, streams(1, "--rw=read", "--bs=64k")),
    "ann8": ("8 jobs on one file, buffered 64 KiB", "MiB/s", 0,
             ["--name=s", "--filename=f0", "--rw=read", "--bs=64k", "--numjobs=8"]),
}

_HARD = ["seq1", "seq2", "seq3", "seq4", "seq8", "rand1", "rand4", "rand32", "mix1"]
_FLASH = ["seq1", "seq2", "seq8", "dio1", "rand1", "rand32", "rand64k"]

# array: workloads
CELLS = {
    "2hdd": _HARD,
    "3hdd": _HARD + ["seq1-cold", "seq8-cold", "seq1-8M", "seq1-16M", "dio1", "dio64k", "rand8x1", "ann1", "ann8"],
    "4hdd": ["seq1", "seq2", "seq4", "seq8", "rand1", "rand32"],
    "raid10": ["seq1", "seq2", "seq4", "seq8", "rand1", "rand32"],
    "hdd+slow": ["seq1", "seq2", "seq4", "rand1", "rand32"],
    "2hdd-loaded": ["seq1", "seq3", "rand1", "rand32"],
    "3hdd-loaded": ["seq1", "seq3", "rand1", "rand32"],
    "2hdd+ssd": ["seq1", "seq4", "seq8", "rand1", "rand32", "mix1", "ann1", "ann8"],
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

# Why roundrobin is below the best of the others, where it is.
CAUSES = {}

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What the read policy is worth in some cells of the simulation, three seeds each: at least so many times `pid` at
# its best first process id, which is the harder rule.  `make bench-sim` prints all cells.
. "${top_srcdir:?}/tests/tap.sh"

# cell ARRAY/WORKLOAD TIMES [COLUMN RIVAL]
cell() {
	local figures

	read -ra figures < <("${top_builddir:?}/tests/sim/sim" -b -s 3 "$1" | tail -n 1)
	in_range "${figures[${3:-6}]}" "$2" 100 "$1 over ${4:-pid}"
}

cell 3hdd/seq1 1.9
cell 3hdd/seq1-16M 2.2
cell 3hdd/seq3 0.97
cell 3hdd/seq8 0.97
cell 3hdd/small3 0.97
cell 3hdd/small3-cold 0.97
cell 3hdd/small2 0.97
cell 3hdd/small6 2
cell 3hdd/tiny3 0.97
# One reader of a source tree.
cell 3hdd/source1-cold 1.5
cell 3hdd/rand1 1.1
cell 2hdd/seq1 1.5
cell 2hdd/small2 0.97
cell 2hdd/small4 1.5
cell 4hdd/small4 0.97
cell raid10/seq2-cold 0.97
cell queue1/seq1 1.3
cell unequal/seq1 1.2
cell 3hdd-loaded/seq3 2
cell raid10/small4 2.5
cell hdd+ssd/seq1 1.1
cell 2hdd+ssd/small3 0.97
cell hdd+ssd/rand1 0.97
# A stream beside single reads of the SSD: the geometric mean of both.
cell 2hdd+ssd/mix1 0.97 7 'the best rival'
cell ssd+nvme/seq1 1.1
cell ssd+nvme/rand32 1.01
cell 2nvme/rand32 1.2
cell hdd+ssd/rand128 0.97
cell ssd+nvme/rand128 1.01
cell 2nvme/rand128 1.2
# In a deep queue on hard disks a long seek delays all who wait.
cell 3hdd/rand32 1 7 'the best rival'
cell 4hdd/rand32 1 7 'the best rival'
cell unequal/mix1 0.97 7 'the best rival'

"$top_srcdir/tests/sim/ablation" --fits
result $? 'the list of make bench-ablation fits the sources'
done_testing

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""functions.py SERIAL COUNTS SYSTEM_MAP: what count.c counted, by function.

Says for each number of readers how many instructions of one read more or less
there are in which function under roundrobin than under pid, and how many cache
lines the policy's functions wrote on more than one processor: two of each device.
"""
import bisect
import collections
import statistics
import sys


def symbols(path):
    lines = (line.split() for line in open(path))
    return sorted((int(addr, 16), name) for addr, kind, name in lines if kind in "tTwW")


def windows(path):
    """What stands behind each end of a measurement: instructions by address, lines written."""
    counts, lines, kind = collections.Counter(), {}, None
    for line in open(path):
        word = line.split()
        if word[0] == "mark":
            if kind == "2":
                yield counts, lines
            counts, lines, kind = collections.Counter(), {}, word[1]
        elif word[0] == "line":
            lines[int(word[1], 16)] = int(word[2], 16)
        else:
            counts[int(word[0], 16)] += int(word[1])
    if kind == "2":
        yield counts, lines


def by_function(counts, table, reads):
    starts = [addr for addr, _ in table]
    sums = collections.Counter()
    for addr, n in counts.items():
        i = bisect.bisect(starts, addr) - 1
        sums["programs" if addr < 1 << 63 or i < 0 else table[i][1]] += n / reads
    return sums


def measurements(serial, counts, table):
    """{(readers, policy): [(instructions by function, shared lines)]}; every second run only warms up."""
    said = [line.split() for line in open(serial) if line.startswith("cost ")]
    ends = list(windows(counts))[1::2]
    if len(ends) != len(said):
        sys.exit(f"functions: {len(said)} measurements, {len(ends)} of them counted")
    found = collections.defaultdict(list)
    for (_, readers, policy, _), (instructions, lines) in zip(said, ends):
        shared = sum(mask & (mask - 1) != 0 for mask in lines.values())
        found[int(readers), policy].append((by_function(instructions, table, 4000 * int(readers)), shared))
    return found


def compare(pid, roundrobin):
    """Functions that differ in every round by more than they do from round to round."""
    for name in sorted(set().union(*(sums for sums, _ in pid + roundrobin))):
        a, b = [s[name] for s, _ in pid], [s[name] for s, _ in roundrobin]
        if min(b) > max(a) + 2 or min(a) > max(b) + 2:
            yield statistics.median(a), statistics.median(b), name


def main():
    found = measurements(sys.argv[1], sys.argv[2], symbols(sys.argv[3]))
    for readers in sorted({readers for readers, _ in found}):
        pid, roundrobin = found[readers, "pid"], found[readers, "roundrobin"]
        total = [statistics.median(sum(s.values()) for s, _ in runs) for runs in (pid, roundrobin)]
        rows = sorted(compare(pid, roundrobin), key=lambda row: row[0] - row[1])
        rest = total[1] - total[0] - sum(b - a for a, b, _ in rows)
        print(f"\n| {readers} readers: function | pid | roundrobin | more |\n|---|---|---|---|")
        for a, b, name in rows:
            print(f"| `{name}` | {a:.0f} | {b:.0f} | {b - a:+.0f} |")
        print(f"| all others together | | | {rest:+.0f} |\n| a read | {total[0]:.0f} | {total[1]:.0f} | {total[1] - total[0]:+.0f} |")
        print(f"\nCache lines written by the policy on several processors: {max(n for _, n in roundrobin)}")


main()

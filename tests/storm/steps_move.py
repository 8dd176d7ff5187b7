# SPDX-License-Identifier: GPL-2.0-only
#
# Moves of single stripes to other devices, and what is asked of the kernel meanwhile.
import collections
import errno
import os
import random
import subprocess

import checks
import layout
import machine
from base import Step
from machine import Finding, MNT, Result
from steps_device import short_of_space

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../lab/machine/move-stripes')
SNAPSHOT = MNT + '/moving'
# Commands that run in the middle of a list.
MEANWHILE = {
    'cancel': [TOOL, 'cancel'],
    'signal': ['pkill', '-TERM', '-f', 'move-stripes start'],
    'freeze': ['sh', '-c', 'fsfreeze -f %s; fsfreeze -u %s' % (MNT, MNT)],
    'scrub': ['btrfs', 'scrub', 'start', '-B', MNT],
    'snapshot': ['sh', '-c', 'btrfs subvolume snapshot %s/v %s && btrfs subvolume delete -c %s' %
                 (MNT, SNAPSHOT, SNAPSHOT)],
    'trim': ['fstrim', MNT],
    'move': [TOOL, 'start', '1:0:1'],
    'balance': ['btrfs', 'balance', 'start', '-dusage=0', '-musage=0', MNT],
    'remount': ['sh', '-c', 'mount -o remount,ro %s && mount -o remount,rw %s' % (MNT, MNT)],
}
# What they may do to an item.
ENDS = {'cancel': 'ECANCELED canceled', 'signal': 'EINTR canceled', 'freeze': 'EAGAIN frozen', 'remount': 'EROFS ok'}
WRONG = ['chunk', 'stripe', 'device', 'taken']


def draw_items(rng):
    """What each item depends on; the chunks are those that there are when it is moved."""
    return [{'seed': rng.randrange(1 << 30), 'wrong': rng.choice(WRONG) if rng.random() < 0.1 else ''}
            for _ in range(rng.choice([1, 2, 4, 8]))]


def resolve(m, item, tree, target):
    """(chunk, stripe, devid): each kind and profile is as likely as others."""
    rng = random.Random(item['seed'])
    for _ in range(4):      # most of them should be possible
        kind = rng.choice(sorted({c.kind for c in tree.chunks.values()}))
        profile = rng.choice(sorted(tree.profiles(kind)))
        c = rng.choice([c for _, c in sorted(tree.chunks.items()) if c.kind == kind and c.profile.name == profile])
        nr = rng.randrange(len(c.stripes))
        free = [d for d in sorted(m.devs) if d != c.stripes[nr][0] and (d not in c.devids() or profile == 'dup')]
        good = [d for d in free if d in m.present() and hole(d, tree) >= c.stripe_bytes()]
        if good:
            break
    devid = rng.choice((good if rng.random() < 0.9 else free) or sorted(m.devs))
    if target in good and rng.random() < 0.5:
        devid = target
    wrong = {'chunk': (c.start + layout.UNIT, nr, devid), 'stripe': (c.start, len(c.stripes), devid),
             'device': (c.start, nr, 1000), 'taken': (c.start, nr, rng.choice(c.devids()))}
    return wrong.get(item['wrong'], (c.start, nr, devid))


def start(m, a):
    """The command for it, and its items."""
    tree = machine.chunk_tree()
    items = [resolve(m, item, tree, a.get('devid')) for item in a['items']]
    words = ['%d:%d:%d' % item for item in items]
    return [TOOL, 'start', 'each=1', 'limit=%d' % a.get('limit', 0), *words], items, tree


def hole(devid, *trees):
    """Bytes of the largest extent of a device that is free in all these trees, without super blocks."""
    total, at, largest = trees[0].devices[devid].total, layout.RESERVED, 0
    taken = {(offset, offset + c.stripe_bytes()) for tree in trees for c in tree.chunks.values()
             for d, offset in c.stripes if d == devid}
    taken |= {(offset, offset + layout.UNIT) for offset in (64 << 20, 256 << 30)}
    for begin, end in [*sorted(taken), (total, total)]:
        largest = max(largest, min(begin, total) - at)
        at = max(at, end)
    return largest


class Move(Step):
    name, weight, moves = 'move', 6, True
    needs, loads = ('writable', 'movable'), ('inplace',)

    def draw(self, m, rng):
        return {'items': draw_items(rng), 'devid': rng.choice(m.present()),
                'meanwhile': rng.choice(['', *MEANWHILE]), 'wait': rng.choice([1, 3, 10, 30, 100, 300]),
                'limit': rng.choice([0, 5, 50]) << 20}

    def act(self, m, a):
        words, items, before = start(m, a)
        m.moved = {chunk for chunk, _, _ in items}
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) as child:
            if a['meanwhile']:
                self.meanwhile(m, a, child)
            try:
                out = child.communicate(timeout=machine.HANG)[0].decode()
            except subprocess.TimeoutExpired:
                child.kill()
                raise Finding('hang: move', machine.stacks()) from None
        rows = out.strip().split('\n')[:-1]
        if rows == ['EBUSY exclusive-operation']:
            return Result(child.returncode, out)
        self.judge(m, a, items, rows, before, machine.chunk_tree())
        m.tally = collections.Counter('moved' if row == 'ok ok' else row for row in rows)
        return Result(0, out, nothing='ok ok' not in rows)

    def refused(self, m, a, before):
        return 'exclusive-operation' if m.busy else None

    def upset(self, a):
        return (errno.EROFS,) if a['meanwhile'] == 'remount' else ()

    def meanwhile(self, m, a, child):
        what, wait = a['meanwhile'], a['wait']
        # It might not become writable again; as a freeze with a device that fails.
        if what == 'remount' and not m.whole() or what == 'freeze' and m.failing():
            return
        while True:
            machine.sleep(wait)
            if child.poll() is not None:
                return
            held = self.running(m)
            result = machine.run(*MEANWHILE[what])
            held = held and self.running(m)
            if what == 'scrub':
                checks.scrubbed(m, result.out, False)
            if held and (what in ('move', 'balance') and result.status == 0 or
                         what == 'move' and 'exclusive-operation' not in result.out):
                raise Finding('accepted: %s beside a move' % what, result.text())
            wait = 200

    @staticmethod
    def running(m):
        return machine.read(machine.sysfs(m.uuid) + '/exclusive_operation') == 'move stripes'

    def judge(self, m, a, items, rows, before, after):
        """Is each refusal right, and each stripe where it was moved to?"""
        places = {c.start: [d for d, _ in c.stripes] for c in before.chunks.values()}
        for item, row in zip(items, rows):
            chunk, nr, devid = item
            want = self.refusal(m, item, places, before)
            if row == 'ok ok' and not want:
                places[chunk][nr] = devid
            elif row != want and not self.excused(m, a, items, item, row, before, after):
                raise Finding('move: %s, expected %s' % (row, want or 'ok'), '%s of %s: %s' % (item, items, rows))
        for start_, c in after.chunks.items():
            old = before.chunks.get(start_) if start_ < self.stable(before, after) else None
            if old and [d for d, _ in c.stripes] != places[start_]:
                raise Finding('move: places', 'chunk %d: %s, expected devids %s; %s %s' % (
                    start_, c.stripes, places[start_], items, rows))
            for nr, (was, now) in enumerate(zip(old.stripes, c.stripes) if old else ()):
                if was != now and not any(item[:2] == (start_, nr) for item in items):
                    raise Finding('move: places', 'chunk %d, stripe %d: %s, was %s' % (start_, nr, now, was))

    @staticmethod
    def stable(before, after):
        """Chunks below this address are the same ones: the end is used again when the last ones have gone."""
        return max([start_ for start_, c in after.chunks.items()
                    if start_ in before.chunks and before.chunks[start_].stripes == c.stripes] + [0])

    @staticmethod
    def refusal(m, item, places, before):
        """What must be refused, or None."""
        chunk, nr, devid = item
        on, writable = places.get(chunk, []), m.present() + m.failing()
        if nr >= len(on):
            return 'ENOENT no-chunk'
        if devid not in m.devs:
            return 'ENODEV no-device'
        if devid not in writable or on[nr] not in writable:
            return 'EROFS no-device'
        if devid == on[nr] or devid in on and before.chunks[chunk].profile.name != 'dup':
            return 'EEXIST target-has-stripe'
        return None

    @staticmethod
    def excused(m, a, items, item, row, before, after):
        """What may be refused."""
        chunk, _, devid = item
        # The cleaner takes empty chunks away, and what moves makes others necessary, at the same address.
        again = chunk >= Move.stable(before, after)
        if row == ENDS.get(a['meanwhile']):
            return True
        if row == 'ENOENT no-chunk':
            return chunk not in after.chunks or again
        if row in ('EEXIST target-has-stripe', 'ok ok'):
            return again
        if row == 'ETXTBSY swap-file':
            return bool(m.swap)
        if row == 'EIO target-error':
            return devid in m.failing()
        if row == 'EIO unrepairable':
            return not m.whole()
        if row == 'ENOSPC no-space':
            # Loads make chunks and let others go, so does a system chunk that moves, for its tree blocks,
            # and a stripe that moves here and on has a place that is neither in before nor in after.
            earlier, stripes = items[:items.index(item)], [i[:2] for i in items]
            passing = any(i[2] == devid and stripes.count(i[:2]) > 1 for i in earlier)
            others = a.get('beside') or a['meanwhile'] == 'balance' or passing or any(
                before.chunks[c].kind == 'system' for c, _, _ in [*earlier, item] if c in before.chunks)
            return bool(others) or hole(devid, before, after) < before.chunks[chunk].stripe_bytes()
        if row == 'ENOSPC not-read-only':
            # Roles that a load sets leave less space for a while.
            return m.full or 'roles' in a.get('beside', ()) or short_of_space(m, before)
        return False


STEPS = [Move()]

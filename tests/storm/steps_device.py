# SPDX-License-Identifier: GPL-2.0-only
#
# Steps that change which devices there are, and their sizes.
import errno
import subprocess

import layout
import machine
from base import FEWER, Step, btrfs, no_space
from machine import Finding, MNT

MIB = 1 << 20


def space_without(m, before, devids):
    """Could the chunks of these devices find space on the others?  None, or why
    it is short.  Loads and roles that change may have put a chunk there since."""
    return lacking(m, before, devids) or lacking(m, machine.chunk_tree(), devids)


def lacking(m, before, devids):
    """By kind; with a margin of one chunk."""
    writable = [d for d in m.present() if d not in devids]
    for kind in ('mixed', 'metadata', 'data', 'system'):
        for profile in before.profiles(kind):
            need = sum(c.length for c in before.chunks.values()
                       if c.kind == kind and c.profile.name == profile and
                       set(c.devids()) & set(devids))
            if not need:
                continue
            largest = max(c.length for c in before.chunks.values() if c.kind == kind)
            space = before.space(kind, profile, writable)
            if space < need + largest + 64 * MIB:
                return '%s is short of space' % kind
            if kind == 'data' and m.ballast and narrow(layout.PROFILES[profile], writable):
                return 'no chunk holds the largest extent'
    return None


def narrow(profile, writable):
    """Has what was moved so far left chunks across all devices that are smaller than an extent
    of fallocate, which is moved whole?"""
    now = machine.chunk_tree()
    free = [now.devices[d].free() for d in writable if now.devices[d].free() > MIB]
    width = len(free) - len(free) % profile.step - profile.parity
    return profile.striped and bool(free) and min(free) * width // profile.copies < 256 * MIB


def writable_kinds(m, before):
    """Roles may leave a kind no device at all after force or a loss."""
    for kind in ('data', 'metadata'):
        for profile in before.profiles(kind):
            fit = [d for d in m.present() if m.mixed() or
                   layout.rank(m.devs[d]['role'], kind) is not None]
            if len(fit) < layout.PROFILES[profile].least:
                return 'no device for %s' % kind
    return None


def short_of_space(m, before):
    """Is there no space for one more chunk of some kind?"""
    for kind in ('data', 'metadata', 'mixed', 'system'):
        for profile in before.profiles(kind):
            largest = max(c.length for c in before.chunks.values() if c.kind == kind)
            if before.space(kind, profile, m.present()) < largest + (64 << 20):
                return '%s is short of space' % kind
    # Data that is moved may take what was left for the chunk that takes the place of the last one,
    # and a metadata chunk that roles want elsewhere what data needs.
    now = machine.chunk_tree()
    for kind in ('metadata', 'data', 'mixed'):
        for profile in now.profiles(kind):
            if now.space(kind, profile, m.present()) < 64 << 20:
                return '%s has become short of space' % kind
    # An extent of fallocate is moved whole, and a chunk has a tenth of its first choice at most.
    if not m.ballast:
        return writable_kinds(m, before)
    sizes = {d: now.devices[d].total for d in m.present() if d in now.devices}
    first = sum(size for d, size in sizes.items() if layout.rank(now.devices[d].role, 'data') == 0)
    if first // 10 < 256 * MIB <= sum(sizes.values()) // 10:
        return 'roles make no chunk that holds the largest extent'
    for kind in 'data', 'mixed':
        extent = min(256 * MIB, max((c.length for c in before.chunks.values() if c.kind == kind), default=0))
        if any(now.largest(kind, p, m.present()) < extent for p in now.profiles(kind)):
            return 'no chunk that fits holds the largest extent'
    return writable_kinds(m, before)


def new_devid(m):
    new = set(machine.chunk_tree().devices) - set(m.devs)
    if len(new) != 1:
        raise Finding('devices', 'new devids: %s' % sorted(new))
    return new.pop()


class Add(Step):
    name, weight = 'add', 6

    def choice(self, m):
        return m.free_slots()

    def fits(self, m, a):
        return m.slots[a['slot']]['state'] == 'spare'

    def draw(self, m, rng):
        return {'slot': rng.choice(m.free_slots()),
                'role': rng.choice([None] + layout.ROLES) if not m.mixed() else None}

    def act(self, m, a):
        dev = m.slots[a['slot']]['dev']
        machine.run('wipefs', '-qa', dev)
        if a['role'] and not m.stock():
            return machine.add_with_role(dev, a['role'])
        return btrfs('device', 'add', '-f', '-K', dev, MNT)

    def excuse(self, m, a, result, before):
        if no_space(result) and m.full:
            return 'full'
        return None

    def effect(self, m, a, result):
        m.slots[a['slot']]['state'] = 'member'
        role = 'data-preferred' if m.stock() else a['role'] or 'data-preferred'
        m.devs[new_devid(m)] = {'slot': a['slot'], 'role': role, 'seed': False,
                                'size': m.slots[a['slot']]['size']}
        m.full = False


class Remove(Step):
    name, weight, moves, loose = 'remove', 6, True, FEWER
    needs = ('writable', 'unpaused')

    def candidates(self, m):
        return m.present() + m.missing() + m.seeds() if len(m.devs) > 1 else []

    def choice(self, m):
        return self.candidates(m)

    def fits(self, m, a):
        return a['devid'] in self.candidates(m) and (a['by'] != 'missing' or m.missing())

    def draw(self, m, rng):
        devid = rng.choice(self.candidates(m))
        if m.missing() and rng.random() < 0.6:
            devid = m.missing()[0]
        ways = ['path', 'devid'] if m.devs[devid]['slot'] is not None else ['devid', 'missing']
        return {'devid': devid, 'by': rng.choice(ways)}

    def act(self, m, a):
        name = {'devid': str(a['devid']), 'missing': 'missing'}.get(a['by'])
        return btrfs('device', 'remove', name or m.slot_of(a['devid'])['dev'], MNT)

    def refused(self, m, a, before):
        return m.refuses_removal(before, a['devid'])     # asked before the swap file is

    def excuse(self, m, a, result, before):
        if no_space(result):
            return space_without(m, before, [a['devid']]) or writable_kinds(m, before)
        if m.cancelled and 'canceled' in result.out:
            return 'a cancel is left over'
        if m.swap and 'busy' in result.out.lower():
            return 'swap file'
        return None

    def failed(self, m, a, result):
        m.cancelled &= 'canceled' not in result.out     # it is left over no more

    def effect(self, m, a, result):
        slot = m.devs[a['devid']]['slot']
        if a['by'] == 'missing':    # the kernel chooses which
            left = set(machine.chunk_tree().devices)
            gone = [d for d in m.missing() if d not in left]
            if len(gone) != 1:
                raise Finding('devices', 'missing and removed: %s' % gone)
            del m.devs[gone[0]]
            return
        del m.devs[a['devid']]
        if slot is not None:
            m.slots[slot]['state'] = 'spare'


class Replace(Step):
    name, weight, moves, spills = 'replace', 8, True, True
    needs, loose = ('writable', 'unpaused'), FEWER
    noise = r'bdev .* errs:|lost super block write|i/o error'

    def targets(self, m, devid):
        return [i for i in m.free_slots() if m.slots[i]['size'] >= m.devs[devid]['size']]

    def expected(self, m):
        return self.noise if m.whole() else self.noise + '|csum failed'

    def sources(self, m):
        return [d for d in m.ours() if self.targets(m, d) and m.present()]

    def choice(self, m):
        return self.sources(m)

    def fits(self, m, a):
        return a['devid'] in m.ours() and a['slot'] in self.targets(m, a['devid'])

    def draw(self, m, rng):
        weak = [d for d in self.sources(m) if d in m.lost()]
        devid = rng.choice(weak if weak and rng.random() < 0.8 else self.sources(m))
        return {'devid': devid, 'slot': rng.choice(self.targets(m, devid)),
                'read': rng.random() < 0.4, 'cancel': rng.choice([None, None, None, 5, 60]),
                'suspend': rng.choice([None, None, 5, 60, 200])}

    def upset(self, a):
        return (errno.EROFS,) if a.get('suspend') else ()

    def act(self, m, a):
        dev = m.slots[a['slot']]['dev']
        machine.run('wipefs', '-qa', dev)
        words = ['btrfs', 'replace', 'start', '-B', '-f', '-K'] + (['-r'] if a['read'] else [])
        words += [str(a['devid']), dev, MNT]
        if not a['cancel']:
            return suspended(words, a['suspend']) if a.get('suspend') else machine.run(*words)
        result = machine.interrupted(words, ['btrfs', 'replace', 'cancel', MNT], a['cancel'])
        a['canceled'] = result.status != 0 and 'cancel' in result.out
        return machine.Result(0, '') if a['canceled'] else result

    def excuse(self, m, a, result, before):
        if a.get('suspend') and 'Read-only file system' in result.out:
            return 'read-only before it began'
        if no_space(result):
            return self.short(m, before)
        if m.swap and 'Text file busy' in result.out:
            return 'swap file'
        if 'Input/output error' in result.out and m.failing() != [a['devid']] and m.failing() and \
                any(c.profile.parity for c in before.chunks.values()):
            return 'parity cannot be checked while another device fails'
        return None

    @staticmethod
    def short(m, before):
        """The stock kernel makes each block group read-only, and needs space for that; with
        roles in force the series has to find a way, but metadata of RAID5/6 cannot be copied writeable."""
        if sum(before.devices[d].free() for d in m.present() if d in before.devices) < 64 * MIB:
            return 'no space at all'
        if m.mixed() or all(m.devs[d]['role'] == 'data-preferred' for d in m.present()) or \
                any(c.kind == 'metadata' and c.profile.parity for c in before.chunks.values()):
            return short_of_space(m, before)
        # Of mixed kind all devices are, whatever their roles: data is never copied writeable.
        now = machine.chunk_tree()
        if any(now.space('mixed', p, m.present()) < 64 * MIB for p in now.profiles('data')):
            return 'data is short of space on all devices together'
        return None

    def effect(self, m, a, result):
        if a.get('canceled'):
            return
        dev = m.devs[a['devid']]
        if dev['slot'] is not None:
            old = m.slots[dev['slot']]
            old['state'] = 'gone' if old['state'] == 'failing' else 'spare'
        dev['slot'] = a['slot']
        m.slots[a['slot']]['state'] = 'member'


def suspended(words, wait):
    """A replace that a remount read-only suspends, as a shutdown does, and that goes on when it
    may write.  Files that a load has open refuse the remount; then nothing comes between."""
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as child:
        machine.sleep(wait)
        refused = machine.run('mount', '-o', 'remount,ro', MNT).status
        out = child.communicate()[0].decode(errors='replace')
    if refused:
        return machine.Result(child.returncode, out)
    machine.must('mount', '-o', 'remount,rw', MNT)
    status = btrfs('replace', 'status', MNT)    # waits for the end
    return machine.Result(child.returncode or ' finished on ' not in status.out, out + status.out)


class Resize(Step):
    name, weight, moves, loose = 'resize', 5, True, FEWER
    needs = ('writable', 'unpaused')

    def choice(self, m):
        return m.present()

    def fits(self, m, a):
        return a['devid'] in m.present() and a['size'] <= m.slot_of(a['devid'])['size']

    def draw(self, m, rng):
        devid = rng.choice(m.present())
        most = m.slot_of(devid)['size']
        size = rng.choice([most, most * rng.randint(40, 100) // 100, m.devs[devid]['size'] - 20 * MIB])
        return {'devid': devid, 'size': max(size, 80 * MIB) // 4096 * 4096 if size < most else most}

    def refused(self, m, a, before):
        return 'Invalid argument' if a['size'] < 256 * MIB else None

    def act(self, m, a):
        size = 'max' if a['size'] == m.slot_of(a['devid'])['size'] else str(a['size'])
        return btrfs('filesystem', 'resize', '%d:%s' % (a['devid'], size), MNT)

    def excuse(self, m, a, result, before):
        if no_space(result) and a['size'] < m.devs[a['devid']]['size']:
            freed = before.devices[a['devid']].free()
            if freed < m.devs[a['devid']]['size'] - a['size'] + 64 * MIB:
                return space_without(m, before, [a['devid']]) or writable_kinds(m, before) or \
                    'the device is short of space'
            return space_without(m, before, [a['devid']])
        if m.cancelled and 'canceled' in result.out:
            return 'a cancel is left over'
        if m.swap and 'busy' in result.out.lower():
            return 'swap file'
        return None

    failed = Remove.failed

    def effect(self, m, a, result):
        m.devs[a['devid']]['size'] = a['size'] // 4096 * 4096


STEPS = [Add(), Remove(), Replace(), Resize()]

# SPDX-License-Identifier: GPL-2.0-only
#
# Mounts and what goes wrong with disks: remount, freeze, lost devices, errors,
# power cuts.
import errno
import os

import checks
import content
import layout
import machine
import mounting
import steps_move
from base import Step, btrfs, no_space
from machine import Finding, MNT, Result
from steps_balance import mend
from steps_device import short_of_space
from steps_role import Tag

CRASH_NOISE = (r'errno=-5|errno=-30|forced readonly|ransaction aborted \(error -(5|30)\)|bdev .* errs:|'
               r'lost super block write|i/o error|remounting read-only|Skipping commit')
ROT_NOISE = CRASH_NOISE + (r'|csum failed|transid|checksum|corrupt|read error corrected|bad tree block|fixup|'
                           r'level verify')


class Cycle(Step):
    """Unmount, look at the devices from outside, mount again, perhaps otherwise."""
    name, weight, moves, besides = 'cycle', 5, True, False
    needs = ('answering',)

    def draw(self, m, rng):
        return {'opts': mounting.draw_options(m, rng), 'check': rng.random() < 0.3}

    def act(self, m, a):
        mounting.unmount(m)
        checks.unmounted(m)
        if a['check']:
            checks.check(m)
        return mounting.mount(m, a['opts'])


class Remount(Step):
    name, weight, needs = 'remount', 4, ()
    upsets = (errno.EROFS,)

    def draw(self, m, rng):
        if m.mount['ro']:
            return {'opts': 'rw'}
        return {'opts': rng.choice(['ro', 'ro', 'rw,discard=async', 'rw,nodiscard', 'rw,compress=zstd:1',
                                    'rw,compress=none', 'rw,metadata_ratio=4', 'rw,metadata_ratio=0',
                                    'rw,noatime,commit=1'])}

    def act(self, m, a):
        return machine.run('mount', '-o', 'remount,' + a['opts'], MNT)

    def refused(self, m, a, before):
        return None

    def excuse(self, m, a, result, before):
        if a['opts'] == 'ro' and 'busy' in result.out and (a.get('beside') or m.swap):
            return 'files are open for writing'
        if a['opts'] == 'rw' and m.lost() and not before.readable_without(m.lost()):
            return 'too many devices are missing'
        return None

    def effect(self, m, a, result):
        if a['opts'] == 'ro':
            m.manifest.synced()
        if a['opts'] == 'rw' and m.mount['ro'] and m.busy:
            m.busy = mounting.resumed()
        m.mount['ro'] = a['opts'] == 'ro'


class Freeze(Step):
    name, weight = 'freeze', 2
    # With a device that fails the stock kernel finds its super block changed.
    needs = ('writable', 'answering')

    def draw(self, m, rng):
        return {'wait': rng.choice([1, 50, 300])}

    def act(self, m, a):
        result = machine.run('fsfreeze', '-f', MNT)
        if result.status:
            return result
        machine.sleep(a['wait'])
        return machine.run('fsfreeze', '-u', MNT)


class Lose(Step):
    """A disk is pulled out while the file system is not mounted."""
    name, weight, moves, besides = 'lose', 5, True, False
    needs, few = ('answering', 'undamaged', 'unpaused', 'several'), True

    def candidates(self, m):
        now = machine.chunk_tree()
        return [d for d in m.present() if may_go(now, m, d, self.few)]

    def choice(self, m):
        return self.candidates(m)

    def fits(self, m, a):
        """The commit may put new chunks on the device: first that, then the answer."""
        os.sync()
        return a['devid'] in self.candidates(m)

    def draw(self, m, rng):
        return {'devid': rng.choice(self.candidates(m)), 'pull': rng.random() < 0.3}

    def act(self, m, a):
        mounting.unmount(m)
        slot = m.slot_of(a['devid'])
        slot['pulled'] = a.get('pull', True)
        if slot['pulled']:
            machine.pull(slot['dev'])
        else:
            machine.power(slot['dev'], 'cut')
        slot['state'] = 'gone'
        m.devs[a['devid']]['slot'] = None
        return mounting.mount(m, '')


class Fail(Step):
    """A disk stops answering while the file system is in use."""
    name, weight, moves = 'fail', 3, True
    needs, few = Lose.needs + ('writable', 'copied'), False
    noise = CRASH_NOISE

    candidates, choice, draw, fits = Lose.candidates, Lose.choice, Lose.draw, Lose.fits

    def act(self, m, a):
        os.sync()
        slot = m.slot_of(a['devid'])
        machine.power(slot['dev'], 'cut')
        slot['state'] = 'failing'
        os.sync()
        return Result(0, '')


class Glitch(Step):
    """A disk fails all requests for a while and comes back with what it has."""
    name, weight, moves = 'glitch', 3, True
    noise = ROT_NOISE

    needs, few = Fail.needs + ('complete',), True
    candidates, choice, draw, fits = Lose.candidates, Lose.choice, Lose.draw, Lose.fits

    def act(self, m, a):
        dev = m.slot_of(a['devid'])['dev']
        os.sync()
        machine.power(dev, 'cut keep')
        m.damaged = True
        for i in range(4):
            path = 'v/' + m.name('g')
            change = ('write', 0, 100000 * i + 100, m.count)
            try:
                with open(os.path.join(MNT, path), 'wb') as file:
                    file.write(content.produce(change[3], change[2]))
                m.manifest.change(path, change)
            except OSError as error:    # roles that change leave no space
                if error.errno != errno.ENOSPC:
                    raise
                if os.path.exists(os.path.join(MNT, path)):
                    os.unlink(os.path.join(MNT, path))
        os.sync()
        machine.power(dev, 'on')
        os.sync()       # scrub sees only what is committed
        return mend(m)

    def excuse(self, m, a, result, before):
        return None


def may_go(now, m, devid, few=False):
    """Is everything readable without the device, and will it stay so?  With
    parity the stock kernel loses writes: no.  few: it takes no new chunk, and fewer
    devices than those need may be left."""
    lost = m.lost() | {devid}
    left = len(set(m.ours()) - lost)    # those of a seed take none
    for kind in ('data', 'metadata', 'system', 'mixed'):
        for profile in now.profiles(kind):
            p = layout.PROFILES[profile]
            if p.parity or not few and (not p.lost or p.least > left):
                return False
    return all(sum(1 for d, _ in c.stripes if d in lost) <= c.profile.lost * c.profile.stripes and
               c.survives(lost) for c in now.chunks.values())


class PowerCut(Step):
    """All disks lose power at once while something is written or changed."""
    name, weight, moves, besides = 'powercut', 5, True, False
    noise = CRASH_NOISE

    needs = ('writable', 'complete', 'undamaged', 'swapless')

    def draw(self, m, rng):
        tag = Tag().draw(m, rng)
        return {'how': rng.choice(['cut', 'cut keep', 'cut random %d' % rng.randint(1, 99)]),
                'wait': rng.choice([0, 3, 10, 20, 40, 80, 200]),
                'during': rng.choice(['', 'tag', 'balance'] + ['move'] * 2 * m.movable()),
                'items': steps_move.draw_items(rng), 'roles': tag['roles'], 'seed': rng.randint(1, 1 << 30), 'fsync': rng.random() < 0.5}

    def fits(self, m, a):
        return all(int(d) in m.ours() for d in a['roles'])

    def act(self, m, a):
        mounting.sync(m)
        try:
            self.workload(m, a)
        except OSError as error:    # no power cut either
            mounting.sync(m)
            return Result(error.errno, error.strerror)
        child = machine.Background(lambda n: self.during(m, a, n), 5)
        machine.sleep(a['wait'])
        paths = [s['dev'] for s in m.slots if s['state'] in ('member', 'spare')]
        machine.dark(True)
        for dev in paths:
            machine.power(dev, a['how'])
        machine.dark(False)
        child.stop()
        mounting.leave()
        for dev in paths:
            machine.power(dev, 'on')
        # The kernel does not flush when it invalidates a removed device.
        for slot in m.free_slots():
            machine.run('wipefs', '-qa', m.slots[slot]['dev'])
        opts = m.mount['opts']
        m.mount = None
        result = mounting.mount(m, opts)
        if result.status:
            raise Finding('no mount after a power cut', result.text())
        wrong = content.recover(MNT, m.manifest)
        if wrong:
            raise Finding('contents after a power cut', '\n'.join(wrong[:20]))
        self.adopt(m, a)
        if a['during'] == 'move':
            m.moved = set(machine.chunk_tree().chunks)
        m.busy = mounting.resumed()
        # All but the first copy of a super block are written without a flush: the next commit writes them.
        os.utime(MNT)
        mounting.sync(m)
        return Result(0, '')

    def excuse(self, m, a, result, before):
        if no_space(result):
            return short_of_space(m, before) or ((m.full or m.ballast or m.stranded) and 'no space') or None
        return None

    def during(self, m, a, n):
        if n:
            return
        if a['during'] == 'tag' and not m.mixed():
            machine.set_roles({int(d): role for d, role in a['roles'].items()}, False)
        elif a['during'] == 'move':
            machine.run(*steps_move.start(m, a)[0])
        elif a['during'] == 'balance':
            btrfs('balance', 'start', '--full-balance', MNT)

    @staticmethod
    def workload(m, a):
        for i in range(8):
            path = 'v/' + m.name('p')
            change = ('write', 0, (a['seed'] + 7919 * i * i) % 300000 + 1, a['seed'] + i)
            m.manifest.change(path, change)
            try:
                with open(os.path.join(MNT, path), 'wb', buffering=0) as file:
                    if file.write(content.produce(change[3], change[2])) < change[2]:
                        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                    if a['fsync'] and i % 2:
                        os.fsync(file.fileno())
                        m.manifest.synced(path)
            except OSError:
                if os.path.exists(os.path.join(MNT, path)):
                    os.unlink(os.path.join(MNT, path))
                m.manifest.delete(path)
                raise

    @staticmethod
    def adopt(m, a):
        """Roles are all old or all new."""
        if m.stock():
            return
        got = {d: role for d, role in machine.roles(m.uuid).items() if d in m.ours()}
        old = {d: m.devs[d]['role'] for d in m.ours()}
        new = {**old, **{int(d): r for d, r in a['roles'].items() if int(d) in old}}
        if got not in (old, new) or (got != old and a['during'] != 'tag'):
            raise Finding('roles after a power cut', 'old %s, new %s, found %s' % (old, new, got))
        for d, role in got.items():
            m.devs[d]['role'] = role


STEPS = [Cycle(), Remount(), Freeze(), Lose(), Fail(), Glitch(), PowerCut()]

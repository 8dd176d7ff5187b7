# SPDX-License-Identifier: GPL-2.0-only
#
# Steps that are rarer: seed and sprout, swap files, quota, defragmentation,
# trim, cancelled removals and resizes.
import os

import content
import machine
import mounting
from base import Step, btrfs, no_space
from machine import MNT, Result
from steps_device import Remove, Resize, new_devid
from steps_file import Change, FileStep, path_of

MIB = 1 << 20


class Sprout(Step):
    """Make the file system a seed, mount it, add a device, go on with that."""
    name, weight, moves, besides = 'sprout', 1, True, False
    needs = ('complete', 'undamaged', 'unpaused', 'swapless', 'quotaless', 'unmixed', 'seedless')

    def choice(self, m):
        return self.slots(m)

    @staticmethod
    def slots(m):
        return [i for i in m.free_slots() if m.slots[i]['size'] >= 1024 * MIB]

    def draw(self, m, rng):
        return {'slot': rng.choice(self.slots(m))}

    def fits(self, m, a):
        return a['slot'] in self.slots(m)

    def act(self, m, a):
        mounting.unmount(m)
        for devid in m.present():
            machine.must('btrfstune', '-f', '-S', '1', m.slot_of(devid)['dev'])
        result = mounting.mount(m, '')
        if result.status:
            return result
        new = m.slots[a['slot']]['dev']
        machine.run('wipefs', '-qa', new)
        result = btrfs('device', 'add', '-f', '-K', new, MNT)
        if result.status:
            return result
        self.take_over(m, a)
        return machine.run('mount', '-o', 'remount,rw', MNT)

    @staticmethod
    def take_over(m, a):
        for dev in m.devs.values():
            dev['seed'] = True
        m.slots[a['slot']]['state'] = 'member'
        m.devs[new_devid(m)] = {'slot': a['slot'], 'role': 'data-preferred', 'seed': False,
                                'size': m.slots[a['slot']]['size']}
        m.uuid = machine.uuid_of(m.slots[a['slot']]['dev'])

    def effect(self, m, a, result):
        m.mount['ro'] = False


class SwapFile(FileStep):
    """A swap file in use pins its chunk and its device."""
    name, weight = 'swap', 2

    needs = ('writable', 'complete', 'unmixed', 'single')

    def choice(self, m):
        return m.swap or (m.unpaused() and 'compress' not in str(m.mount))

    def act(self, m, a):
        if m.swap:
            result = machine.run('swapoff', path_of(m.swap))
            if result.status == 0:
                os.unlink(path_of(m.swap))
                m.swap = ''
            return result
        name = m.name('swap')
        result = self.tried(lambda: open(path_of(name), 'wb').close())
        if result.status:
            return result
        machine.run('chattr', '+C', path_of(name))

        def action():
            with open(path_of(name), 'r+b') as file:
                os.posix_fallocate(file.fileno(), 0, 8 * MIB)
            os.chmod(path_of(name), 0o600)
        result = self.tried(action)
        if result.status:
            os.unlink(path_of(name))
            return result
        machine.run('mkswap', path_of(name))
        result = machine.run('swapon', path_of(name))
        if result.status:
            os.unlink(path_of(name))
            return result
        m.swap = name
        return result

    def excuse(self, m, a, result, before):
        if 'swapon' in result.out and before.profiles('data') != {'single'}:
            return 'data of another profile'
        return FileStep.excuse(self, m, a, result, before)


class Quota(Step):
    name, weight = 'quota', 2
    needs = ('writable', 'unpaused', 'complete')

    def choice(self, m):
        return m.quota != 'simple'

    def draw(self, m, rng):
        return {'what': rng.choice(['rescan', 'off']) if m.quota == 'qgroup' else 'on'}

    def act(self, m, a):
        if a['what'] == 'rescan' and m.quota:
            return btrfs('quota', 'rescan', '-w', MNT)
        result = btrfs('quota', 'enable' if a['what'] == 'on' else 'disable', MNT)
        if result.status == 0 and a['what'] == 'on':
            result = btrfs('quota', 'rescan', '-w', MNT)
        return result

    def excuse(self, m, a, result, before):
        if no_space(result) and m.full:
            return 'full'
        return None

    def effect(self, m, a, result):
        m.quota = {'on': 'qgroup', 'off': ''}.get(a['what'], m.quota)


class Defrag(FileStep):
    name, weight, moves = 'defrag', 2, True

    def choice(self, m):
        return Change.targets(self, m)

    def draw(self, m, rng):
        return {'compress': rng.choice([None, 'zstd', 'lzo'])}

    def act(self, m, a):
        words = ['-c' + a['compress']] if a['compress'] else []
        return btrfs('filesystem', 'defragment', '-r', '-f', *words, path_of('v'))


class Trim(Step):
    name, weight = 'trim', 2

    def act(self, m, a):
        return machine.run('fstrim', MNT)

    def excuse(self, m, a, result, before):
        if 'not supported' in result.out:
            return 'no device can do it'
        return 'a device fails' if m.failing() and 'Input/output' in result.out else None


class RemoveCancel(Remove):
    """Cancel a removal or a shrink that has begun."""
    name, weight = 'remove-cancel', 3
    needs = Remove.needs + ('complete',)

    def candidates(self, m):
        return m.present() if len(m.devs) > 1 else []

    def draw(self, m, rng):
        return {'devid': rng.choice(self.candidates(m)), 'by': 'devid', 'wait': rng.choice([1, 10, 60]),
                'shrink': rng.random() < 0.4}

    def act(self, m, a):
        if a['shrink']:
            words = ['filesystem', 'resize', '%d:%d' % (a['devid'], m.devs[a['devid']]['size'] // 2), MNT]
        else:
            words = ['device', 'remove', str(a['devid']), MNT]
        result = machine.interrupted(['btrfs', *words], ['btrfs', *words[:2], 'cancel', MNT], a['wait'])
        heard = 'Operation canceled' in result.out
        # One that came after the end, or a second one.
        m.cancelled |= result.canceled > heard
        return Result(0, result.out) if heard else result

    @staticmethod
    def whole(m, a):
        """The step that it is without a cancel, with its arguments."""
        if a['shrink']:
            return Resize(), {**a, 'size': m.devs[a['devid']]['size'] // 2 // 4096 * 4096}
        return Remove(), a

    def refused(self, m, a, before):
        step, args = self.whole(m, a)
        return step.refused(m, args, before)

    def excuse(self, m, a, result, before):
        step, args = self.whole(m, a)
        return step.excuse(m, args, result, before)

    def effect(self, m, a, result):
        now = machine.chunk_tree()
        if a['devid'] not in now.devices:
            slot = m.devs.pop(a['devid'])['slot']
            m.slots[slot]['state'] = 'spare'
        elif a['shrink'] and now.devices[a['devid']].total == m.devs[a['devid']]['size'] // 2 // 4096 * 4096:
            m.devs[a['devid']]['size'] = now.devices[a['devid']].total


STEPS = [Sprout(), SwapFile(), Quota(), Defrag(), Trim(), RemoveCancel()]

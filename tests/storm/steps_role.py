# SPDX-License-Identifier: GPL-2.0-only
#
# Steps that set roles, the read policy and the switch of lagging superblocks.
import errno
import os

import layout
import machine
from base import Step, btrfs
from machine import MNT, Result


class Tag(Step):
    """Roles of several devices through the ioctl, as the command does it."""
    name, weight, loose = 'tag', 8, 'EINVAL|too few|Invalid|but shows'
    needs = ('writable', 'patched')

    def fits(self, m, a):
        return all(int(d) in m.ours() for d in a['roles'])

    def draw(self, m, rng):
        devids = rng.sample(m.ours(), rng.randint(1, len(m.ours())))
        one = rng.random() < 0.3    # what the command can say
        if one:
            role = rng.choice(layout.ROLES)
            roles = {d: role for d in devids}
        elif rng.random() < 0.5:      # the layout of the guide
            rest = rng.choice(['data-only', 'data-preferred'])
            fast = rng.choice(['metadata-only', 'metadata-preferred'])
            roles = {d: fast if m.slot_of(d) and m.slot_of(d)['kind'] != 'hdd' else rest
                     for d in m.ours()}
        else:
            roles = {d: rng.choice(layout.ROLES) for d in devids}
        return {'roles': {str(d): r for d, r in roles.items()}, 'force': rng.random() < 0.08}

    def act(self, m, a):
        roles = {int(d): role for d, role in a['roles'].items()}
        names = set(roles.values())
        force = ['--force'] if a['force'] else []
        result = machine.set_roles(roles, a['force']) if len(names) > 1 else \
            btrfs('-q', 'device', 'policy', 'tag', *force, *names, *a['roles'], MNT)
        result.nothing = not m.loose and all(m.devs[d]['role'] == role for d, role in roles.items())
        return result

    def refused(self, m, a, before):
        why = m.refuses_roles(before, {int(d): r for d, r in a['roles'].items()})
        return None if a['force'] and why != 'mixed block groups' else why

    def effect(self, m, a, result):
        for d, role in a['roles'].items():
            m.devs[int(d)]['role'] = role


class SysfsRole(Step):
    name, weight, silent = 'role', 6, True
    needs = ('writable', 'patched')

    def fits(self, m, a):
        return a['devid'] in m.ours()

    def draw(self, m, rng):
        return {'devid': rng.choice(m.ours()), 'role': rng.choice(layout.ROLES)}

    def act(self, m, a):
        error = machine.write('%s/devinfo/%d/role' % (machine.sysfs(m.uuid), a['devid']), a['role'])
        return Result(error, errno.errorcode.get(error, ''),
                      nothing=not m.loose and m.devs[a['devid']]['role'] == a['role'])

    def refused(self, m, a, before):
        return m.refuses_roles(before, {a['devid']: a['role']}) and 'EINVAL'

    def effect(self, m, a, result):
        m.devs[a['devid']]['role'] = a['role']

    loose = 'EINVAL|EAGAIN|EBUSY'


class Policy(Step):
    name, weight = 'policy', 2
    needs = ('writable', 'patched')

    def draw(self, m, rng):
        return {'policy': rng.choice(['pid', 'roundrobin', 'roundrobin']),
                'rot': rng.choice([None, 0, 100, 1000]), 'nonrot': rng.choice([None, 0, 50])}

    def act(self, m, a):
        words = [a['policy']]
        for option in ('rot', 'nonrot'):
            if a[option] is not None and a['policy'] == 'roundrobin':
                words += ['--%s-penalty' % option, str(a[option])]
        return btrfs('device', 'policy', 'set', *words, MNT)

    def effect(self, m, a, result):
        m.policy = a['policy']


class Lag(Step):
    """Superblocks of devices without metadata lag, or not; from now on after each mount, too."""
    name, weight = 'lag', 4

    def choice(self, m):
        return m.mount and os.path.exists(machine.lagging(m.uuid))

    def draw(self, m, rng):
        return {'on': rng.random() < 0.8}

    def act(self, m, a):
        error = machine.write(machine.lagging(m.uuid), str(int(a['on'])))
        return Result(error, errno.errorcode.get(error, ''), nothing=m.lag == a['on'])

    def effect(self, m, a, result):
        m.lag = a['on']


class Show(Step):
    """What only reads: it must work at any time."""
    name, weight, needs = 'show', 2, ()

    def act(self, m, a):
        ours = [] if m.stock() else [['device', 'policy', 'show', MNT], ['device', 'policy', 'usage', MNT]]
        for words in (*ours, ['filesystem', 'usage', MNT], ['device', 'stats', MNT]):
            result = btrfs(*words)
            # btrfs-progs 6.2 reads beyond an array in `filesystem usage`.
            if result.status == -11 and words[0] == 'filesystem':
                continue
            if result.status:
                return result
        return result


STEPS = [Tag(), SysfsRole(), Policy(), Lag(), Show()]

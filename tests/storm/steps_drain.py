# SPDX-License-Identifier: GPL-2.0-only
#
# Devices are taken out of use, and back.
import re

import machine
from base import FEWER, Step, btrfs, no_space
from machine import MNT, Finding
from steps_balance import says_devices
from steps_device import short_of_space


class Drain(Step):
    """Everything moves off devices; with undo they get their roles back."""
    name, weight, moves, loose, loads = 'drain', 4, True, FEWER + '|but shows', ('inplace',)
    needs = ('writable', 'unpaused', 'unmixed', 'patched')

    def choice(self, m):
        return len(m.ours()) > 1

    def fits(self, m, a):
        return all(d in m.ours() for d in a['devids'])

    def draw(self, m, rng):
        ours = m.ours()
        return {'devids': rng.sample(ours, rng.randint(1, min(2, len(ours) - 1))), 'undo': rng.random() < 0.4}

    def act(self, m, a):
        devids = [str(d) for d in a['devids']]
        result = btrfs('device', 'policy', 'drain', *devids, MNT)
        if result.status == 0 and not m.loose:
            self.check_empty(a)
        if result.status == 0 and a['undo']:
            result = btrfs('device', 'policy', 'drain', '--undo', *devids, MNT)
        return result

    @staticmethod
    def check_empty(a):
        for c in machine.chunk_tree().chunks.values():
            if set(c.devids()) & set(a['devids']):
                raise Finding('chunk on a drained device', '%s chunk %d on %s' % (c.kind, c.start, c.devids()))

    def refused(self, m, a, before):
        return m.refuses_roles(before, {d: 'draining' for d in a['devids']})

    def excuse(self, m, a, result, before):
        if m.cancelled and 'Invalid argument' in result.out:
            return 'a cancel is left over'
        if m.swap and re.search('swap|not moved by the kernel', result.out):
            return 'swap file'
        # Its own exit status, with the reason.
        if re.search('ERROR: .*(no space|not fit on|too little space|less to grow)', result.out):
            return 'says why: %s' % re.search('ERROR: (.{0,100})', result.out)[1]
        if says_devices(m, result):
            return says_devices(m, result)
        if no_space(result) or re.search('needs .* that may hold it', result.out):
            return short_of_space(m, before)
        return None

    def failed(self, m, a, result):
        if 'still draining' in result.out:
            self.set_roles(m, a)

    def effect(self, m, a, result):
        if not a['undo']:
            self.set_roles(m, a)
        else:   # the file of a machine that was cut off is that of the machine before
            for d in a['devids']:
                if m.devs[d]['role'] == 'draining':
                    m.devs[d]['role'] = machine.chunk_tree().devices[d].role

    @staticmethod
    def set_roles(m, a):
        for d in a['devids']:
            m.devs[d]['role'] = 'draining'


STEPS = [Drain()]

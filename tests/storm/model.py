# SPDX-License-Identifier: GPL-2.0-only
#
# What is known of the file system between two steps: disks, devices with their
# roles and sizes, mount, contents.  Owns what is expected; does nothing itself.
import os

import content
import layout
import machine

STATE = ('slots', 'devs', 'mount', 'subvols', 'ballast', 'count', 'uuid', 'busy', 'damaged',
         'policy', 'swap', 'quota', 'full', 'stranded', 'cancelled', 'lag')


class Model:
    def __init__(self, array, saved=None):
        self.array = array
        self.slots = []         # {dev, kind, size, state: member, spare, failing, gone}
        self.devs = {}          # devid: {slot or None, role, size, seed}
        self.mount = None       # {opts, ro} while mounted
        self.subvols, self.ballast, self.count = [], {}, 0
        self.uuid = machine.UUID % 1
        self.busy = ''          # paused: a balance is
        self.damaged = False    # a device has missed writes
        self.policy, self.swap, self.quota = 'pid', '', array.get('quota', '')
        self.full = self.lag = False
        # The stock kernel may keep a request to cancel a removal, and refuse balance.
        self.cancelled = False
        self.stranded = False   # the roles in force were forced onto too few devices
        self.manifest = content.Manifest()
        self.reboot = None      # {opts}: another machine goes on
        self.loose = False      # roles change while the step runs
        self.tally = {}         # stripes that the step has moved, and refusals
        self.moved = set()      # chunks whose stripes the step may have moved to any device
        if saved:
            for name in STATE:
                setattr(self, name, saved[name])
            self.devs = {int(k): v for k, v in self.devs.items()}
            self.manifest = content.Manifest(saved['files'])

    def save(self):
        state = {name: getattr(self, name) for name in STATE}
        state['files'] = self.manifest.save()
        return state

    # --- disks ---

    def stock(self):
        """A kernel without the series."""
        return self.array.get('kernel') == 'stock'

    def ratio(self):
        """Has metadata_ratio made chunks that nothing needs?"""
        return 'metadata_ratio' in self.array.get('opts', '') + str(self.mount)

    def mixed(self):
        return bool(self.array.get('mixed'))

    def free_slots(self):
        return [i for i, s in enumerate(self.slots) if s['state'] == 'spare']

    def slot_of(self, devid):
        slot = self.devs[devid]['slot']
        return None if slot is None else self.slots[slot]

    def present(self):
        """Devids that can be written to."""
        return sorted(d for d, v in self.devs.items() if v['slot'] is not None and not v['seed'] and
                      self.slots[v['slot']]['state'] == 'member')

    def failing(self):
        return sorted(d for d, v in self.devs.items() if v['slot'] is not None and
                      self.slots[v['slot']]['state'] == 'failing')

    def missing(self):
        return sorted(d for d, v in self.devs.items() if v['slot'] is None)

    def ours(self):
        """Devids that are no seed."""
        return sorted(d for d, v in self.devs.items() if not v['seed'])

    def seeds(self):
        return sorted(set(self.devs) - set(self.ours()))

    def lost(self):
        return set(self.missing()) | set(self.failing())

    def whole(self):
        return not self.lost() and not self.damaged

    # --- what steps need ---

    def writable(self):
        return bool(self.mount) and not self.mount['ro']

    def unpaused(self):
        return not self.busy

    def complete(self):
        return not self.lost()

    def answering(self):
        return not self.failing()

    def undamaged(self):
        return not self.damaged

    def swapless(self):
        return not self.swap

    def quotaless(self):
        return not self.quota

    def unmixed(self):
        return not self.mixed()

    def seedless(self):
        return len(self.ours()) == len(self.devs)

    def copied(self):
        """Has every chunk a copy on another device, not only parity?"""
        return all(c.profile.lost and not c.profile.parity
                   for c in machine.chunk_tree().chunks.values())

    def single(self):
        """Is there data without a second copy, as a swap file wants it?"""
        return 'single' in machine.chunk_tree().profiles('data')

    def several(self):
        return len(self.present()) > 1

    def patched(self):
        return not self.stock()

    def movable(self):
        """Can the kernel move stripes?"""
        return os.path.exists('/sys/fs/btrfs/features/move_stripe')

    # --- disks again ---

    def any_dev(self):
        """A path to mount by."""
        return self.slots[self.devs[self.present()[0]]['slot']]['dev']

    def name(self, prefix):
        self.count += 1
        return '%s%d' % (prefix, self.count)

    # --- what is allowed ---

    def counts(self, roles, devids):
        """Devices that may carry data, and metadata."""
        return [sum(1 for d in devids if layout.rank(roles[d], kind) is not None)
                for kind in ('data', 'metadata')]

    def roles(self):
        return {d: v['role'] for d, v in self.devs.items()}

    def refuses_counts(self, chunks, before, after):
        """Does a change of these counts leave a profile too few devices?"""
        need = [most_demanding(chunks, kind) for kind in ('data', 'metadata', 'system')]
        if after[0] < before[0] and after[0] < need[0]:
            return 'too few devices.* left for the data profile'
        if after[1] < before[1] and after[1] < max(need[1], need[2]):
            return 'too few devices.* left for the (metadata|system) profile'
        return None

    def refuses_roles(self, chunks, changes):
        """Why a change {devid: role} must be refused, or None."""
        if self.mixed():
            if any(role != 'data-preferred' for role in changes.values()):
                return 'mixed block groups'
            return None
        devids = self.present() + self.failing()
        new = {**self.roles(), **changes}
        return self.refuses_counts(chunks, self.counts(self.roles(), devids),
                                   self.counts(new, devids))

    def refuses_removal(self, chunks, devid):
        ours = self.ours()
        left = len(ours) - (devid in ours)      # those of a seed do not count
        if self.stock() and devid not in ours:  # it takes one off nevertheless
            left = max(left - 1, 1)
        for kind in ('data', 'metadata', 'system', 'mixed'):
            if most_demanding(chunks, kind) > left:
                return 'unable to (go below|remove)'
        writable = [d for d in self.present() + self.failing()]
        if devid in writable and len(writable) == 1:
            return 'unable to remove'
        roles = self.roles()
        if devid not in writable or self.mixed() or \
                all(roles[d] == 'data-preferred' for d in writable):
            return None
        after = [d for d in writable if d != devid and d in ours]
        if self.refuses_counts(chunks, self.counts(roles, writable), self.counts(roles, after)):
            return 'unable to (go below|remove)'
        return None


def most_demanding(chunks, kind):
    return max([layout.PROFILES[p].least for p in chunks.profiles(kind)] + [1])

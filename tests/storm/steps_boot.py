# SPDX-License-Identifier: GPL-2.0-only
#
# Steps that end the machine, and disks that come back or rot.
import mmap
import os
import random

import checks
import machine
import mounting
from base import Step, btrfs
from machine import MNT, Result
from steps_balance import mend
from steps_mount import ROT_NOISE, Fail, Lose

BLOCK = 4096


class Reboot(Step):
    """Another machine goes on with the disks."""
    name, weight, besides = 'reboot', 2, False
    needs = ('answering', 'swapless')

    def act(self, m, a):
        opts = m.mount['opts']
        mounting.unmount(m)
        checks.unmounted(m)
        mounting.flush(m)
        m.reboot = {'opts': opts}
        return Result(0, '')


class Return(Step):
    """A disk that was gone comes back empty."""
    name, weight, needs = 'return', 4, ()

    def gone(self, m):
        return [i for i, s in enumerate(m.slots) if s['state'] == 'gone' and not s.get('pulled') and
                all(d['slot'] != i for d in m.devs.values())]

    def choice(self, m):
        return self.gone(m)

    def draw(self, m, rng):
        return {'slot': rng.choice(self.gone(m))}

    def fits(self, m, a):
        return a['slot'] in self.gone(m)

    def act(self, m, a):
        slot = m.slots[a['slot']]
        machine.power(slot['dev'], 'on')
        result = machine.run('wipefs', '-qa', slot['dev'])
        slot['state'] = 'spare'
        return result


class Rot(Step):
    """Blocks of one disk change by themselves: reads find the other copy, scrub mends."""
    name, weight, moves = 'rot', 3, True
    noise = ROT_NOISE

    needs = Lose.needs + ('writable', 'complete')
    candidates, choice, fits, few = Fail.candidates, Fail.choice, Fail.fits, True

    def draw(self, m, rng):
        return {'devid': rng.choice(self.candidates(m)), 'seed': rng.randint(1, 1 << 30),
                'blocks': rng.choice([1, 10, 200])}

    def act(self, m, a):
        machine.sync()
        if a['devid'] not in self.candidates(m):    # a load has put the only copy of something there
            return Result(0, '', nothing=True)
        m.damaged = True
        self.spoil(m, a)
        wrong = self.read_all(m)
        if wrong:
            raise machine.Finding('contents', '\n'.join(wrong[:20]))
        return mend(m)

    @staticmethod
    def read_all(m):
        import content
        machine.drop_caches()
        return content.compare(MNT, m.manifest)

    @staticmethod
    def spoil(m, a):
        """Garbage past the page cache, only where chunks are."""
        rng = random.Random(a['seed'])
        parts = [(at, c.stripe_bytes()) for c in machine.chunk_tree().chunks.values()
                 for devid, at in c.stripes if devid == a['devid']]
        page = mmap.mmap(-1, BLOCK)
        fd = os.open(m.slot_of(a['devid'])['dev'], os.O_WRONLY | os.O_DIRECT | os.O_SYNC)
        for _ in range(a['blocks'] if parts else 0):
            at, size = rng.choice(parts)
            page[:] = rng.randbytes(BLOCK)
            # Most of a chunk is free; what is used is at its start.
            where = at + rng.randrange(min(size, rng.choice([1 << 20, size])) // BLOCK) * BLOCK
            os.pwritev(fd, [page], where)
        os.close(fd)


STEPS = [Reboot(), Return(), Rot()]

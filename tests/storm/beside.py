# SPDX-License-Identifier: GPL-2.0-only
#
# Loads that run beside a step, each in a child of its own.
import contextlib
import errno
import mmap
import os
import random
import re

import content
import layout
import machine
from machine import Finding, MNT

# So often each of them runs: with several processors they also meet themselves.
COPIES = max(1, os.cpu_count() // 2)
NAMES = ['df', 'roles', 'small', 'big', 'read', 'policy', 'sysfs']


def quiet(action, known):
    """What a load cannot do just now, for one of the errors that are known, it does not do."""
    def tried(n):
        try:
            action(n)
        except OSError as error:
            if error.errno not in known:
                raise
    return tried


def ask_df(_):
    os.statvfs(MNT)


def small_files(n):
    """Inline files in a directory of their own; they come and go."""
    base = MNT + '/beside'
    os.makedirs(base, exist_ok=True)
    for i in range(20):
        with open('%s/s%d' % (base, (n * 20 + i) % 200), 'wb') as file:
            file.write(content.produce(n, 100 + 90 * i))
    if n % 3 == 2:
        for i in range(0, 200, 3):
            with contextlib.suppress(FileNotFoundError):    # another copy of the load may be faster
                os.unlink('%s/s%d' % (base, i))


def big_file(n):
    base = MNT + '/beside'
    os.makedirs(base, exist_ok=True)
    path = '%s/b%d' % (base, n % 4)
    with open(path, 'wb') as file:
        for i in range(8):
            file.write(content.produce(n * 8 + i, 1 << 17))
        if n % 2:
            os.fsync(file.fileno())


def read_files(m, change):
    """What is read is right, unless the step changes files."""
    files = [(name, m.manifest.files[name]) for name in m.manifest.present()]
    for _, file in files:
        file.checksum()     # here, that no child has to

    def action(n):
        if not files:
            return
        name, file = files[n % len(files)]
        if change:
            content.sum_file(os.path.join(MNT, name))
            return
        wrong = content.differs(MNT, name, file)
        if wrong:
            raise Finding('contents', wrong)
    return action


def write_roles(m, seed, target):
    """One role a turn, through sysfs, as the kernel lets us; mostly that of the
    device that the step is about.  Or one role for all devices in turn, then another:
    the first of them is alone in its rank for a while."""
    rng = random.Random(seed)
    devids = m.ours()
    names = layout.ROLES if seed % 2 else ['data-preferred', 'metadata-preferred']

    def one(_):
        devid = target if target in devids and rng.random() < 0.7 else rng.choice(devids)
        return devid, rng.choice(names)

    def all_alike(n):
        return devids[n % len(devids)], names[n // len(devids) % len(names)]

    choose = one if target in devids or seed % 3 else all_alike

    def action(n):
        devid, role = choose(n)
        machine.write('%s/devinfo/%d/role' % (machine.sysfs(m.uuid), devid), role)
    return action


def change_policy(m):
    def action(n):
        machine.write(machine.sysfs(m.uuid) + '/read_policy', ['pid', 'roundrobin'][n % 2])
    return action


def read_sysfs(m):
    """Everything that the series shows, again and again."""
    base = machine.sysfs(m.uuid)

    def action(_):
        for kind in ('data', 'metadata', 'system'):
            for name in ('misplaced_bytes', 'spilled_chunks', 'bytes_used'):
                machine.read('%s/allocation/%s/%s' % (base, kind, name))
        for devid in os.listdir(base + '/devinfo'):
            for name in ('role', 'read_stats', 'missing'):
                machine.read('%s/devinfo/%s/%s' % (base, devid, name))
    return action


def write_in_place(copy):
    """Blocks of a file without checksums, with and without the page cache; what is read is
    what was written last."""
    path, count = '%s/beside/nocow%d' % (MNT, copy), 256
    page, blocks, files = mmap.mmap(-1, 4096), [], []

    def make():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        open(path, 'wb').close()
        machine.run('chattr', '+C', path)
        files[:] = [os.open(path, os.O_RDWR), os.open(path, os.O_RDWR | os.O_DIRECT)]
        os.pwrite(files[0], bytes(4096 * count), 0)
        os.fsync(files[0])
        blocks[:] = [bytes(4096)] * count

    def action(n):
        if not blocks:
            make()
        at, other = n * 37 % count, n * 101 % count
        new, blocks[at] = b'%08d%08d' % (at, n) * 256, None     # an error leaves it unknown
        page[:] = new
        os.pwritev(files[n % 2], [page], 4096 * at)
        if n % 10 == 0:
            os.fsync(files[0])
        blocks[at] = new
        os.preadv(files[n // 2 % 2], [page], 4096 * other)
        if blocks[other] not in (None, page[:]):
            raise Finding('in place', 'block %d: got %s, want %s' % (other, page[:16], blocks[other][:16]))
    return action


class Besides:
    steps = 0       # a load that gets few turns must not set the same roles beside each step

    def __init__(self, m, step, a):
        Besides.steps += 1
        names, target = a.get('beside', []), a.get('devid')
        self.names = [n for n in names if m.mount and (n in ('df', 'read', 'sysfs') or m.writable())]
        if m.stock() or m.mixed():
            self.names = [n for n in self.names if n not in ('roles', 'sysfs', 'policy')]
        # Without checksums no read knows the block that a device has missed.
        if not m.whole() or m.full:
            self.names = [n for n in self.names if n != 'inplace']
        make = {'df': lambda _: (ask_df, 5), 'small': lambda _: (small_files, 20),
                'big': lambda _: (big_file, 30), 'read': lambda _: (read_files(m, errno.ENOENT in step.upsets), 5),
                'roles': lambda copy: (write_roles(m, m.count + 2 * Besides.steps + copy, target), 5),
                'inplace': lambda copy: (write_in_place(copy), 3), 'policy': lambda _: (change_policy(m), 50),
                'sysfs': lambda _: (read_sysfs(m), 20)}
        self.children = []
        for copy in range(COPIES):
            for name in self.names:
                action, pause = make[name](copy)
                known = {errno.ENOSPC, errno.EBUSY, *step.upsets, *step.upset(a)}
                self.children.append((name, machine.Background(quiet(action, known), pause)))
        if self.children:
            machine.sleep(30)

    def changes_roles(self):
        return 'roles' in self.names

    def stop(self):
        ended = [(name, child.stop()) for name, child in self.children]
        self.children = []
        for name, why in ended:
            if why:
                raise Finding('beside: %s: %s' % (name, re.sub(r'\d+', 'N', why)[:100]), why)

    def adopt_roles(self, m):
        """Whatever the load has set last is the role."""
        for devid, role in machine.roles(m.uuid).items():
            if devid in m.devs:
                m.devs[devid]['role'] = role
        if 'policy' in self.names:
            m.policy = ''

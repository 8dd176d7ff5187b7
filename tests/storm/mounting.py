# SPDX-License-Identifier: GPL-2.0-only
#
# How the file system gets mounted and unmounted, and what options it is given.
import fcntl
import os
import struct

import layout
import machine
from machine import Finding, MNT

LITTLE = 64 << 20
QUOTA_CTL = 3 << 30 | 16 << 16 | 0x94 << 8 | 40


def draw_options(m, rng):
    words = []
    if rng.random() < 0.3:
        words.append(rng.choice(['discard=async', 'nodiscard', 'discard']))
    if rng.random() < 0.3:
        words.append(rng.choice(['compress=zstd:1', 'compress-force=lzo', 'compress=zlib:1']))
    if rng.random() < 0.15:
        words.append('metadata_ratio=%d' % rng.choice([1, 4, 16]))
    if rng.random() < 0.2:
        words.append(rng.choice(['commit=1', 'ssd', 'nossd', 'flushoncommit', 'noatime', 'autodefrag']))
    return ','.join(words)


def removed_seeds(m):
    """Disks that were removed from a sprout while others of the same seed are left.  The kernel
    does not touch their super blocks, so they are found with the seed."""
    paths = [m.slots[d['slot']]['dev'] for d in m.devs.values() if d['seed'] and d['slot'] is not None]
    fsids = {sb.fsid for sb in layout.Images(paths).supers.values()}
    spare = layout.Images([m.slots[i]['dev'] for i in m.free_slots()] if fsids else [])
    return [path for path, sb in spare.supers.items() if sb.fsid in fsids]


def mount(m, opts):
    """Mounts by any device that is there, degraded if one is missing."""
    machine.run('btrfs', 'device', 'scan', '--forget')
    # By name: for two seconds libblkid believes its cache.
    machine.must('btrfs', 'device', 'scan', *[slot['dev'] for slot in m.slots if slot['state'] == 'member'],
                 *removed_seeds(m))
    words = [opts] if opts else []
    if m.missing():
        words.append('degraded')
    result = machine.run('mount', '-t', 'btrfs', *(['-o', ','.join(words)] if words else []),
                         m.any_dev(), MNT)
    if result.status == 0:
        m.mount = {'opts': opts, 'ro': False}
        m.cancelled = False
        if m.lag and not m.stock():
            machine.write(machine.lagging(m.uuid), '1')
        if m.busy:
            m.busy = resumed()
    return result


def sync(m):
    """Everything is on disk.  After a conversion that found no space the stock kernel reserves
    space in data chunks of the old profile, and writes to none of them: it loses what was not
    synced, and says so here."""
    try:
        machine.sync()
    except Finding as finding:
        now = machine.chunk_tree()
        profiles = now.profiles('data')
        if finding.kind != 'sync: ENOSPC' or len(profiles) < 2 or \
                all(now.space('data', profile, m.present()) >= LITTLE for profile in profiles):
            raise
        for path in m.manifest.unsynced():
            if os.path.exists(os.path.join(MNT, path)):
                os.unlink(os.path.join(MNT, path))
            m.manifest.delete(path)
        machine.sync()
    m.manifest.synced()


def unmount(m):
    if m.swap:
        machine.must('swapoff', os.path.join(MNT, m.swap))
        os.unlink(os.path.join(MNT, m.swap))
        m.swap = ''
    sync(m)
    leave()
    m.mount = None


def flush(m):
    """An orderly end of a machine writes the caches of all disks, of spare ones, too."""
    for slot in m.slots:
        if slot['state'] in ('member', 'spare'):
            fd = os.open(slot['dev'], os.O_WRONLY)
            os.fsync(fd)
            os.close(fd)


def leave():
    """Unmount as soon as the last command that uses it has ended."""
    for _ in range(600 * machine.PATIENCE):
        result = machine.run('umount', MNT)
        if result.status == 0:
            return
        machine.sleep(100)
    raise Finding('failed: umount', result.text())


def wait_balance():
    """'paused' or '' once it does not run any more."""
    for _ in range(5000 * machine.PATIENCE):
        out = machine.run('btrfs', 'balance', 'status', MNT).out
        if 'is running' not in out:
            return 'paused' if 'is paused' in out else ''
        machine.sleep(100)
    raise Finding('hang: balance', out)


def resumed():
    """A paused balance goes on when the file system becomes writable, in a thread that
    the mount does not wait for.  As wait_balance()."""
    machine.sleep(200 * machine.PATIENCE)
    return wait_balance()


def enable_quota(kind):
    """Simple quotas by ioctl: older tools have no word for them."""
    arg = bytearray(struct.pack('<QQ', 4 if kind == 'simple' else 1, 0))
    fd = os.open(MNT, os.O_RDONLY)
    try:
        fcntl.ioctl(fd, QUOTA_CTL, arg)
    finally:
        os.close(fd)

# SPDX-License-Identifier: GPL-2.0-only
#
# What must hold after every step, whatever it was.
import os
import random
import re

import content
import layout
import machine
import mounting
from machine import Finding, MNT

# Lines of the kernel's log that no step may cause. A task that is killed discards no more (-512).
BAD = re.compile(r'forced readonly|Transaction aborted|transaction aborted|BTRFS critical|BUG:|'
                 r'WARNING:|KASAN|UBSAN|assertion failed|remounting read-only|corrupt leaf|'
                 r'errno=-(?!512)|Oops|possible circular|parent transid verify failed|checksum verify failed|'
                 r'csum failed|unable to find logical|BTRFS error .*bdev .* errs:|reserved space leaked|'
                 r'bad tree block start|level verify failed|read time tree block corruption|read error corrected')
# The stock kernel does not give back the quota of dirty data when a transaction was
# aborted.  A kernel with BTRFS_DEBUG warns before it says so in a line of its own.
LEAK = re.compile(r'state E?A.*reserved space leaked')
LEAK_NEXT = re.compile(r'WARNING: .* close_ctree')
DAMAGE = re.compile(r'csum failed|parent transid verify failed|checksum verify failed|bdev .* errs:|'
                    r'read error corrected|discard failed while removing blockgroup: errno=-5')
CRASH = re.compile(r'errno=-5|forced readonly|remounting read-only|[Tt]ransaction aborted \(error -5\)|'
                   r'bdev .* errs: wr')
LITTLE_SPACE = 32 << 20


def digest(text):
    """An error text without what differs from case to case."""
    lines = [line for line in text.strip().split('\n') if re.search(r'ERROR|error|rror:', line)]
    line = (lines or text.strip().split('\n'))[-1]
    return re.sub(r'/[/\w.-]+', 'PATH', re.sub(r'\d+', 'N', line))[:120]


def chunks(m):
    return machine.chunk_tree() if m.mount else None


def log(m, source, step, noise):
    bad = [line for line in source.new() if BAD.search(line)]
    for line, following in zip(bad, bad[1:] + ['']):
        if LEAK.search(line) or LEAK_NEXT.search(line) and LEAK.search(following):
            continue
        if noise and re.search(noise, line):
            continue
        if (m.damaged or m.lost()) and DAMAGE.search(line):
            continue
        raise Finding('kernel: ' + digest(line), 'after %s: %s' % (step, line))


def mount_state(m):
    state = machine.mounts()
    if bool(state) != bool(m.mount):
        raise Finding('mount', 'mounted: %s, expected: %s' % (state, m.mount))
    if not state:
        return
    if ('ro' in state[1]) != m.mount['ro']:
        raise Finding('read-only' if 'ro' in state[1] else 'not read-only', ' '.join(state[1]))


def devices(m, now, lazy=False):
    """Device items: those of the model, with its sizes and roles.  A lazy step makes no
    commit, which is what writes a role that was set by sysfs."""
    if set(now.devices) != set(m.devs):
        raise Finding('devices', 'devids %s, expected %s' % (sorted(now.devices), sorted(m.devs)))
    for devid, dev in m.devs.items():
        got = now.devices[devid]
        if got.total != dev['size']:
            raise Finding('size of a device',
                          'devid %d: %d, expected %d' % (devid, got.total, dev['size']))
        if not lazy and got.role != dev['role']:
            raise Finding('role on disk', 'devid %d: %s, expected %s' % (devid, got.role, dev['role']))


def devinfo(m):
    """sysfs shows the devices that there are, and none that is gone."""
    shown = {int(d) for d in os.listdir(machine.sysfs(m.uuid) + '/devinfo')} - {0}
    if shown != set(m.devs):
        raise Finding('devinfo in sysfs', 'devids %s, expected %s' % (sorted(shown), sorted(m.devs)))


def roles(m):
    if m.stock():
        return
    shown = machine.roles(m.uuid)
    for devid in m.ours():
        if shown.get(devid) != m.devs[devid]['role']:
            raise Finding('role in sysfs', 'devid %d: %s, expected %s' %
                          (devid, shown.get(devid), m.devs[devid]['role']))


def new_chunks(m, before, now):
    """Chunks made by the step are where the roles allow them.  Metadata goes elsewhere
    rather than to abort a transaction."""
    for devid, device in before.devices.items():    # a lazy step has not written them
        device.role = m.devs[devid]['role'] if devid in m.devs else device.role
    for start, c in now.chunks.items():
        if start in before.chunks or start in m.moved or m.mixed():
            continue
        if c.kind != 'data' and any(state.space(c.kind, c.profile.name, m.present()) < LITTLE_SPACE
                                    for state in (before, now)):
            continue
        for devid in c.devids():
            if layout.rank(m.devs[devid]['role'], c.kind) is None:
                raise Finding('chunk on an excluded device', '%s %s chunk %d on devid %d, %s' % (
                    c.kind, c.profile.name, start, devid, m.devs[devid]['role']))


def misplaced(m, now):
    """The kernel's count against ours; what is being freed may take a while."""
    if m.mixed() or m.busy or m.loose or m.stock():
        return
    # If only devices of the seed have roles the kernel counts nothing.
    if all(m.devs[d]['role'] == 'data-preferred' for d in m.ours()):
        return
    writable = set(m.present()) | set(m.failing())
    for _ in range(5 * machine.PATIENCE):
        said = {kind: machine.read('%s/allocation/%s/misplaced_bytes' % (machine.sysfs(m.uuid), kind))
                for kind in ('data', 'metadata', 'system')}
        wrong = [(kind, said[kind], now.misplaced(kind, writable)) for kind in said
                 if said[kind] != str(now.misplaced(kind, writable))]
        if not wrong:
            return
        machine.sleep(300)
        os.sync()
        now = machine.chunk_tree()
    raise Finding('misplaced bytes', '%s: the kernel says %s, the chunk tree %d' % wrong[0])


def sizes(m, now):
    """df answers, and with something that can be.  With roles it follows a new chunk as soon
    as a worker has run."""
    profiles = [layout.PROFILES[name] for name in now.profiles('mixed' if m.mixed() else 'data')]
    # New chunks have no copies while a degraded mount has too few devices for that.
    copies = min([p.copies if p.least <= len(m.present()) else 1 for p in profiles] or [1])
    most = sum(d['size'] for d in m.devs.values()) // copies
    for _ in range(2):
        fs = os.statvfs(MNT)
        if fs.f_bavail * fs.f_frsize <= most:
            return
        machine.sleep(10)
    raise Finding('df', 'available %d of %d' % (fs.f_bavail * fs.f_frsize, most))


def contents(m, moved):
    """All files after steps that move them, a few otherwise."""
    names = m.manifest.present()
    if moved:
        machine.drop_caches()
    else:
        names = random.Random(m.count).sample(names, min(5, len(names)))
    wrong = content.compare(MNT, m.manifest, names)
    if wrong:
        raise Finding('contents', '\n'.join(wrong[:20]))


def scrubbed(m, out, readonly):
    """A scrub of devices that have missed nothing finds no errors.  contents() reads but one of
    the copies."""
    # The stock kernel compares the fsid of super and tree blocks of a seed with the new one.
    known = {'super', 'verify'} if m.seeds() and readonly else set()
    summary = ''.join(re.findall('Error summary:(.*)', out))
    errors = set(re.findall(r'(\w+)=\d+', summary))
    if m.whole() and 'no errors found' not in summary and not (errors and errors <= known):
        raise Finding('scrub: ' + ' '.join(sorted(errors)), out)


def copies(m):
    """All copies of everything are good."""
    if m.whole():
        scrubbed(m, machine.run('btrfs', 'scrub', 'start', '-Br', MNT).out, True)


def after(m, step, before, lazy=False):
    mount_state(m)
    if not m.mount:
        return
    if m.writable() and not lazy:
        mounting.sync(m)
    now = machine.chunk_tree()
    wrong = now.broken()
    if wrong:
        raise Finding('chunk tree', wrong)
    devices(m, now, lazy)
    devinfo(m)
    roles(m)
    # Roles that were forced, or set by a load, may leave a profile too few devices.
    m.stranded = bool(m.refuses_counts(now, [99, 99], m.counts(m.roles(), m.present())))
    if before:
        new_chunks(m, before, now)
    if not lazy:
        misplaced(m, now)
    sizes(m, now)
    contents(m, step.moves)


def unmounted(m):
    """The devices, read from outside, say the same."""
    paths = [m.slots[d['slot']]['dev'] for d in m.devs.values() if d['slot'] is not None]
    # Several fsids if there is a seed: the newest one counts.
    images = layout.Images(paths)
    try:
        now = images.layout()
    except layout.Unreadable as error:
        if m.whole():
            raise Finding('images', str(error)) from None
        return
    wrong = now.broken() or now.miscounted()
    if wrong:
        raise Finding('chunk tree on disk', wrong)
    devices(m, now)
    newest, total = images.newest(), sum(d.total for d in now.devices.values())
    if newest.total_bytes != total or newest.num_devices != len(now.devices):
        raise Finding('totals in the super block', '%d bytes of %d devices, the items say %d of %d' % (
            newest.total_bytes, newest.num_devices, total, len(now.devices)))
    for sb in images.supers.values():
        dev = m.devs.get(sb.device.devid)
        if m.whole() and dev and not dev['seed'] and sb.device.role != dev['role']:
            raise Finding('role in a super block', 'devid %d: %s, expected %s' % (
                sb.device.devid, sb.device.role, dev['role']))


def check(m):
    """btrfs check, where it knows the format."""
    if m.quota == 'simple' or m.missing():
        return
    # It adds up all devices that it finds of a seed, also those that were removed from the
    # sprout: it must not find these.
    hidden = mounting.removed_seeds(m)
    for path in hidden:
        machine.power(path, 'cut keep')
    result = machine.run('btrfs', 'check', m.any_dev())
    for path in hidden:
        machine.power(path, 'on')
    # Counts of qgroups after a rescan beside writers, or a power cut, are the stock
    # kernel's, and wrong there at times.
    counts_only = 'Counts for qgroup' in result.out and 'ERROR' not in result.out
    if result.status and not counts_only:
        raise Finding('btrfs check', result.out[-3000:])

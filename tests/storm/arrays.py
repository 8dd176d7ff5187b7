# SPDX-License-Identifier: GPL-2.0-only
#
# Arrays: drawn from a seed, and made in the machine.
import layout
import machine
import mounting
from machine import Finding

MIB = 1 << 20
SIZES = [100, 128, 200, 256, 300, 333, 512, 512, 700, 1024, 1024, 2048, 4096]
LEAST = {'single': 1, 'dup': 1, 'raid0': 2, 'raid1': 2, 'raid10': 4, 'raid5': 3, 'raid6': 4,
         'raid1c3': 3, 'raid1c4': 4}
SMALLEST = 256      # MiB; what mkfs wants at least of a device, with every profile


def draw(rng):
    """Devices in order: members first, then spares."""
    count = rng.choice([2, 2, 3, 3, 4, 4, 5, 5, 6, 7, 8])
    spares = rng.choice([1, 2, 2, 3])
    kinds = ['hdd', 'hdd', 'ssd', 'ssd', 'nvme']
    disks = []
    for _ in range(count + spares):
        same = disks and rng.random() < 0.3
        disks.append({'kind': rng.choice(kinds), 'size': disks[-1]['size'] if same else rng.choice(SIZES)})
    for disk in disks[count:]:      # a spare that can stand in for something
        disk['size'] = max(disk['size'], rng.choice([512, 1024, 4096]))
    disks[0]['size'] = max(disks[0]['size'], 512)
    array = {'disks': disks, 'members': count, 'volatile': rng.random() < 0.8}
    fit = [p for p, least in LEAST.items() if least <= sum(d['size'] >= SMALLEST for d in disks[:count])]
    # Without a second copy nothing can be lost, fail or rot.
    copies = [p for p in fit if layout.PROFILES[p].lost and not layout.PROFILES[p].parity]
    both = rng.random() < 0.6
    array['data'] = rng.choice(copies if both and copies else fit)
    array['metadata'] = rng.choice(copies if both and copies else
                                   [p for p in fit if p != 'raid0' or rng.random() < 0.3] + copies)
    features(array, rng)
    return array


def features(array, rng):
    if rng.random() < 0.06:
        array['mixed'] = True
        array['metadata'] = array['data']
    if rng.random() < 0.15:
        array['cache'] = 'v1'
    if rng.random() < 0.2:
        array['quota'] = rng.choice(['qgroup', 'simple'])
    if rng.random() < 0.2 and not array.get('mixed'):
        array['nodesize'] = rng.choice([4096, 8192, 32768, 65536])
    if rng.random() < 0.3:
        array['opts'] = rng.choice(['discard=async', 'compress=zstd:1', 'metadata_ratio=4',
                                    'compress-force=zlib:1,discard=async'])


def specs(array):
    """What the lab is told."""
    volatile = ',volatile=1' if array['volatile'] else ''
    return ['%s:seed=%d,size=%dM%s' % (d['kind'], i + 1, d['size'], volatile)
            for i, d in enumerate(array['disks'])]


def make(m):
    """mkfs and the first mount.  Disks too small for mkfs are added afterwards."""
    array = m.array
    for i, disk in enumerate(array['disks']):
        m.slots.append({'dev': '/dev/labd' + chr(ord('a') + i), 'kind': disk['kind'],
                        'size': disk['size'] * MIB, 'state': 'spare'})
    first = [i for i in range(array['members']) if array['disks'][i]['size'] >= SMALLEST]
    late = [i for i in range(array['members']) if i not in first]
    words = ['-m', array['metadata']] + (['-M'] if array.get('mixed') else [])
    words += ['-n', str(array['nodesize'])] if array.get('nodesize') else []
    words += ['-R', '^free-space-tree'] if array.get('cache') == 'v1' else []
    words += ['-d', array['data']]
    command = ['mkfs.btrfs', '-q', '-f', '-K', '-U', m.uuid]
    paths = [m.slots[i]['dev'] for i in first]
    # Where its first chunks do not fit on small devices it gets profiles that do.
    if 'not enough free space' in machine.run(*command, *words, *paths).out:
        words[:2] = ['-m', 'single' if array.get('mixed') else 'dup']
        words[-2:] = ['-d', 'single']
        machine.must(*command, *words, *paths)
    for devid, i in enumerate(first + late):
        m.slots[i]['state'] = 'member' if i in first else 'spare'
        m.devs[devid + 1] = {'slot': i, 'role': 'data-preferred', 'seed': False,
                             'size': m.slots[i]['size']}
    result = mounting.mount(m, array.get('opts', ''))
    if result.status:
        raise Finding('first mount', result.text())
    if late:
        machine.must('btrfs', 'device', 'add', '-f', '-K', *[m.slots[i]['dev'] for i in late], machine.MNT)
    for i in late:
        m.slots[i]['state'] = 'member'
    if array.get('quota'):
        mounting.enable_quota(array['quota'])
    machine.must('btrfs', 'subvolume', 'create', machine.MNT + '/v')
    m.subvols.append('v')

# SPDX-License-Identifier: GPL-2.0-only
#
# What workloads do: files, snapshots, clones, full file systems.
import errno
import fcntl
import os
import struct

import content
import layout
import machine
from base import Step, btrfs, no_space
from machine import Finding, MNT, Result

MIB = 1 << 20
DATA_LIMIT = 96 * MIB       # contents that are kept and compared
FICLONE = 0x40049409
DEDUPE = 3 << 30 | 24 << 16 | 0x94 << 8 | 54


def path_of(name):
    return os.path.join(MNT, name)


def put(path, change):
    """One change of a file, as the manifest describes it."""
    what, offset, size, seed = change
    with open(path_of(path), 'r+b' if os.path.exists(path_of(path)) else 'w+b') as file:
        if what == 'truncate':
            file.truncate(size)
        else:
            file.seek(offset)
            file.write(content.produce(seed, size))


def space_for(m, before, need):
    """Must writes of so much succeed?"""
    fs = os.statvfs(MNT)
    if fs.f_bavail * fs.f_frsize < 2 * need + 64 * MIB:
        return False
    for profile in before.profiles('metadata'):
        if before.space('metadata', profile, m.present()) < 64 * MIB:
            return False
    return not m.stranded


class FileStep(Step):
    """A step that may legitimately run out of space where the model says so."""
    need = 8 * MIB

    def tried(self, action):
        try:
            return Result(0, action() or '')
        except OSError as error:
            return Result(error.errno or 1, error.strerror or str(error))

    def excuse(self, m, a, result, before):
        if no_space(result) and (m.full or m.ballast or not space_for(m, before, self.need)):
            return 'no space'
        return None


class Write(FileStep):
    """Files of one size class, many or few, some of them synced one by one."""
    name, weight = 'write', 10
    classes = {'inline': (60, 1, 2000), 'small': (20, 2000, 60000), 'middle': (4, 60000, 2 * MIB),
               'big': (1, 4 * MIB, 16 * MIB)}

    def draw(self, m, rng):
        kind = rng.choice(list(self.classes))
        count, low, high = self.classes[kind]
        if m.manifest.bytes() > DATA_LIMIT:
            count, low, high = 4, 1, 2000
        return {'where': rng.choice(m.subvols), 'kind': kind, 'count': rng.randint(1, count),
                'seed': rng.randint(1, 1 << 30), 'size': rng.randint(low, high),
                'fsync': rng.random() < 0.2}

    def fits(self, m, a):
        return a['where'] in m.subvols

    def act(self, m, a):
        def action():
            for i in range(a['count']):
                path = '%s/%s' % (a['where'], m.name('f'))
                change = ('write', 0, max(1, a['size'] * (i + 1) // a['count']), a['seed'] + i)
                try:
                    put(path, change)
                except OSError:
                    if os.path.exists(path_of(path)):
                        os.unlink(path_of(path))
                    raise
                m.manifest.change(path, change)
                if a['fsync']:
                    fd = os.open(path_of(path), os.O_RDONLY)
                    os.fsync(fd)
                    os.close(fd)
        return self.tried(action)


class Change(FileStep):
    """Overwrite, append and truncate what is there."""
    name, weight = 'change', 8
    upsets = (errno.ENOENT,)

    def choice(self, m):
        return self.targets(m)

    def targets(self, m):
        return [p for p in m.manifest.present() if p.split('/')[0] in m.subvols]

    def draw(self, m, rng):
        changes = []
        for path in rng.sample(self.targets(m), min(len(self.targets(m)), 5)):
            size = m.manifest.files[path].size()
            if rng.random() < 0.3:
                changes.append([path, 'truncate', 0, rng.randint(0, size + 5000), 0])
            else:
                changes.append([path, 'write', rng.randint(0, size), rng.randint(1, 200000),
                                rng.randint(1, 1 << 30)])
        return {'changes': changes}

    def act(self, m, a):
        def action():
            for path, *change in a['changes']:
                if path not in m.manifest.present():
                    continue
                try:
                    put(path, change)
                except OSError:     # half of it may have been written
                    os.unlink(path_of(path))
                    m.manifest.delete(path)
                    raise
                m.manifest.change(path, change)
        return self.tried(action)


class Delete(FileStep):
    name, weight = 'delete', 4
    upsets = (errno.ENOENT,)

    def choice(self, m):
        return Change.targets(self, m)

    def draw(self, m, rng):
        return {'part': rng.choice([0.1, 0.5, 1.0]), 'seed': rng.randint(1, 1 << 30)}

    def act(self, m, a):
        def action():
            names = Change.targets(self, m)
            for path in names[:max(1, int(len(names) * a['part']))]:
                os.unlink(path_of(path))
                m.manifest.delete(path)
        return self.tried(action)


class Snapshot(FileStep):
    name, weight = 'snapshot', 4

    def draw(self, m, rng):
        return {'where': rng.choice(m.subvols), 'ro': rng.random() < 0.5}

    def choice(self, m):
        return len(m.subvols) < 8

    def fits(self, m, a):
        return a['where'] in m.subvols

    def act(self, m, a):
        a['name'] = m.name('snap')
        words = ['-r'] if a['ro'] else []
        return btrfs('subvolume', 'snapshot', *words, path_of(a['where']), path_of(a['name']))

    def effect(self, m, a, result):
        m.manifest.copy_tree(a['where'], a['name'])
        if not a['ro']:
            m.subvols.append(a['name'])


class DeleteSnapshot(FileStep):
    name, weight = 'delete-snapshot', 3
    upsets = (errno.ENOENT,)

    def tops(self, m):
        tops = {p.split('/')[0] for p in m.manifest.present()} | set(m.subvols)
        return sorted(tops - {'v'})

    def choice(self, m):
        return self.tops(m)

    def fits(self, m, a):
        return a['which'] in self.tops(m)

    def draw(self, m, rng):
        return {'which': rng.choice(self.tops(m)), 'commit': rng.random() < 0.5}

    def act(self, m, a):
        return btrfs('subvolume', 'delete', *(['-c'] if a['commit'] else []), path_of(a['which']))

    def effect(self, m, a, result):
        m.manifest.delete_tree(a['which'])
        if a['which'] in m.subvols:
            m.subvols.remove(a['which'])


class SendReceive(FileStep):
    name, weight, moves, need = 'send', 3, True, DATA_LIMIT

    def choice(self, m):
        return m.manifest.bytes() < DATA_LIMIT and len(m.subvols) < 8

    def draw(self, m, rng):
        return {'where': rng.choice(m.subvols)}

    def fits(self, m, a):
        return a['where'] in m.subvols

    def act(self, m, a):
        a['name'] = m.name('sent')
        a['copy'] = m.name('recv')
        result = btrfs('subvolume', 'snapshot', '-r', path_of(a['where']), path_of(a['name']))
        if result.status:
            return result
        m.manifest.copy_tree(a['where'], a['name'])
        result = machine.run('sh', '-c', 'mkdir "$2" && btrfs -q send -f /tmp/stream "$1" && '
                             'btrfs -q receive -f /tmp/stream "$2"',
                             'sh', path_of(a['name']), path_of(a['copy']))
        if os.path.exists('/tmp/stream'):
            os.unlink('/tmp/stream')
        return result

    def effect(self, m, a, result):
        m.manifest.copy_tree(a['name'], a['copy'] + '/' + a['name'])
        wrong = content.compare(MNT, m.manifest, [p for p in m.manifest.present()
                                                  if p.startswith(a['copy'] + '/')])
        if wrong:
            raise Finding('contents', 'received: ' + '\n'.join(wrong))
        machine.must('btrfs', 'subvolume', 'delete', path_of(a['copy'] + '/' + a['name']))
        os.rmdir(path_of(a['copy']))
        m.manifest.forget_tree(a['copy'])

    def failed(self, m, a, result):
        machine.run('sh', '-c', 'btrfs -q subvolume delete "$1"/*; rmdir "$1"', 'sh',
                    path_of(a.get('copy', 'none')))


class Clone(FileStep):
    """Reflink of a whole file, and dedupe of the two."""
    name, weight = 'clone', 3

    def choice(self, m):
        return Change.targets(self, m)

    def draw(self, m, rng):
        return {'path': rng.choice(Change.targets(self, m)), 'dedupe': rng.random() < 0.6}

    def fits(self, m, a):
        return a['path'] in m.manifest.present()

    def act(self, m, a):
        def action():
            source = m.manifest.files[a['path']]
            new = a['path'].split('/')[0] + '/' + m.name('c')
            with open(path_of(a['path']), 'rb') as old, open(path_of(new), 'wb') as file:
                fcntl.ioctl(file.fileno(), FICLONE, old.fileno())
            m.manifest.files[new] = content.File(source.changes, 0)
            size = source.size() // 4096 * 4096
            if a['dedupe'] and size:
                self.dedupe(path_of(a['path']), path_of(new), size)
        return self.tried(action)

    @staticmethod
    def dedupe(one, two, size):
        with open(one, 'rb') as src, open(two, 'r+b') as dst:
            arg = bytearray(struct.pack('<QQHHI', 0, min(size, 16 * MIB), 1, 0, 0) +
                            struct.pack('<qQQiI', dst.fileno(), 0, 0, 0, 0))
            fcntl.ioctl(src.fileno(), DEDUPE, arg)


class Fill(FileStep):
    """Reserve space until there is none: df must have said how much that is."""
    name, weight = 'fill', 4

    def draw(self, m, rng):
        part = rng.choice([0.2, 0.5, 0.9, 2, 2])
        return {'part': part, 'keep': rng.random() < (0.4 if part > 1 else 0.8)}

    def act(self, m, a):
        os.sync()
        fs = os.statvfs(MNT)
        said = fs.f_bavail * fs.f_frsize
        path = m.name('ballast')
        try:
            got = reserve(path_of(path), int(said * a['part']) if a['part'] < 1 else None)
        except OSError as error:    # not even the name, if there is no space
            return Result(error.errno, error.strerror)
        m.ballast[path] = got
        m.full = a['part'] >= 1
        a['said'], a['got'] = said, got
        if a['part'] >= 1:
            self.compare(m, said, got)
        if not a['keep']:
            os.unlink(path_of(path))
            del m.ballast[path]
            os.sync()
            m.full = bool(m.ballast)
        return Result(0, '', nothing=not got)

    @staticmethod
    def compare(m, said, got):
        """Within one chunk.  Without roles it is the stock kernel's figure; with the
        profiles it is known to be wrong for, or metadata that is full, no figure holds."""
        now = machine.chunk_tree()
        writable = m.present()
        if m.ratio() or m.loose or m.lost() or m.mixed() or m.quota or m.stranded or len(now.profiles('data')) > 1 or \
                all(m.devs[d]['role'] == 'data-preferred' for d in writable):
            return
        profile = next(iter(now.profiles('data')), 'single')
        if layout.PROFILES[profile].parity:
            return
        for kind in now.profiles('metadata'):
            if now.space('metadata', kind, writable) == 0:
                return
        # One device of a rank is larger than the others of it can match.  For RAID10 df is a lower bound then.
        sizes = [[v.total for d, v in now.devices.items() if d in writable and layout.rank(v.role, 'data') == rank]
                 for rank in (0, 1)]
        uneven = [max(2, layout.PROFILES[profile].copies) * max(rank, default=0) > sum(rank) for rank in sizes]
        if profile == 'raid10' and said < got and any(uneven):
            return
        data = [c for c in now.chunks.values() if c.kind == 'data']
        chunk = max([c.length for c in data] + [64 * MIB])
        # Of the first choice those too small for a useful chunk come last: more fits by what they leave to others.
        small = sum(v.total for d, v in now.devices.items() if d in writable and layout.rank(v.role, 'data') == 0 and
                    v.total < now.useful(data[0], writable)) if said < got else 0
        # The rest of a device, less than a useful chunk, leaves the others of the first choice to the large one of the second.
        rest = sum(min(size, chunk) for size in sizes[0]) // 2 if said < got and uneven[1] else 0
        if abs(said - got) > chunk + 32 * MIB + rest + small * layout.PROFILES[profile].copies:
            raise Finding('df: more than a chunk off', 'said %d MiB, got %d MiB; a chunk is %d MiB' %
                          (said // MIB, got // MIB, chunk // MIB))


def reserve(path, limit=None):
    """Bytes that could be reserved, at most the limit."""
    got, piece = 0, 256 * MIB
    with open(path, 'wb') as file:
        while True:
            piece = piece if limit is None else min(piece, limit - got)
            if piece < MIB:
                return got
            try:
                os.posix_fallocate(file.fileno(), got, piece)
                got += piece
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                piece //= 2


class Free(FileStep):
    name, weight = 'free', 3

    def choice(self, m):
        return m.ballast

    def draw(self, m, rng):
        return {'path': rng.choice(sorted(m.ballast))}

    def fits(self, m, a):
        return a.get('path') in m.ballast or 'path' not in a

    def act(self, m, a):
        def action():
            for path in [a['path']] if 'path' in a else list(m.ballast):
                os.unlink(path_of(path))
                del m.ballast[path]
            m.full = False
        result = self.tried(action)
        os.sync()
        return result


STEPS = [Write(), Change(), Delete(), Snapshot(), DeleteSnapshot(), SendReceive(), Clone(), Fill(), Free()]

# SPDX-License-Identifier: GPL-2.0-only
#
# Devices and chunks of a btrfs file system, decoded from raw items: from images
# (super block, system chunk array, chunk tree) and from a mounted file system
# (TREE_SEARCH_V2).  Independent of the project's library and of btrfs-progs.
# Owns the on-disk format; knows nothing of steps, models or the lab.
import fcntl
import struct

DATA, SYSTEM, METADATA = 1, 2, 4
KINDS = {DATA: 'data', SYSTEM: 'system', METADATA: 'metadata', DATA | METADATA: 'mixed'}
UNIT = 65536
# The first MiB of a device, which no chunk gets.
RESERVED = 1 << 20
CHUNK_TREE, DEV_ITEMS, CHUNKS, DEV_ITEM, CHUNK_ITEM = 3, 1, 256, 216, 228
SUPER_AT, MAGIC = 65536, b'_BHRfS_M'
SEARCH_V2 = 3 << 30 | 112 << 16 | 0x94 << 8 | 17

ROLES = ['data-preferred', 'metadata-preferred', 'metadata-only', 'data-only']


class Profile:
    def __init__(self, name, flag, least, copies, parity, stripes, striped, step, lost):
        self.name, self.flag, self.least = name, flag, least
        self.copies, self.parity, self.stripes = copies, parity, stripes
        self.striped, self.step, self.lost = striped, step, lost


# Name, flag, devices at least, copies, parity, stripes on a device, width
# follows the devices, step of the width, devices that may be lost.
PROFILES = {p.name: p for p in [
    Profile('single', 0, 1, 1, 0, 1, False, 1, 0),
    Profile('raid0', 8, 1, 1, 0, 1, True, 1, 0),
    Profile('raid1', 16, 2, 2, 0, 1, False, 2, 1),
    Profile('dup', 32, 1, 2, 0, 2, False, 1, 0),
    Profile('raid10', 64, 2, 2, 0, 1, True, 2, 1),
    Profile('raid5', 128, 2, 1, 1, 1, True, 1, 1),
    Profile('raid6', 256, 3, 1, 2, 1, True, 1, 2),
    Profile('raid1c3', 512, 3, 3, 0, 1, False, 3, 2),
    Profile('raid1c4', 1024, 4, 4, 0, 1, False, 4, 3)]}
BY_FLAG = {p.flag: p for p in PROFILES.values()}


def rank(role, kind):
    """0 first choice, 1 second, None excluded; kind is 'data' or another."""
    if kind == 'mixed':
        return 0
    if role == 'draining':
        return None
    prefers_metadata = role.startswith('metadata')
    if prefers_metadata == (kind != 'data'):
        return 0
    return None if role.endswith('-only') else 1


class Device:
    def __init__(self, item):
        (self.devid, self.total, self.used, _, _, _, self.type, self.generation, _, _, _, _,
         self.uuid, self.fsid) = struct.unpack('<QQQIIIQQQIBB16s16s', item[:98])
        raw = self.type & 7
        self.role = (ROLES + ['foreign', 'draining'])[raw] if raw < 6 else ROLES[0]

    def free(self):
        return max(0, self.total - self.used)

    def kept(self, kind):
        """Bytes that only system chunks may take."""
        return min(self.total // 10, 16 << 20) if self.role.startswith('metadata') and kind != 'system' else 0


class Chunk:
    def __init__(self, start, item):
        (self.length, _, _, self.flags, _, _, _, count, _) = struct.unpack('<QQQQIIIHH', item[:48])
        self.start = start
        self.stripes = [struct.unpack('<QQ', item[48 + 32 * i:64 + 32 * i]) for i in range(count)]
        self.kind = KINDS.get(self.flags & 7, 'none')
        self.profile = BY_FLAG[self.flags & 0x7f8]

    def size(self):
        return 48 + 32 * len(self.stripes)

    def devids(self):
        return sorted({devid for devid, _ in self.stripes})

    def stripe_bytes(self):
        """Bytes of one stripe on its device."""
        p, n = self.profile, len(self.stripes)
        if p.name == 'single':
            return self.length
        return self.length // max(1, (n - p.parity) // p.copies)

    def survives(self, lost):
        """Can it be read without the devices of the set lost?"""
        p = self.profile
        gone = [devid in lost for devid, _ in self.stripes]
        if p.name == 'raid10':
            return not any(gone[i] and gone[i + 1] for i in range(0, len(gone) - 1, 2))
        if p.name == 'dup':
            return not all(gone)
        return sum(gone) <= p.lost

    def places(self, logical):
        """Devid and offset of each copy of the block at logical."""
        p, n = self.profile, len(self.stripes)
        off = logical - self.start
        nr, rest = divmod(off, UNIT)
        if not p.striped:
            return [(d, at + off) for d, at in self.stripes]
        if p.name == 'raid10':
            row, group = divmod(nr, n // 2)
            picks = [2 * group, 2 * group + 1]
        elif p.parity:
            row, col = divmod(nr, n - p.parity)
            picks = [(row + col) % n]
        else:
            row, col = divmod(nr, n)
            picks = [col]
        return [(self.stripes[i][0], self.stripes[i][1] + row * UNIT + rest) for i in picks]


class Layout:
    def __init__(self, devices, chunks):
        self.devices = {d.devid: d for d in devices}
        self.chunks = {c.start: c for c in chunks}

    def profiles(self, kind):
        return {c.profile.name for c in self.chunks.values() if c.kind == kind}

    def readable_without(self, lost):
        return all(c.survives(lost) for c in self.chunks.values())

    def broken(self):
        """What no chunk tree may have."""
        for c in self.chunks.values():
            if c.length == 0 or c.length % UNIT or not c.stripes or c.kind == 'none':
                return 'chunk %d: length %d, flags %#x' % (c.start, c.length, c.flags)
            if not c.profile.stripes > 1 and len(c.devids()) != len(c.stripes):
                return 'chunk %d: two stripes on one device: %s' % (c.start, c.stripes)
            missing = [d for d in c.devids() if d and d not in self.devices]
            if missing:
                return 'chunk %d: no device item for %s' % (c.start, missing)
        return self.overlap()

    def miscounted(self):
        """Used bytes of a device item are those of the stripes on it."""
        for devid, device in self.devices.items():
            stripes = sum(c.stripe_bytes() for c in self.chunks.values() for d, _ in c.stripes if d == devid)
            if device.used != stripes:
                return 'devid %d: %d bytes used, the stripes have %d' % (devid, device.used, stripes)
        return None

    def overlap(self):
        taken = {}
        for c in self.chunks.values():
            for devid, at in c.stripes:
                taken.setdefault(devid, []).append((at, at + c.stripe_bytes(), c.start))
        for devid, parts in taken.items():
            parts.sort()
            for a, b in zip(parts, parts[1:]):
                if a[1] > b[0]:
                    return 'devid %d: chunks %d and %d overlap' % (devid, a[2], b[2])
            if devid in self.devices and parts[-1][1] > self.devices[devid].total:
                return 'devid %d: chunk %d beyond its end' % (devid, parts[-1][2])
        return None

    def misplaced(self, kind, writable):
        """Bytes of stripes that roles want elsewhere; writable: devids open for writing."""
        return sum(self.misplaced_of(c, writable) for c in self.chunks.values() if c.kind == kind)

    def misplaced_of(self, c, writable):
        ranks = [rank(self.devices[d].role, c.kind) if d in self.devices else 1 for d in c.devids()]
        bytes_each = c.stripe_bytes() * len(c.stripes) // len(ranks)   # DUP may be on one device or two
        other = ranks.count(1)
        if other:
            useful = self.useful(c, writable)
            vacant = sum(1 for d in writable
                         if d in self.devices and rank(self.devices[d].role, c.kind) == 0 and
                         self.devices[d].free() >= max(bytes_each + RESERVED, useful +
                                                       max(RESERVED, self.devices[d].kept(c.kind))) and
                         d not in c.devids())
            if not c.profile.striped:
                other = min(other, vacant)
            else:
                usable = ranks.count(0) + vacant
                if usable - usable % c.profile.step < c.profile.least:
                    other = 0
        return (ranks.count(None) + other) * bytes_each

    def useful(self, c, writable):
        """Bytes a device of the first choice must offer to be preferred."""
        first = sum(self.devices[d].total for d in writable
                    if d in self.devices and rank(self.devices[d].role, c.kind) == 0)
        return min({'data': 256 << 20, 'metadata': 64 << 20, 'system': 32 << 20}[c.kind], first // 10) * c.profile.stripes

    def widest(self, p, free):
        """Devices of the next chunk, most free first, if there is space for a unit on enough of them."""
        order = sorted((d for d in free if free[d] >= UNIT * p.stripes), key=lambda d: -free[d])
        width = len(order) - len(order) % p.step if p.striped else p.step
        return order[:width] if width and len(order) >= max(width, p.least) else []

    def free(self, kind, writable, less=()):
        return {d: max(0, self.devices[d].free() - RESERVED) for d in writable
                if d in self.devices and d not in less and
                rank(self.devices[d].role, kind) is not None}

    def largest(self, kind, profile, writable):
        """Bytes that one new chunk of the kind can have at most, whatever bounds its share of the size."""
        p = PROFILES[profile]
        free = self.free(kind, writable)
        use = self.widest(p, free)
        return free[use[-1]] * (len(use) * p.stripes - p.parity) // (p.copies * p.stripes) if use else 0

    def space(self, kind, profile, writable, less=()):
        """Bytes of new chunks of the kind that fit, by a plain simulation."""
        p = PROFILES[profile]
        free = self.free(kind, writable, less)
        total = 0
        for _ in range(400):
            use = self.widest(p, free)
            if not use:
                return total
            piece = min(free[use[-1]] // p.stripes, 256 << 20)
            piece = max(UNIT, min(piece, max(piece // 4, 16 << 20)) // UNIT * UNIT)
            for d in use:
                free[d] -= piece * p.stripes
            total += piece * (len(use) * p.stripes - p.parity) // p.copies
        return total


# --- from a mounted file system ---

# One buffer for all searches: memory that is new costs a fault for each page, and a
# fault is dear in the lab.
BUFFER = bytearray(112 + (1 << 16))


def search(fd, objectid, item_type):
    """Items of the chunk tree as (offset, data)."""
    found, first, limit, buf = [], 0, (1 << 64) - 1, BUFFER
    while True:
        struct.pack_into('<7QIII I4QQ', buf, 0, CHUNK_TREE, objectid, objectid, first, limit, 0,
                         limit, item_type, item_type, 4096, 0, 0, 0, 0, 0, len(buf) - 112)
        fcntl.ioctl(fd, SEARCH_V2, buf)
        count = struct.unpack_from('<I', buf, 64)[0]
        at = 112
        for _ in range(count):
            _, _, offset, _, size = struct.unpack_from('<QQQII', buf, at)
            found.append((offset, bytes(buf[at + 32:at + 32 + size])))
            at += 32 + size
            first = offset + 1
        if not count:
            return found


def mounted(fd):
    return Layout([Device(data) for _, data in search(fd, DEV_ITEMS, DEV_ITEM)],
                  [Chunk(offset, data) for offset, data in search(fd, CHUNKS, CHUNK_ITEM)])


# --- from images ---

class Super:
    def __init__(self, block):
        self.fsid = block[32:48]
        (self.bytenr, self.flags) = struct.unpack_from('<QQ', block, 48)
        self.good = block[64:72] == MAGIC
        (self.generation, self.root, self.chunk_root) = struct.unpack_from('<QQQ', block, 72)
        self.total_bytes, _, _, self.num_devices, _, self.nodesize = struct.unpack_from('<QQQQII', block, 0x70)
        size, self.chunk_generation = struct.unpack_from('<IQ', block, 0xa0)
        self.incompat = struct.unpack_from('<Q', block, 0xbc)[0]
        self.device = Device(block[0xc9:0xc9 + 98])
        self.system = self.array(block[0x32b:0x32b + size]) if self.good else []

    @staticmethod
    def array(raw):
        chunks, at = [], 0
        while at + 17 + 48 <= len(raw):
            offset = struct.unpack_from('<Q', raw, at + 9)[0]
            chunk = Chunk(offset, raw[at + 17:])
            chunks.append(chunk)
            at += 17 + chunk.size()
        return chunks


class Unreadable(Exception):
    pass


class Images:
    """Files or block devices that together hold one file system."""

    def __init__(self, paths):
        self.supers, self.files = {}, {}
        for path in paths:
            with open(path, 'rb') as file:
                file.seek(SUPER_AT)
                block = file.read(4096)
            if len(block) == 4096 and block[64:72] == MAGIC:
                self.supers[path] = Super(block)

    def newest(self, fsid=None):
        ours = {p: s for p, s in self.supers.items() if fsid in (None, s.fsid)}
        if not ours:
            raise Unreadable('no super block')
        best = max(ours.values(), key=lambda s: s.generation)
        self.files = {s.device.devid: p for p, s in ours.items()
                      if s.generation == best.generation and s.fsid == best.fsid}
        return best

    def node(self, sb, logical, generation):
        chunk = next((c for c in sb.system if c.start <= logical < c.start + c.length), None)
        if not chunk:
            raise Unreadable('no system chunk for %d' % logical)
        for devid, at in chunk.places(logical):
            if devid not in self.files:
                continue
            with open(self.files[devid], 'rb') as file:
                file.seek(at)
                block = file.read(sb.nodesize)
            where, = struct.unpack_from('<Q', block, 48)
            written, = struct.unpack_from('<Q', block, 80)
            if where == logical and written == generation:
                return block
        raise Unreadable('no good copy of chunk tree block %d, generation %d' % (logical, generation))

    def leaves(self, sb, logical, generation):
        block = self.node(sb, logical, generation)
        count, level = struct.unpack_from('<IB', block, 96)
        for i in range(count):
            if level:
                below = struct.unpack_from('<QQ', block, 101 + 33 * i + 17)
                yield from self.leaves(sb, *below)
            else:
                objectid, kind, offset, at, size = struct.unpack_from('<QBQII', block, 101 + 25 * i)
                yield objectid, kind, offset, block[101 + at:101 + at + size]

    def layout(self, fsid=None):
        sb = self.newest(fsid)
        devices, chunks = [], []
        for _, kind, offset, data in self.leaves(sb, sb.chunk_root, sb.chunk_generation):
            if kind == DEV_ITEM:
                devices.append(Device(data))
            elif kind == CHUNK_ITEM:
                chunks.append(Chunk(offset, data))
        return Layout(devices, chunks)

# SPDX-License-Identifier: GPL-2.0-only
#
# What files must contain.  A file is the list of changes made to it, each
# reproducible from a seed; a prefix of the list is known to be on disk.
# Owns the manifest; knows nothing of devices or steps.
import hashlib
import os
import random

BLOCK = 4096


def produce(seed, size):
    """Bytes from a seed: even seeds random, odd ones compressible."""
    rng = random.Random(seed)
    if seed % 2 == 0:
        return rng.randbytes(size)
    line = rng.randbytes(24).hex().encode()
    count = size // 512 + 1
    return b''.join(b'%015d ' % i + line * 10 + b'\n' * 16 for i in range(count))[:size]


def apply(data, change):
    what, offset, size, seed = change
    if what == 'truncate':
        return data[:size] + bytes(max(0, size - len(data)))
    data += bytes(max(0, offset - len(data)))
    return data[:offset] + produce(seed, size) + data[offset + size:]


class File:
    def __init__(self, changes=(), stored=0, gone=False):
        self.changes = [tuple(c) for c in changes]
        self.stored = stored        # this many changes are on disk, 0: not even the name
        self.gone = gone            # deleted, but that may not be on disk
        self.known = None           # (changes, checksum)

    def data(self, count=None):
        data = b''
        for change in self.changes[:count]:
            data = apply(data, change)
        return data

    def checksum(self):
        if not self.known or self.known[0] != len(self.changes):
            self.known = (len(self.changes), hashlib.sha256(self.data()).hexdigest())
        return self.known[1]

    def size(self):
        size = 0
        for what, offset, length, _ in self.changes:
            size = length if what == 'truncate' else max(size, offset + length)
        return size

    def copy(self):
        return File(self.changes, len(self.changes))

    def save(self):
        return [self.changes, self.stored, self.gone]


class Manifest:
    """Paths below the mount point, and what they must contain."""

    def __init__(self, saved=None):
        self.files = {path: File(*state) for path, state in (saved or {}).items()}

    def save(self):
        return {path: f.save() for path, f in self.files.items()}

    def present(self):
        return sorted(p for p, f in self.files.items() if not f.gone)

    def unsynced(self):
        return [p for p in self.present() if self.files[p].stored < len(self.files[p].changes)]

    def bytes(self):
        return sum(f.size() for f in self.files.values() if not f.gone)

    def change(self, path, change):
        f = self.files.get(path)
        if f is None or f.gone:
            # A name that is used again: whatever was there may still be there.
            f = self.files[path] = File()
        f.changes.append(tuple(change))
        f.known = None

    def synced(self, path=None):
        """Everything, or one file, is on disk."""
        for name in list(self.files) if path is None else [path]:
            f = self.files[name]
            f.stored = len(f.changes)
            if f.gone:
                del self.files[name]

    def delete(self, path):
        f = self.files[path]
        f.gone = True

    def copy_tree(self, old, new):
        for path in self.present():
            if path.startswith(old + '/'):
                self.files[new + path[len(old):]] = self.files[path].copy()

    def delete_tree(self, prefix):
        for path in self.present():
            if path.startswith(prefix + '/'):
                self.delete(path)

    def forget_tree(self, prefix):
        for path in list(self.files):
            if path.startswith(prefix + '/'):
                del self.files[path]


def read_file(path):
    with open(path, 'rb', buffering=0) as file:
        parts = []
        while True:
            part = file.read(1 << 20)
            if not part:
                return b''.join(parts)
            parts.append(part)


PIECE = bytearray(1 << 20)


def sum_file(path):
    """Its checksum, in a buffer that is there already: see layout.BUFFER."""
    digest = hashlib.sha256()
    with open(path, 'rb', buffering=0) as file:
        while True:
            size = file.readinto(PIECE)
            if not size:
                return digest.hexdigest()
            digest.update(memoryview(PIECE)[:size])


def differs(root, path, f):
    """None, or how the file differs from what it must be."""
    try:
        if sum_file(os.path.join(root, path)) == f.checksum():
            return None
        got = read_file(os.path.join(root, path))
    except OSError as error:
        return '%s: %s' % (path, error.strerror)
    want = f.data()
    if got == want:
        return '%s: differs once, not when it is read again' % path
    if len(got) != len(want):
        return '%s: %d bytes, not %d' % (path, len(got), len(want))
    at = next(i for i in range(0, len(got), BLOCK) if got[i:i + BLOCK] != want[i:i + BLOCK])
    return '%s: differs at %d: got %s want %s' % (path, at, got[at:at + 16].hex(),
                                                 want[at:at + 16].hex())


def compare(root, manifest, paths=None):
    """All differences, as text."""
    found = (differs(root, p, manifest.files[p]) for p in
             (manifest.present() if paths is None else paths))
    return [text for text in found if text]


def after_crash(root, path, f):
    """What is wrong with a file after a power cut: every block must be one of
    a state since the last sync, or zeros; returns (complaint, state or None)."""
    full = os.path.join(root, path)
    if not os.path.lexists(full):
        if f.stored and not f.gone:
            return '%s: lost, although it was on disk' % path, None
        return None, None
    try:
        got = read_file(full)
    except OSError as error:
        return '%s: %s' % (path, error.strerror), None
    states = [f.data(n) for n in range(f.stored, len(f.changes) + 1)]
    for n in range(len(states) - 1, -1, -1):
        if got == states[n]:
            return None, f.stored + n
    for at in range(0, len(got), BLOCK):
        block = got[at:at + BLOCK]
        if not any(same(block, s[at:at + BLOCK]) for s in states) and block.strip(b'\0'):
            return '%s: at %d content of no state: %s' % (path, at, block[:16].hex()), None
    if f.stored == len(f.changes) and not f.gone:
        return '%s: %d bytes, was on disk with %d' % (path, len(got), len(states[0])), None
    return None, None


def same(block, state):
    """A block of the file against the same place of a state that may be shorter."""
    n = min(len(block), len(state))
    return block[:n] == state[:n] and not block[n:].strip(b'\0')


def recover(root, manifest):
    """Check all files after a power cut and take over what is there.  What is
    between two states is deleted.  Returns complaints."""
    complaints = []
    for path in sorted(manifest.files):
        f = manifest.files[path]
        complaint, state = after_crash(root, path, f)
        if complaint:
            complaints.append(complaint)
        full = os.path.join(root, path)
        if state:
            f.changes, f.stored, f.gone, f.known = f.changes[:state], state, False, None
            continue
        if os.path.lexists(full):
            os.unlink(full)
        del manifest.files[path]
    return complaints

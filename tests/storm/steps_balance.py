# SPDX-License-Identifier: GPL-2.0-only
#
# Balance with all its control, and scrub.
import re

import checks
import layout
import machine
from base import FEWER, Step, btrfs, no_space
from machine import MNT
from steps_device import short_of_space


class Balance(Step):
    name, weight, moves = 'balance', 6, True
    needs = ('writable', 'unpaused', 'complete')

    def draw(self, m, rng):
        filters = rng.choice([['-dusage=100'], ['-musage=100', '-f'], ['-dusage=30', '-musage=30'],
                              ['-dlimit=2'], ['-mlimit=2', '-f'], ['-dusage=0', '-musage=0'], ['--full-balance']])
        if m.mixed():
            filters = [] if '-f' in filters else ['--full-balance']
        return {'filters': filters}

    def act(self, m, a):
        return btrfs('balance', 'start', *(a['filters'] or ['--full-balance']), MNT)

    def excuse(self, m, a, result, before):
        if m.cancelled and 'Invalid argument' in result.out:
            return 'a cancel is left over'
        if no_space(result):
            return short_of_space(m, before) or (m.full and 'full') or None
        if m.swap and 'busy' in result.out.lower():
            return 'swap file'
        return None


class Convert(Step):
    name, weight, moves = 'convert', 5, True
    needs = ('writable', 'unpaused', 'complete', 'unmixed')

    def draw(self, m, rng):
        n = len(m.present())
        names = [p for p in layout.PROFILES.values() if p.least <= n or rng.random() < 0.05]
        kind = rng.choice(['d', 'm', 'dm'])
        copies = [p for p in names if p.lost and not p.parity and rng.random() < 0.5]
        pick = {k: rng.choice(copies or names).name for k in kind}
        # The stock kernel aborts a transaction if metadata is converted to what has no space.
        if 'm' in pick and machine.chunk_tree().space('metadata', pick['m'], m.present()) < 128 << 20:
            pick = {'d': pick.get('d', 'single')}
        return {'to': pick, 'soft': rng.random() < 0.3}

    def act(self, m, a):
        words = ['-%sconvert=%s%s' % (k, p, ',soft' if a['soft'] else '') for k, p in a['to'].items()]
        return btrfs('balance', 'start', '-f', *words, MNT)

    def refused(self, m, a, before):
        devids = m.present()
        counts = m.counts(m.roles(), devids)
        for kind, profile in a['to'].items():
            need = layout.PROFILES[profile].least
            if need > len(devids) or need > counts[0 if kind == 'd' else 1]:
                return 'Invalid argument|profile|devices'
        return None

    def excuse(self, m, a, result, before):
        if m.cancelled and 'Invalid argument' in result.out:
            return 'a cancel is left over'
        if no_space(result):
            # Data is converted first, and its new chunks may be all over what metadata needs.
            after = machine.chunk_tree() if 'd' in a['to'] else before
            for word, kind in ('data', 'd'), ('metadata', 'm'), ('system', 'm'):
                if kind in a['to']:
                    trees = [before] if word == 'data' else [before, after]
                    profile = a['to'][kind]
                    used = sum(c.length for c in before.chunks.values() if c.kind == word)
                    if any(tree.space(word, profile, m.present()) < used + (128 << 20) for tree in trees):
                        return '%s is short of space' % word
            return short_of_space(m, before)
        if m.swap and 'busy' in result.out.lower():
            return 'swap file'
        return None

    loose = 'Invalid argument|too few'


def says_devices(m, result):
    """Does it name devices that cannot be written as the reason, rightly? A device that fails takes no stripe."""
    unwritable = re.search(r'to devid (\d+): the device cannot be written', result.out)
    if unwritable and int(unwritable[1]) in m.failing():
        return 'says that a device cannot be written'
    few = re.search(r'only (\d+) of \d+ devices can be written to, so they would lose copies', result.out)
    if few and int(few[1]) == len(m.present()):
        return 'says that copies would be lost'
    return None


class Preferred(Step):
    """Move what is misplaced; it says what it leaves, and why."""
    name, weight, moves, loose, loads = 'preferred', 5, True, FEWER, ('inplace',)
    needs = ('writable', 'unpaused', 'unmixed', 'patched')

    def draw(self, m, rng):
        return {'dry': rng.random() < 0.2, 'limit': rng.choice([None, None, 1]),
                'method': rng.choice(['auto', 'stripes', 'relocate'])}

    def act(self, m, a):
        words = (['--dry-run'] if a['dry'] else [])
        limit = ['--limit', str(a['limit'])] if a['limit'] else []
        result = btrfs(*words, 'balance', '--preferred-metadata', *limit,
                       '--method', a.get('method', 'auto'), MNT)
        result.nothing = a['dry'] or 'had to relocate 0 out of' in result.out
        return result

    def excuse(self, m, a, result, before):
        if m.cancelled and 'Invalid argument' in result.out:
            return 'a cancel is left over'
        # Its own exit statuses, with the reason: no space, swap file, roles that leave no way.
        if re.search('ERROR: .*(no space|not fit on|too little space|swap|less to grow)|WARNING: ', result.out):
            return 'says why: %s' % result.out.strip().split('\n')[-1][:100]
        if a.get('method') == 'stripes' and 'cannot be moved by its stripes' in result.out:
            return 'says why not by stripes'
        if says_devices(m, result):
            return says_devices(m, result)
        lacking = re.search(r'ERROR: (\w+),(\w+) needs (\d+) devices? that may hold it and there (?:are|is) (\d+):',
                            result.out)
        if lacking and (m.stranded or not m.complete()):
            # A failing device still counts.
            counts = m.counts(m.roles(), m.present() + m.failing())
            if int(lacking[4]) == counts[0 if lacking[1] == 'Data' else 1] < int(lacking[3]):
                return 'says what roles lack'
        if no_space(result):
            return short_of_space(m, before)
        return None


class BalanceControl(Step):
    """Start in the background, then pause, resume or cancel."""
    name, weight, moves = 'balance-control', 4, True
    needs = ('writable', 'complete')

    def draw(self, m, rng):
        after = rng.choice(['pause', 'cancel', 'pause-resume', 'pause-cancel'])
        return {'after': after, 'wait': rng.choice([1, 10, 50, 200])}

    def act(self, m, a):
        if m.busy == 'paused':
            return btrfs('balance', 'cancel' if 'cancel' in a['after'] else 'resume', MNT)
        result = btrfs('balance', 'start', '--bg', '--full-balance', MNT)
        if result.status:
            return result
        machine.sleep(a['wait'])
        for word in a['after'].split('-'):
            result = btrfs('balance', word, MNT)
            if result.status == 2 and re.search('not (in progress|running)', result.out, re.I):
                break           # it was over before that
            if result.status and not no_space(result):
                return result
        return machine.Result(0, result.out)

    def state(self, m):
        for _ in range(2000 * machine.PATIENCE):
            out = btrfs('balance', 'status', MNT).out
            if 'is running' not in out:
                return 'paused' if 'is paused' in out else ''
            machine.sleep(100)
        raise machine.Finding('hang: balance', out)

    def excuse(self, m, a, result, before):
        if m.cancelled and 'Invalid argument' in result.out:
            return 'a cancel is left over'
        if no_space(result):
            return short_of_space(m, before)
        if m.swap and 'busy' in result.out.lower():
            return 'swap file'
        return None

    def effect(self, m, a, result):
        m.busy = self.state(m)

    def failed(self, m, a, result):
        m.busy = self.state(m)


def refused_for_seeds(m, result):
    """Scrub writes to no device of a seed, and has repaired all others."""
    refused = re.findall(r'scrubbing .* failed for device id (\d+): .*errno=30', result.out)
    return bool(refused) and sorted(map(int, refused)) == m.seeds() and \
        bool(re.search(r'Uncorrectable:\s+0\b|no errors found', result.out))


def mend(m):
    """Scrub after damage that all copies together survive."""
    result = btrfs('scrub', 'start', '-B', MNT)
    if result.status == 0 or refused_for_seeds(m, result):
        m.damaged = False
        checks.copies(m)    # it has found all damage
        return machine.Result(0, result.out)
    return result


def held_by_scrubs(m, before):
    """The scrub of each device makes a block group with parity read-only, and data never overcommits:
    if they are as many as those of a kind, none that can be written to may be left."""
    for kind in ('data', 'mixed'):
        chunks = [c for c in before.chunks.values() if c.kind == kind]
        if any(c.profile.parity for c in chunks) and len(chunks) <= len(m.present()):
            return 'scrubs hold all of %s' % kind
    return None


class Scrub(Step):
    name, weight, moves = 'scrub', 4, True
    noise = r'csum failed|i/o error|unable to fixup|fixed up error|bdev .* errs:|checksum error|super block'

    needs = ('writable', 'complete')

    def expected(self, m):
        return self.noise if m.damaged or m.seeds() else None

    def draw(self, m, rng):
        return {'ro': rng.random() < 0.3, 'cancel': rng.choice([None, None, 3, 30])}

    def act(self, m, a):
        words = ['btrfs', 'scrub', 'start', '-B', *(['-r'] if a['ro'] else []), MNT]
        result = machine.interrupted(words, ['btrfs', 'scrub', 'cancel', MNT], a['cancel']) if a['cancel'] else \
            machine.run(*words)
        nothing = bool(a['cancel']) and 'scrub canceled' in result.out
        return machine.Result(0, result.out, nothing=nothing) if nothing or refused_for_seeds(m, result) else result

    def excuse(self, m, a, result, before):
        if m.damaged and a['ro'] and 'no errors found' not in result.out:
            return 'damage, read-only'
        if no_space(result):    # block groups with parity must become read-only
            return short_of_space(m, before) or (m.full and 'full') or held_by_scrubs(m, before)
        # The stock kernel compares the fsid of super and tree blocks of a seed with the new one.
        errors = re.findall(r'(\w+)=\d+', ''.join(re.findall('Error summary:(.*)', result.out)))
        if m.seeds() and a['ro'] and errors and set(errors) <= {'super', 'verify'}:
            return 'blocks of a seed have its fsid'
        return None

    def effect(self, m, a, result):
        checks.scrubbed(m, result.out, a['ro'])
        if not a['ro'] and not result.nothing:
            m.damaged = False


STEPS = [Balance(), Convert(), Preferred(), BalanceControl(), Scrub()]

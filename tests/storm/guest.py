#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# guest.py DIR: one boot of a history, in the lab.  DIR/state.json has its
# state; DIR/steps gets a line before a step is done and DIR/words one after it,
# so that the host knows where a machine that dies was.
import json
import os
import random
import sys
import time

import arrays
import checks
import machine
import mounting
import steps
from beside import COPIES, NAMES
from machine import Finding
from model import Model


class History:
    def __init__(self, folder):
        self.folder = folder
        with open(folder + '/state.json') as file:
            self.state = json.load(file)
        self.model = Model(self.state['array'], self.state.get('model'))
        if not os.path.exists('/sys/fs/btrfs/features/device_role'):
            if self.state.get('series'):
                sys.exit('the kernel under test has no device roles')
            self.model.array['kernel'] = 'stock'
        self.log = machine.Log()
        self.done = self.state.get('done', 0)       # steps that were tried
        self.executed = self.state.get('executed', 0)
        self.last = self.state.get('last')
        self.wanted = self.state.get('wanted', {})
        self.chance = None

    def note(self, name, record):
        with open('%s/%s' % (self.folder, name), 'a') as file:
            file.write(json.dumps(record) + '\n')
            file.flush()
            os.fsync(file.fileno())

    def progress(self):
        """Another number when another step has begun."""
        path = self.folder + '/steps'
        return os.path.getsize(path) if os.path.exists(path) else 0

    def next(self):
        """The next step: from the list, or drawn."""
        self.chance = steps.Chance(self.model)  # a replay asks the kernel what drawing asks
        if 'steps' in self.state:
            listed = self.state['steps']
            return listed[self.done] if self.done < len(listed) else None
        if self.executed >= self.state['count'] or self.done > 3 * self.state['count']:
            return None
        return self.draw(random.Random('%s/%d' % (self.state['seed'], self.done)))

    def draw(self, rng):
        m = self.model
        names = self.chance.names()
        weights = [self.weight(name) for name in names]
        step = steps.TABLE[rng.choices(names, weights)[0]]
        a = step.draw(m, rng)
        a['step'] = step.name
        if step.besides and rng.random() < (0.6 if 'devid' in a else 0.35):
            a['beside'] = rng.sample([*NAMES, *step.loads], rng.choice([1, 1, 2, 3] if COPIES == 1 else [2, 3, 4, 5]))
            # A device that changes or goes while its role is set.
            if 'devid' in a and 'roles' not in a['beside'] and rng.random() < 0.5:
                a['beside'].append('roles')
            # What roles leave is asked for while they change.
            if 'roles' in a['beside'] and 'df' not in a['beside'] and rng.random() < 0.5:
                a['beside'].append('df')
        if rng.random() < 0.25:
            a['lazy'] = True
        return a

    def weight(self, name):
        """Pairs that are still wanted are preferred, if a record of them is given, and kinds
        with which many of them begin."""
        base = steps.TABLE[name].weight
        # The day a disk dies, and the days after, are the dangerous ones.
        if self.model.lost():
            base *= {'replace': 4, 'remove': 2, 'tag': 2, 'write': 2, 'fill': 2}.get(name, 1)
        elif self.last == 'replace' and name in ('balance', 'convert', 'fill', 'write'):
            base *= 3
        elif self.last == 'add' and name == 'remove':
            base *= 3
        if not self.wanted:
            return base
        begin = self.wanted.get(name, 0)
        return base / 4 + begin + 4 * self.wanted.get('%s %s' % (self.last, name), 0) * (1 + begin)

    def one(self, a):
        m = self.model
        args = json.loads(json.dumps(a))
        self.note('steps', a)
        started = time.monotonic()
        word = steps.perform(m, self.log, args['step'], args)
        self.done += 1
        if word is None:
            self.note('words', {'step': a['step'], 'word': 'skipped'})
            return
        self.last = a['step'] if word == 'done' else None
        self.executed += 1
        self.note('words', {'step': a['step'], 'word': word, 'false': self.chance.false,
                            'barren': self.chance.barren, 'stripes': m.tally,
                            'ms': int((time.monotonic() - started) * 1000)})

    def run(self):
        m = self.model
        if not self.state.get('model'):
            arrays.make(m)
            checks.log(m, self.log, 'mkfs', None)
        else:
            again(m)
            result = mounting.mount(m, self.state['opts'])
            if result.status:
                raise Finding('failed: mount', result.text())
            checks.contents(m, True)
        while True:
            a = self.next()
            if a is None:
                return self.end()
            self.one(a)
            if m.reboot:
                return {'end': 'boot', 'state': {
                    'model': m.save(), 'done': self.done, 'executed': self.executed,
                    'last': self.last, 'opts': m.reboot['opts']}}

    def end(self):
        """Everything is unmounted and checked; what the next boot needs is kept."""
        m = self.model
        for slot in m.slots:
            if slot['state'] == 'failing':      # it is dead
                slot['state'] = 'gone'
                for dev in m.devs.values():
                    if dev['slot'] is not None and m.slots[dev['slot']] is slot:
                        dev['slot'] = None
        if m.busy:
            machine.run('btrfs', 'balance', 'cancel', machine.MNT)
            m.busy = mounting.wait_balance()
        checks.copies(m)
        checks.log(m, self.log, 'scrub', steps.TABLE['scrub'].expected(m))
        mounting.unmount(m)
        checks.log(m, self.log, 'umount', None)
        checks.unmounted(m)
        checks.check(m)
        mounting.flush(m)
        return {'end': 'done', 'model': m.save()}


def again(m):
    """A new machine has all disks: those that were lost are lost again."""
    for slot in m.slots:
        if slot['state'] == 'gone':
            if slot.get('pulled'):
                machine.pull(slot['dev'])
            else:
                machine.power(slot['dev'], 'cut')


def verify(history):
    """The last boot, on a stock kernel: it mounts and finds every file."""
    m = history.model
    again(m)
    # It makes chunks without copies of a sprout read-only, and may then find no space for a commit.
    result = mounting.mount(m, 'ro' if m.seeds() else '')
    if result.status:
        raise Finding('stock: mount', result.text())
    checks.contents(m, True)
    mounting.unmount(m)
    checks.log(m, history.log, 'the stock kernel', None)
    checks.check(m)
    return {'end': 'done'}


def space():
    """Which space is where, for the reader of a finding."""
    try:
        roles = ['%d: %s' % (devid, device.role)
                 for devid, device in sorted(machine.chunk_tree().devices.items())]
    except OSError:
        return ''       # it is not mounted
    return '\n'.join(['', *roles, machine.run('btrfs', 'filesystem', 'usage', '-T', machine.MNT).out])


def main():
    history = History(sys.argv[1])
    watcher = None
    if os.cpu_count() > 1:
        watcher = machine.Background(lambda _: machine.watch(history.progress), 0)
    try:
        result = verify(history) if history.state.get('verify') else history.run()
    except Finding as finding:
        result = {'end': 'finding', 'kind': finding.kind, 'text': finding.text + space()}
    result['executed'] = history.executed
    with open(sys.argv[1] + '/result.json', 'w') as file:
        json.dump(result, file)
        file.flush()
        os.fsync(file.fileno())
    # A file system in an odd state must not delay the end of the machine.
    machine.say('%s %s' % (result['end'], result.get('kind', '')))
    if watcher:
        watcher.stop()
    sys.stdout.flush()
    os._exit(0)


main()

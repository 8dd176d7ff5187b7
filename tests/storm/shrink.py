# SPDX-License-Identifier: GPL-2.0-only
#
# The shortest history that still fails in the same way: steps, then what runs
# beside them, then disks and features of the array are left out.
import time

import history
import runner


class Shrinker:
    def __init__(self, options, state, kind, deadline):
        self.options, self.kind, self.deadline = options, kind, deadline
        self.state, self.runs, self.finding = state, 0, None

    def fails(self, array, steps):
        if time.monotonic() > self.deadline:
            return False
        self.runs += 1
        record = runner.play(self.options, {'seed': self.state['seed'], 'array': array, 'steps': steps})
        same = record['finding'] and alike(record['finding']['kind'], self.kind)
        if same:
            self.finding = record['finding']
            self.state = dict(self.state, array=array, steps=record['steps'])
            print('  %d steps, %d disks (%.0f s)' % (len(self.state['steps']), len(array['disks']),
                                                    record['seconds']), flush=True)
        return same

    def fewer_steps(self):
        """Leaves out ever smaller parts (delta debugging)."""
        part = max(1, len(self.state['steps']) // 2)
        while part:
            at = 0
            while at < len(self.state['steps']):
                steps = self.state['steps']
                if not self.fails(self.state['array'], steps[:at] + steps[at + part:]):
                    at += part
            part //= 2

    def simpler_steps(self):
        for i in range(len(self.state['steps'])):
            for key in ('beside', 'lazy'):
                if i < len(self.state['steps']) and self.state['steps'][i].get(key):
                    step = {k: v for k, v in self.state['steps'][i].items() if k != key}
                    steps = list(self.state['steps'])
                    steps[i] = step
                    self.fails(self.state['array'], steps)

    def simpler_array(self):
        for key in ('opts', 'quota', 'cache', 'nodesize', 'volatile'):
            if self.state['array'].get(key):
                array = dict(self.state['array'])
                array[key] = False
                self.fails(array, self.state['steps'])
        while self.fewer_spares():
            pass

    def fewer_spares(self):
        array = self.state['array']
        if len(array['disks']) <= array['members']:
            return False
        return self.fails(dict(array, disks=array['disks'][:-1]), self.state['steps'])


def alike(one, other):
    return one == other


def main(args, options):
    state = history.load(args.file)
    kind = history.found(args.file)
    deadline = time.monotonic() + args.minutes * 60
    if not kind:
        record = runner.play(options, state)
        kind = record['finding'] and record['finding']['kind']
    if not kind:
        print('it does not fail')
        return 1
    print('shrinking: %s' % kind, flush=True)
    work = Shrinker(options, state, kind, deadline)
    work.fewer_steps()
    work.simpler_steps()
    work.simpler_array()
    work.fewer_steps()
    output = args.output or args.file.replace('.storm', '.short.storm')
    history.save(output, work.state['array'], work.state['steps'], work.finding or {'kind': kind}, state['seed'])
    print('%s: %d steps, %d disks, after %d runs' % (output, len(work.state['steps']),
                                                    len(work.state['array']['disks']), work.runs))
    return 0 if work.finding else 1

# SPDX-License-Identifier: GPL-2.0-only
#
# Ordered pairs of step kinds: which were done one after the other, which could
# have been, and which need of the second the first never leaves.
import collections
import json

import steps

SURE = 20   # so often a kind must have been followed before "never ready" means something


class Pairs:
    def __init__(self, files):
        self.done = collections.Counter()       # (a, b): both were done
        self.ready = collections.Counter()      # (a, b): a was done, and b could have followed
        self.after = collections.Counter()      # a: done, with a record of what could follow
        self.lacking = {}                       # (a, b): what b lacked each time
        for path in files:
            with open(path) as file:
                for line in file:
                    self.read(json.loads(line))

    def read(self, record):
        if 'after' not in record:
            return self.history(record['words'])
        name = record['after']      # of an earlier save()
        self.after[name] += record['times']
        for other, (done, ready, lack) in record['pairs'].items():
            self.done[name, other] += done
            self.ready[name, other] += ready
            self.lacking[name, other] = self.lacking.get((name, other), set(lack)) & set(lack)

    def save(self, path):
        """The sums, a line for each first step, so that the histories need not be kept."""
        with open(path, 'w') as file:
            for name in sorted(self.after):
                counts = {other: [self.done[name, other], self.ready[name, other],
                                  sorted(self.lacking.get((name, other), ()))] for other in sorted(steps.TABLE)}
                print(json.dumps({'after': name, 'times': self.after[name], 'pairs': counts}), file=file)

    def history(self, words):
        before = None
        for word in words:
            if word['word'] == 'skipped':
                continue
            if before and word['word'] == 'done':
                self.done[before, word['step']] += 1
            if before and 'false' in word:
                self.follow(before, word)
            before = word['step'] if word['word'] == 'done' else None

    def follow(self, before, word):
        self.after[before] += 1
        for name in steps.TABLE:
            lack = set(steps.lacks(name, word['false'], word['barren']))
            self.ready[before, name] += not lack
            # That there was nothing to choose from is chance.
            self.lacking[before, name] = self.lacking.get((before, name), lack - {'choice'}) & lack

    def impossible(self, a, b):
        """One and the same need of b did not hold however often a was done."""
        return self.after[a] >= SURE and not self.ready[a, b] and not self.done[a, b] and \
            bool(self.lacking.get((a, b)))      # a new kind is in no earlier record

    def short(self, least):
        """(a, b): how often it is still wanted."""
        return {(a, b): least - self.done[a, b] for a in steps.TABLE for b in steps.TABLE
                if self.done[a, b] < least and not self.impossible(a, b)}


def wanted(files, least=5):
    """For the generator: 'a b': how often; a: how many that begin with it."""
    found = collections.Counter()
    for (a, b), count in Pairs(files).short(least).items():
        found['%s %s' % (a, b)] = count
        found[a] += count
    return found


def main(args):
    seen = Pairs(args.results)
    if args.save:
        seen.save(args.save)
    short = seen.short(args.least)
    every = [(a, b) for a in steps.TABLE for b in steps.TABLE]
    never = [pair for pair in every if seen.impossible(*pair)]
    known = {pair for pair in short if seen.ready[pair] or seen.done[pair]}
    print('%d step kinds, %d ordered pairs: %d done at least %d times, %d fewer, %d impossible, %d not yet known' % (
        len(steps.TABLE), len(every), len(every) - len(short) - len(never), args.least, len(known),
        len(never), len(short) - len(known)))
    for pair in sorted(short, key=lambda pair: (seen.done[pair], pair)):
        print('%5d  %s %s (could have followed %d of %d times)' % (
            seen.done[pair], *pair, seen.ready[pair], seen.after[pair[0]]))
    for a, b in never:
        print('never  %s %s: not %s, %d times of %d' % (
            a, b, ' and not '.join(sorted(seen.lacking[a, b])), seen.after[a], seen.after[a]))
    return 0

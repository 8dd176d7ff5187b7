# SPDX-License-Identifier: GPL-2.0-only
#
# Ordered pairs of step kinds that were run one after the other.
import json
import os
import re


def kinds():
    """Names of all step kinds, from the sources: the table itself needs the lab."""
    here = os.path.dirname(os.path.abspath(__file__))
    names = []
    for file in sorted(os.listdir(here)):
        if file.startswith('steps_'):
            with open(os.path.join(here, file)) as source:
                names += re.findall(r"^    name(?:, [\w, ]+)? = '([\w-]+)'", source.read(), re.M)
    return names


def counts(files):
    seen = {}
    for path in files:
        with open(path) as file:
            for line in file:
                for word in json.loads(line)['words']:
                    if word.get('pair') and word['word'] == 'done':
                        key = ' '.join(word['pair'])
                        seen[key] = seen.get(key, 0) + 1
    return seen


def main(args):
    seen = counts(args.results)
    names = kinds()
    every = ['%s %s' % (a, b) for a in names for b in names]
    few = sorted((seen.get(pair, 0), pair) for pair in every if seen.get(pair, 0) < args.least)
    print('%d step kinds, %d ordered pairs, least seen %d times, %d fewer than %d times' % (
        len(names), len(every), min(seen.get(pair, 0) for pair in every), len(few), args.least))
    for count, pair in few:
        print('%5d  %s' % (count, pair))
    return 0

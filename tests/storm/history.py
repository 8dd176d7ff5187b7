# SPDX-License-Identifier: GPL-2.0-only
#
# Histories in files: a line for the array, then one for each step; lines that
# begin with # are comments.
import json


def save(path, array, steps, finding=None, seed=None):
    with open(path, 'w') as file:
        file.write('# SPDX-License-Identifier: GPL-2.0-only\n')
        if finding:
            file.write('# found: %s\n' % finding['kind'].replace('\n', ' '))
        file.write(json.dumps({'seed': seed, 'array': array}) + '\n')
        for step in steps:
            file.write(json.dumps(step) + '\n')


def load(path):
    with open(path) as file:
        rows = [json.loads(line) for line in file if line.strip() and not line.startswith('#')]
    return {'seed': rows[0].get('seed'), 'array': rows[0]['array'], 'steps': rows[1:]}


def found(path):
    """The finding that the file was kept for."""
    with open(path) as file:
        for line in file:
            if line.startswith('# found: '):
                return line[9:].strip()
    return None

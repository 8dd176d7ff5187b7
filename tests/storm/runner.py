# SPDX-License-Identifier: GPL-2.0-only
#
# One history on the host: boots the lab machine as often as needed, and says
# what came of it.  Owns the call of tests/lab/machine/lab and the verdict on a machine.
import json
import os
import random
import re
import shutil
import subprocess
import tempfile
import time

import arrays

HERE = os.path.dirname(os.path.abspath(__file__))
LAB = os.path.join(HERE, '..', 'lab', 'machine', 'lab')
TOP = os.path.realpath(os.path.join(HERE, '..', '..'))
DIED, COMPLAINED, TIMEOUT, NO_LAB = 122, 123, 124, 125
# What a line of the kernel's log is about, without figures.
TROUBLE = re.compile(r'(KASAN: [\w-]+ in [\w.]+|BUG: .*|kernel BUG at [\w/.-]+|WARNING: .*?(?:at \S+ )?[\w.]+\+|'
                     r'assertion failed: .*|UBSAN: .*|INFO: task \S+ blocked|Kernel panic.*|'
                     r'possible \w+ locking dependency|BTRFS critical.*|Oops.*|unreferenced object.*)')
# checks.py judges by the line after it.
JUDGED = r'close_ctree\+'


class Broken(Exception):
    """The lab could not be started: no verdict on any history."""


def cache():
    return os.environ.get('BTRFS_POLICY_CACHE', os.path.expanduser('~/.cache/btrfs-policy'))


def kernel_path(config, name='linux'):
    return os.path.join(cache(), os.environ.get('LAB_KERNEL', '6.12'), 'build-' + config, name)


class Options:
    """Where the kernels and the commands are, and how long a machine may take."""

    def __init__(self, kernel=None, stock=None, timeout=None, cpus=None):
        if cpus:
            self.kernel = kernel or kernel_path(os.environ.get('LAB_CONFIG', 'storm-smp'), 'vmlinux')
        else:
            self.kernel = kernel or kernel_path(os.environ.get('LAB_CONFIG', 'uml'))
        self.cpus = cpus
        self.series = kernel is None    # ours has device roles; one that is named need not
        self.stock = kernel_path('uml-stock') if stock is None else stock
        # A fault that only a debug kernel sees must be looked for with a stock one of its kind.
        alike = '%s-stock/%s' % os.path.split(self.kernel)
        self.compared = alike if self.stock and os.path.exists(alike) else self.stock
        self.timeout = timeout or (7200 if cpus else 300)
        self.build = os.path.realpath(os.environ.get('top_builddir', os.path.join(TOP, 'build')))
        self.mem = '3G'     # relocation takes chunks of 1 GiB through the page cache


def new_state(seed, count, wanted=None):
    return {'seed': seed, 'count': count, 'array': arrays.draw(random.Random('array %s' % seed)),
            'wanted': wanted or {}}


def lines(path):
    try:
        with open(path) as file:
            return [json.loads(line) for line in file if line.endswith('\n')]
    except FileNotFoundError:
        return []


def boot(options, state, folder, images, kernel):
    """One machine.  Returns (status, stderr)."""
    with open(folder + '/state.json', 'w') as file:
        json.dump(dict(state, series=options.series and kernel == options.kernel), file)
    root = options.build + '/root/usr'
    command = [LAB, 'run', '--mem', options.mem, '--kernel', kernel, '--timeout', str(options.timeout),
               '--images', images, '--log', folder + '/console', '--share', folder,
               '--allow', JUDGED,
               '--share', TOP, '--share', options.build,
               '--env', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
               '--env', 'STORM_COMMANDS=' + root, '--env', 'PYTHONHASHSEED=0',
               '--env', 'MALLOC_MMAP_THRESHOLD_=33554432', '--env', 'MALLOC_TRIM_THRESHOLD_=1073741824']
    if options.cpus:
        command += ['--cpus', str(options.cpus)]
    for spec in arrays.specs(state['array']):
        # Where time is real that of the disks is not what is looked for.
        command += ['--disk', spec + (',slow=10' if options.cpus else '')]
    command += ['--', 'python3', '-B', HERE + '/guest.py', folder]
    # The length of the current directory's name shows in the machine.
    done = subprocess.run(command, cwd='/', stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, check=False)
    return done.returncode, done.stderr.decode(errors='replace'), done.stdout.decode(errors='replace')


def trouble(console):
    """The first complaint of the kernel, without what differs from run to run.  Disks
    without power abort some transactions."""
    aborts = [abort_of(console, match) for match in re.finditer(r'Transaction aborted \(error (-\d+)\)', console)]
    for abort in aborts:
        if not re.search(r'-(5|30)\)', abort):
            return abort
    for line in console.split('\n'):
        match = TROUBLE.search(line)
        if match and not re.search(JUDGED, line):
            return re.sub(r'0x[0-9a-f]+|\b[0-9a-f]{8,}\b|\d+', 'N', match.group(1))[:100]
    return aborts[0] if aborts else ''


def abort_of(console, match):
    """An abort with the function that comes to it, which a line after it says."""
    where = re.compile(r'in (\w+):\d+: errno=%s\b' % match.group(1)).search(console, match.end())
    return match.group(0) + (' in ' + where.group(1) if where else '')


def verdict(status, err, folder):
    """A finding, or None with what the machine left."""
    result = {}
    if os.path.exists(folder + '/result.json'):
        with open(folder + '/result.json') as file:
            result = json.load(file)
    console = ''
    if os.path.exists(folder + '/console'):
        with open(folder + '/console', errors='replace') as file:
            console = file.read()
    if status == NO_LAB:
        raise Broken(err[-2000:])
    if status == TIMEOUT:
        return {'kind': 'hang of the machine', 'text': err[-3000:]}, result
    if status in (DIED, COMPLAINED):
        return {'kind': 'kernel: ' + (trouble(console) or 'died'), 'text': err[:6000]}, result
    if result.get('end') == 'finding':
        return {'kind': result['kind'], 'text': result['text']}, result
    if status or result.get('end') not in ('done', 'boot'):
        return {'kind': 'the test itself: ' + last_line(err), 'text': err[-6000:]}, result
    return None, result


def last_line(text):
    return (text.strip().split('\n') or [''])[-1][:120]


def play(options, state, keep=None):
    """A whole history.  Returns its record; keep: a folder for what it leaves."""
    folder = tempfile.mkdtemp(prefix='storm.', dir='/dev/shm' if os.access('/dev/shm', os.W_OK) else None)
    images = folder + '/images'
    os.mkdir(images)
    started = time.monotonic()
    state = dict(state)
    try:
        finding = boots(options, state, folder, images)
        record = {'seed': state['seed'], 'array': state['array'], 'finding': finding,
                  'steps': lines(folder + '/steps'), 'words': lines(folder + '/words'),
                  'seconds': round(time.monotonic() - started, 1)}
        if keep:
            os.makedirs(keep, exist_ok=True)
            for name in ('console', 'result.json'):
                if os.path.exists(folder + '/' + name):
                    shutil.copy(folder + '/' + name, keep)
        return record
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def boots(options, state, folder, images):
    """Boot after boot until the history is over; then the stock kernel."""
    finding, result = until_over(options, state, folder, images)
    if finding:
        return finding
    if os.path.exists(options.stock):
        last = dict(state, model=result['model'], verify=True)
        finding, result = one(options, last, folder, images, options.stock)
        if finding:
            finding['kind'] = 'stock kernel: ' + finding['kind']
    return finding


def until_over(options, state, folder, images):
    while True:
        finding, result = one(options, state, folder, images, options.kernel)
        if finding or result['end'] == 'done':
            return finding, result
        state.update(result['state'])


def last_step(options, other, record):
    """The finding of another kernel that mounts what the history left, and does its last step."""
    folder = tempfile.mkdtemp(prefix='storm.', dir='/dev/shm' if os.access('/dev/shm', os.W_OK) else None)
    images = folder + '/images'
    os.mkdir(images)
    state = {'seed': record['seed'], 'array': record['array'], 'steps': record['steps'][:-1]}
    try:
        finding, result = until_over(options, state, folder, images)
        if finding:
            return None
        state.update(steps=record['steps'][-1:], done=0, model=result['model'], opts='')
        return until_over(other, state, folder, images)[0]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def one(options, state, folder, images, kernel):
    if os.path.exists(folder + '/result.json'):
        os.unlink(folder + '/result.json')
    status, err, _ = boot(options, state, folder, images, kernel)
    return verdict(status, err, folder)

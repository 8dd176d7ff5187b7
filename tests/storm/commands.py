# SPDX-License-Identifier: GPL-2.0-only
#
# What the storm command does: run, loop, replay, shrink, pairs.
import collections
import glob
import json
import math
import os
import queue
import random
import re
import threading
import time

import history
import pairs
import runner
import shrink


def parser(argparse):
    top = argparse.ArgumentParser(prog='storm', description='Random histories of administration, in the lab.')
    top.add_argument('--kernel', help='the lab kernel')
    top.add_argument('--stock', help='the stock kernel for the last mount')
    top.add_argument('--cpus', type=int, help='emulated processors that run at the same time, instead of the lab')
    top.add_argument('--timeout', type=int, help='wall-clock seconds for a machine (300; 7200 with --cpus)')
    commands = top.add_subparsers(dest='command', required=True)
    small_check = commands.add_parser('check', help='run the kept cases, then histories of a fresh seed')
    one = commands.add_parser('run', help='run the history of one seed')
    one.add_argument('--seed', type=int, required=True)
    many = commands.add_parser('loop', help='run histories for a time')
    for command in (many, small_check):
        command.add_argument('--minutes', type=float, help='end after so long (5; unbounded with --histories)')
        command.add_argument('--seed', type=int, help='the first seed; fresh unless given')
        command.add_argument('--jobs', type=int, default=2)
        command.add_argument('--histories', type=int, default=0, help='end after so many')
    many.add_argument('--first', action='store_true', help='end with the first fault')
    for command in (one, many, small_check):
        command.add_argument('--steps', type=int, default=40)
        command.add_argument('--results', help='append records to this file')
        command.add_argument('--findings', default='storm-findings', help='folder for failing histories')
        command.add_argument('--cover', action='append', default=[], help='results of earlier runs: prefer pairs that were seen too rarely')
    replay = commands.add_parser('replay', help='run the steps of a file')
    small = commands.add_parser('shrink', help='find the shortest history that fails alike')
    small.add_argument('--output', help='where it goes (FILE with .short.storm)')
    small.add_argument('--minutes', type=float, default=20)
    replay.add_argument('--keep', help="folder for the kernel's log")
    for command in (replay, small):
        command.add_argument('file')
    seen = commands.add_parser('pairs', help='show which ordered pairs of steps were run')
    seen.add_argument('results', nargs='+')
    seen.add_argument('--least', type=int, default=5)
    seen.add_argument('--save', help='write the sums to this file, which counts as results, too')
    return top


def show(record):
    words = record['words']
    done = [w for w in words if w['word'] != 'skipped']
    refused = sum(w['word'] == 'refused' for w in done)
    excused = sum(w['word'].startswith('excused') for w in done)
    print('# seed %s: %d steps, %d refused, %d excused, %.1f s%s' % (
        record['seed'], len(done), refused, excused, record['seconds'],
        ': ' + said(record['finding']) if record['finding'] else ''), flush=True)


def said(finding):
    stock = finding.get('stock')
    if not stock:
        return finding['kind']
    return finding['kind'] + (' [the stock kernel, too]' if stock == finding['kind'] else
                              ' [stock kernel: %s]' % stock)


def kernel_name(options):
    return os.path.basename(os.path.dirname(options.kernel))


# Of the test itself, and of what the stock kernel knows nothing of.
OURS = ('the test itself', 'chunk on an excluded device', 'role ', 'misplaced')
# What the disks hold: any kernel that mounts it says the same, whoever has written it.
WRITTEN = re.compile(r'contents|csum|checksum|transid|corrupt|tree block|level verify|chunk tree|btrfs check|'
                     r'scrub: |images|super block')


def classify(record, options):
    """A fault that the stock kernel has, too, is none of the series.  It may have another
    layout after the same steps, so it also does the last one on what the others left, unless
    that is what is wrong."""
    finding = record['finding']
    if not finding or not os.path.exists(options.compared) or finding['kind'].startswith(OURS):
        return
    plain = runner.Options(options.compared, '', options.timeout, options.cpus)
    other = runner.play(plain, {'seed': record['seed'], 'array': record['array'],
                                'steps': record['steps']})['finding']
    if record['steps'] and not (other and other['kind'] == finding['kind']) and \
            not WRITTEN.search(finding['kind']):
        other = runner.last_step(options, plain, record) or other
    if other:
        finding['stock'] = other['kind']


def counts_as_fault(record):
    """The same kind on the stock kernel does not count."""
    finding = record['finding']
    return bool(finding) and finding.get('stock') != finding['kind']


def keep(record, args, options):
    record['kernel'] = kernel_name(options)
    if args.results:
        os.makedirs(os.path.dirname(os.path.abspath(args.results)), exist_ok=True)
        slim = {k: v for k, v in record.items() if k != 'steps' or record['finding']}
        with open(args.results, 'a') as file:
            file.write(json.dumps(slim) + '\n')
    if record['finding']:
        os.makedirs(args.findings, exist_ok=True)
        path = '%s/%s.storm' % (args.findings, record['seed'])
        history.save(path, record['array'], record['steps'], record['finding'], record['seed'])
        with open(path[:-6] + '.txt', 'w') as file:
            file.write('%s\n\n%s\n' % (record['finding']['kind'], record['finding']['text']))


def wanted(args):
    files = [path for path in args.cover if os.path.exists(path)]
    return pairs.wanted(files) if files else {}


def run(args, options):
    record = runner.play(options, runner.new_state(args.seed, args.steps, wanted(args)),
                         '%s/%d.d' % (args.findings, args.seed))
    classify(record, options)
    for word in record['words']:
        print('  %-18s %s (%d ms)' % (word['step'], word['word'], word.get('ms', 0)))
    show(record)
    if record['finding']:
        print(record['steps'][-1] if record['steps'] else 'mkfs')
        print(record['finding']['text'])
    keep(record, args, options)
    return 1 if counts_as_fault(record) else 0


def check(args, options):
    """Kept cases fail no more; fresh histories neither."""
    kept = []
    for path in sorted(glob.glob(os.path.join(runner.HERE, 'cases', '*.storm'))):
        record = runner.play(options, history.load(path))
        skipped = [w['step'] for w in record['words'] if w['word'] == 'skipped']
        if not record['finding'] and skipped:
            record['finding'] = {'kind': 'the test itself: skipped ' + ', '.join(skipped), 'text': ''}
        record['seed'] = os.path.basename(path)
        show(record)
        kept.append(record)
    return loop(args, options, kept)


def loop(args, options, records=()):
    first = args.seed if args.seed is not None else random.SystemRandom().randrange(1 << 31)
    print('# storm: the first seed is %d, the kernel %s' % (first, options.kernel), flush=True)
    minutes = args.minutes or (math.inf if args.histories else 5)
    end = time.monotonic() + minutes * 60
    seeds, lock, records, broken = queue.Queue(), threading.Lock(), list(records), []
    first_only = getattr(args, 'first', False)
    for n in range(args.histories or 100000):
        seeds.put(first + n)

    def work():
        try:
            turns()
        except Exception as error:  # a thread must not end in silence
            broken.append(repr(error))

    def turns():
        while time.monotonic() < end and not broken and not (first_only and any(map(counts_as_fault, records))):
            try:
                seed = seeds.get_nowait()
            except queue.Empty:
                return
            try:
                record = runner.play(options, runner.new_state(seed, args.steps, wanted(args)),
                                     '%s/%d.d' % (args.findings, seed))
            except runner.Broken as error:
                broken.append(str(error))
                return
            classify(record, options)
            with lock:
                records.append(record)
                keep(record, args, options)
                show(record)
    workers = [threading.Thread(target=work) for _ in range(args.jobs)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return summary(records, broken, os.path.exists(options.stock))


def summary(records, broken, stock):
    for text in broken:
        print('not ok - the lab: ' + text)
    bad = [r for r in records if counts_as_fault(r)]
    for n, record in enumerate(records, 1):
        word = 'not ok' if counts_as_fault(record) else 'ok'
        text = ': ' + said(record['finding']).replace('#', '') if record['finding'] else ''
        # What would have come after it was not tried.
        text += ' # SKIP the stock kernel fails alike' if text and word == 'ok' else ''
        print('%s %d - the history of seed %s%s' % (word, n, record['seed'], text))
    if not stock:
        print('ok %d - # SKIP the last mount by the stock kernel: it is not built' % (len(records) + 1))
    print('1..%d' % (len(records) + (not stock)))
    steps = sum(len(r['words']) for r in records)
    done = sum(w['word'] == 'done' for r in records for w in r['words'])
    print('# %d histories, %d steps, %d of them done, %d findings' % (len(records), steps, done, len(bad)))
    tally = collections.Counter()
    for record in records:
        for word in record['words']:
            tally.update(word.get('stripes', {}))
    print('# stripes: %s' % ', '.join('%d %s' % (n, what) for what, n in tally.most_common()))
    if not done:
        print('not ok - no step was done')
    return 1 if bad or broken or not done else 0


def replay(args, options):
    record = runner.play(options, history.load(args.file), args.keep)
    classify(record, options)
    for word in record['words']:
        print('  %-18s %s (%d ms)' % (word['step'], word['word'], word.get('ms', 0)))
    show(record)
    if record['finding']:
        print(record['finding']['text'])
    return 1 if counts_as_fault(record) else 0


def main(argparse, argv):
    args = parser(argparse).parse_args(argv[1:])
    options = runner.Options(args.kernel, args.stock, args.timeout, args.cpus)
    for kernel, use in (options.stock, 'for the last mount'), (options.compared, 'to compare findings with'):
        if args.command != 'pairs' and not os.path.exists(kernel):
            print('# no stock kernel %s' % (kernel + ' ' + use).strip(), flush=True)
    if args.command == 'run':
        return run(args, options)
    if args.command == 'loop':
        return loop(args, options)
    if args.command == 'check':
        return check(args, options)
    if args.command == 'replay':
        return replay(args, options)
    if args.command == 'shrink':
        return shrink.main(args, options)
    return pairs.main(args)

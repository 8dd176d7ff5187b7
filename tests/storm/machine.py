# SPDX-License-Identifier: GPL-2.0-only
#
# The lab machine as a step sees it: commands, disks, sysfs, the kernel's log.
# Owns how something is done or read; knows nothing of what must come of it.
import ctypes
import errno
import fcntl
import glob
import os
import re
import struct
import subprocess
import sys
import time

import layout

MNT = '/mnt'
UUID = 'b7f5c0de-1ab0-4d15-8000-0000000000%02d'
HANG = 3000     # seconds of virtual time after which a command hangs
# With several processors time is real, and the emulator slow: waits that have an end get more.
PATIENCE = 10 if os.cpu_count() > 1 else 1
ENDLESS = 120   # seconds of a processor that no task needs in the kernel before it waits, or dies
LONG = 200      # seconds of a step after which the kernel's log gets the stacks


class Finding(Exception):
    """Something that must not be.  The kind says whether two are alike."""

    def __init__(self, kind, text=''):
        super().__init__(kind)
        self.kind, self.text = kind, text


class Result:
    def __init__(self, status, out, nothing=False):
        self.status, self.out = status, out
        self.nothing = nothing      # it went well, and changed nothing

    def text(self):
        return 'status %d: %s' % (self.status, self.out.strip())


OURS = os.environ.get('STORM_COMMANDS', '/usr')     # where the project's commands are


def run(*argv, timeout=HANG):
    env = None
    # The front hands everything else on; to start it costs as much as the command.
    if argv[0] == 'btrfs' and ('policy' in argv or '--preferred-metadata' in argv):
        argv = (OURS + '/bin/btrfs', *argv[1:])
        env = dict(os.environ, LD_LIBRARY_PATH=OURS + '/lib')
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=env,
                              stderr=subprocess.STDOUT, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        raise Finding('hang: ' + ' '.join(argv[:3]), 'no end after %d s\n%s' % (timeout, stacks())) from None
    return Result(done.returncode, done.stdout.decode(errors='replace'))


def interrupted(argv, cancel, wait):
    """Run a command, and after some milliseconds another one that stops it, until
    it has ended.  Returns the result of the first; its member "canceled" says how often
    the kernel has taken the other one."""
    canceled = 0
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as child:
        for _ in range(300 * PATIENCE):
            sleep(wait)
            if child.poll() is not None:
                result = Result(child.returncode, child.stdout.read().decode(errors='replace'))
                result.canceled = canceled
                return result
            canceled += 'Operation canceled' in run(*cancel).out
            wait = 100
    raise Finding('hang: ' + ' '.join(argv[:3]), 'cannot be cancelled')


def must(*argv):
    result = run(*argv)
    if result.status:
        raise Finding('failed: ' + ' '.join(argv[:3]), '%s: %s' % (' '.join(argv), result.text()))
    return result


def write(path, text):
    """0 or an errno: one write(2), as `echo` does."""
    try:
        fd = os.open(path, os.O_WRONLY)
    except OSError as error:
        return error.errno
    try:
        os.write(fd, text.encode())
    except OSError as error:
        return error.errno
    finally:
        os.close(fd)
    return 0


def read(path, default=None):
    try:
        with open(path) as file:
            return file.read().strip()
    except OSError:
        return default


def power(dev, how):
    write('/sys/block/%s/lab/power' % os.path.basename(dev), how)


def dark(off):
    """No disk has power, all at the same time; each keeps its own state."""
    write('/sys/module/labdisk/parameters/dark', str(int(off)))


def pull(dev):
    return write('/sys/module/labdisk/parameters/remove', os.path.basename(dev))


def sleep(milliseconds):
    time.sleep(milliseconds / 1000)


LIBC = ctypes.CDLL(None, use_errno=True)


def sync():
    """Writes everything, and says if that failed."""
    fd = os.open(MNT, os.O_RDONLY)
    try:
        if LIBC.syncfs(fd):
            code = ctypes.get_errno()
            raise Finding('sync: ' + errno.errorcode.get(code, str(code)))
    finally:
        os.close(fd)


def drop_caches():
    os.sync()
    write('/proc/sys/vm/drop_caches', '3')


class Log:
    """The kernel's log since it was last asked for."""

    def __init__(self):
        self.fd = os.open('/dev/kmsg', os.O_RDONLY | os.O_NONBLOCK)

    def new(self):
        lines = []
        while True:
            try:
                record = os.read(self.fd, 8192).decode(errors='replace')
            except BlockingIOError:
                return lines
            except OSError:         # overwritten before it was read
                continue
            lines.append(record.split('\n')[0].partition(';')[2])


def stacks():
    """What the processors do, and which tasks wait: the kernel says that in its log."""
    log = Log()
    log.new()
    for key in 'lw':
        write('/proc/sysrq-trigger', key)
        sleep(1000)
    return '\n'.join(log.new())


def mounts():
    with open('/proc/mounts') as file:
        for line in file:
            dev, where, kind, opts = line.split()[:4]
            if where == MNT and kind == 'btrfs':
                return dev, opts.split(',')
    return None


def sysfs(uuid):
    return '/sys/fs/btrfs/' + uuid


def lagging(uuid):
    return sysfs(uuid) + '/allocation/lagging_superblocks'


def roles(uuid):
    """Devid to role, as sysfs shows it."""
    found = {}
    base = sysfs(uuid) + '/devinfo'
    for devid in os.listdir(base):
        text = read('%s/%s/role' % (base, devid))
        match = re.search(r'\[(.*)\]', text or '')
        if match and devid != '0':
            found[int(devid)] = match.group(1)
    return found


# The numbers of the interface; the order is not that of the values on disk.
IOCTL_ROLES = ['data-preferred', 'metadata-preferred', 'data-only', 'metadata-only']
DEVICE_ROLES = 3 << 30 | 104 << 16 | 0x94 << 8 | 112
ADD_DEV_ROLE = 1 << 30 | 64 << 16 | 0x94 << 8 | 113
REASONS = ['', 'no such role', 'no such device', 'listed twice',
           'too few devices left for the data profile', 'too few devices left for the metadata profile',
           'too few devices left for the system profile', 'mixed block groups ignore roles']


def on_mount(request, arg):
    """An ioctl on the file system: 0 or an errno."""
    fd = os.open(MNT, os.O_RDONLY)
    try:
        fcntl.ioctl(fd, request, arg)
        return 0
    except OSError as error:
        return error.errno
    finally:
        os.close(fd)


def set_roles(changes, force):
    """Several roles at once, {devid: role}."""
    rows = b''.join(struct.pack('<QII16x', d, IOCTL_ROLES.index(role), 0) for d, role in changes.items())
    rows = ctypes.create_string_buffer(rows, len(rows))
    arg = bytearray(struct.pack('<IIQQQII64x', 1, len(changes), ctypes.addressof(rows), int(force), 0, 0, 0))
    error = on_mount(DEVICE_ROLES, arg)
    reason = struct.unpack_from('<I', arg, 32)[0]
    return Result(error, '%s %s' % (errno.errorcode.get(error, ''), REASONS[reason]))


def add_with_role(path, role):
    text = ctypes.create_string_buffer(path.encode())
    arg = bytearray(struct.pack('<QII48x', ctypes.addressof(text), IOCTL_ROLES.index(role), 0))
    error = on_mount(ADD_DEV_ROLE, arg)
    return Result(error, os.strerror(error) if error else '')


def chunk_tree():
    fd = os.open(MNT, os.O_RDONLY)
    try:
        return layout.mounted(fd)
    finally:
        os.close(fd)


def uuid_of(dev):
    return run('blkid', '-p', '-s', 'UUID', '-o', 'value', dev).out.strip()


def say(text):
    print(text, flush=True)


def computed(pid):
    """Seconds of a processor that a task took: (outside the kernel, in it)."""
    with open('/proc/%s/stat' % pid) as file:
        words = file.read().rpartition(')')[2].split()
    return [int(word) / os.sysconf('SC_CLK_TCK') for word in words[11:13]]


class Background:
    """A child that repeats an action until it is told to stop.  It is a fork
    of this program, so that it costs no start of a command."""

    def __init__(self, action, pause):
        self.told, tell = os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(tell)
            return
        try:
            n = 0
            while True:
                action(n)
                n += 1
                sleep(pause)
        except BaseException as error:     # a child must not go on as the parent
            text = '%s %s' % (error, getattr(error, 'text', ''))
            print('# beside: ' + text, file=sys.stderr, flush=True)
            os.write(tell, text.encode()[:4000])
        finally:
            os._exit(1)

    def stop(self):
        """Returns why it had ended before, or ''."""
        early, status = os.waitpid(self.pid, os.WNOHANG)
        if not early:
            os.kill(self.pid, 9)
            self.wait()
        with os.fdopen(self.told) as told:
            return told.read() or ('status %d' % status if early else '')

    def wait(self):
        deadline, most = time.monotonic() + HANG, sum(computed(self.pid)) + ENDLESS
        while time.monotonic() < deadline and sum(computed(self.pid)) < most:
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                return
            sleep(5)
        raise Finding('hang: a load beside', 'a process cannot be killed\n' + stacks())


def tasks():
    """Of each task, of the kernel, too: seconds in the kernel, and how often it waited."""
    found = {}
    for path in glob.iglob('/proc/[1-9]*/task/*'):
        waits = re.search(r'\nvoluntary_ctxt_switches:\s*(\d+)', read(path + '/status', ''))
        try:
            found[path] = computed(path[6:])[1], waits and waits.group(1)
        except OSError:     # it has ended
            pass
    return found


def watch(progress):
    """Crash the machine if a task only computes in the kernel, and never waits.  Such a loop
    lets other tasks run, so that the kernel's own detectors see nothing in it.  A step that
    takes long is no fault, but what it waits for is said in the kernel's log."""
    began, step, since = {}, progress(), time.monotonic()
    while True:
        sleep(10000)
        for path, (seconds, waits) in tasks().items():
            if began.get(path, (0, None))[1] != waits:
                began[path] = seconds, waits
            elif seconds > began[path][0] + ENDLESS:
                name = read(path + '/comm', '?')
                print('# an endless loop in the kernel: %s\n%s' % (name, stacks()), file=sys.stderr, flush=True)
                write('/dev/kmsg', 'storm: BUG: endless loop in %s' % name)
                sleep(1000)
                write('/proc/sysrq-trigger', 'c')
        if progress() != step:
            step, since = progress(), time.monotonic()
        elif time.monotonic() > since + LONG:
            since += LONG
            stacks()

# SPDX-License-Identifier: GPL-2.0-only
#
# What every step kind has.
import machine


class Step:
    name = ''
    weight = 4
    besides = True      # loads may run beside it
    loads = ()          # more of them
    moves = False       # contents are read back from disk afterwards
    upsets = ()         # errors that loads beside it may get from it
    silent = False      # a refusal need not say why
    spills = False      # new chunks may be on excluded devices
    loose = None        # refusals if roles change meanwhile, as a regex
    noise = None        # see expected()

    needs = ('writable',)   # predicates of the model

    def choice(self, m):
        """Is there anything to do it with, if what it needs holds?"""
        return True

    def ready(self, m):
        """Can it be drawn now?"""
        return all(getattr(m, need)() for need in self.needs) and bool(self.choice(m))

    def fits(self, m, a):
        """Do drawn arguments fit the state? They may come from a file."""
        return True

    def draw(self, m, rng):
        return {}

    def expected(self, m):
        """Kernel messages that are expected, as a regex, or None."""
        return self.noise

    def upset(self, a):
        """More errors that loads beside it may get."""
        return ()

    def act(self, m, a):
        raise NotImplementedError

    def refused(self, m, a, before):
        """Why it must fail, as a regex, or None; before: the chunks."""
        return None

    def excuse(self, m, a, result, before):
        """Why it may fail with this result, or None."""
        return None

    def effect(self, m, a, result):
        pass

    def failed(self, m, a, result):
        pass


# What roles that change refuse to steps that take devices, or chunks, elsewhere.
FEWER = r'too few|unable to (go below|remove)|Invalid argument'


def no_space(result):
    return 'No space left' in result.out or 'enospc errors' in result.out


def btrfs(*argv):
    return machine.run('btrfs', *argv)

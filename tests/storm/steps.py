# SPDX-License-Identifier: GPL-2.0-only
#
# The one table of step kinds, and how any step is done: what must be refused,
# what may fail and why, what holds afterwards.
import re

import checks
import machine
import steps_balance
import steps_boot
import steps_device
import steps_drain
import steps_file
import steps_more
import steps_mount
import steps_move
import steps_role
from beside import Besides

TABLE = {s.name: s for module in (steps_role, steps_device, steps_balance, steps_file, steps_mount,
                                  steps_boot, steps_more, steps_move, steps_drain)
         for s in module.STEPS}
NEEDS = sorted({need for s in TABLE.values() for need in s.needs})


class Chance:
    """What can be drawn now, and why the rest cannot."""

    def __init__(self, m):
        self.false = [need for need in NEEDS if not getattr(m, need)()]
        self.barren = [name for name, s in TABLE.items()
                       if not set(s.needs) & set(self.false) and not s.choice(m)]

    def names(self):
        return [name for name in TABLE if not lacks(name, self.false, self.barren)]


def lacks(name, false, barren):
    """Which needs of a step kind do not hold, or that it has nothing to choose from."""
    return [need for need in TABLE[name].needs if need in false] + ['choice'] * (name in barren)


def judge(step, m, a, result, before):
    """A word on the outcome, or a Finding."""
    reason = step.refused(m, a, before)
    if result.status == 0:
        if reason and not m.loose and not step.refused(m, a, checks.chunks(m)):
            reason = None       # the last chunk of a profile went meanwhile
        if reason and not m.loose:
            raise machine.Finding('accepted: ' + step.name, 'should have been refused: ' + reason)
        return 'done'
    if reason and (step.silent or re.search(reason, result.out, re.I)):
        return 'refused'
    if m.loose and step.loose and re.search(step.loose, result.out, re.I):
        return 'refused'
    excuse = step.excuse(m, a, result, before)
    if excuse:
        return 'excused: ' + excuse
    raise machine.Finding('failed: %s: %s' % (step.name, checks.digest(result.out)),
                          'status %d: %s' % (result.status, result.out.strip()))


def perform(m, log, name, a):
    """Do one step and check all that must hold; returns a word or None."""
    step = TABLE[name]
    if not step.ready(m) or not step.fits(m, a):
        return None
    before = checks.chunks(m)
    roles, noise = m.roles(), step.expected(m)
    besides = Besides(m, step, a)
    m.loose, m.tally, m.moved = besides.changes_roles(), {}, set()
    try:
        result = step.act(m, a)
    finally:
        besides.stop()
    checks.log(m, log, step.name, noise)
    word = judge(step, m, a, result, before)
    if word == 'done':
        step.effect(m, a, result)
        word = 'nothing' if result.nothing else word
    elif word != 'refused':
        step.failed(m, a, result)
    if m.loose and m.mount:
        besides.adopt_roles(m)
    fixed = not m.loose and roles == m.roles() and not step.spills
    checks.after(m, step, before if fixed else None, a.get('lazy', False))
    m.loose = False
    checks.log(m, log, step.name, noise)
    return word

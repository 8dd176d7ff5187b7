# SPDX-License-Identifier: GPL-2.0-only
"""Starts a machine of the lab for a bench.  Owns its command line, not what runs in it."""
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
LAB = HERE.parent / "lab" / "machine"


def run(command, disks, images, memory, kernel=None, options=()):
    """The output of a script of this folder with its words, on disks of these specifications."""
    line = [LAB / "lab", "run", "--share", HERE, "--mem", memory, "--images", images, *options]
    if kernel:
        line += ["--kernel", kernel]
    for disk in disks:
        line += ["--disk", disk]
    done = subprocess.run([*map(str, line), "--", str(HERE / command[0]), *command[1:]],
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit("bench: %s on %s ended with status %d" % (" ".join(command), " ".join(disks), done.returncode))
    return done.stdout

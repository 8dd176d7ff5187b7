/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The program that the front calls and that works without it.  Only the entry:
 * tests link everything else to a file system of their own.
 */
#include "cmds/commands.h"

int main(int argc, char **argv)
{
	return program_run(argc, argv);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes text from outside (labels, model names, paths) harmless: no control
 * characters for a terminal, no broken UTF-8 for a JSON reader.
 */
#ifndef CMDS_ESCAPE_H
#define CMDS_ESCAPE_H

#include <stdio.h>

/*
 * A copy in which every byte that is not part of a printable UTF-8 character is
 * written \xNN.  To be freed; NULL when there is no memory.
 */
char *escape_text(const char *text);

/* A copy in which only bytes that are not UTF-8 are written \xNN; JSON escapes the rest. */
char *escape_utf8(const char *text);

/* A copy that a shell takes for one word; to be freed, NULL when there is no memory. */
char *escape_shell(const char *word);

/* Writes finished JSON with characters that a terminal could act on as \uNNNN. */
void escape_json(FILE *stream, const char *json);

/* Columns that a text takes on a terminal, near enough for a table. */
int escape_width(const char *text);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by records.c and records-json.c only. */
#ifndef CMDS_RECORDS_INTERNAL_H
#define CMDS_RECORDS_INTERNAL_H

#include "cmds/cli/records.h"

/* Types of cells */
enum {
	CELL_NONE,
	CELL_TEXT,
	CELL_VALUE,
	CELL_NUMBER,
	CELL_SIZE,
	CELL_BOOL,
	CELL_LIST,
	CELL_NUMBERS,
};

struct cell {
	int type;
	uint64_t number;
	char *text;
	char **list;
};

struct records {
	const struct column *columns;
	int column_count;
	struct cell **rows;
	int count;
	bool has_total;
};

#endif

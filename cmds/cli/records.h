/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Typed rows that are printed as text, as a table or as JSON, so that a column
 * is declared once for all three.  JSON gets raw numbers, true and false, and
 * null for empty cells; text has units, yes and no, and "-".
 */
#ifndef CMDS_RECORDS_H
#define CMDS_RECORDS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "cmds/cli/units.h"

enum {
	COLUMN_RIGHT = 1 << 0,		/* align to the right */
	COLUMN_NO_BLOCK = 1 << 1,	/* not among the lines of a block (its heading has it) */
	COLUMN_NO_TABLE = 1 << 2,	/* not in a table */
	COLUMN_HIDE_EMPTY = 1 << 3,	/* left out if empty */
};

/* @key NULL: not in JSON; @title NULL: not for people. */
struct column {
	const char *key;
	const char *title;
	unsigned int flags;
};

struct records;

/* A row is an array of these, one for each column. */
struct cell;

/* @columns must outlive the records. */
struct records *records_new(const struct column *columns, int count);
void records_free(struct records *records);
int records_count(const struct records *records);

/* Adds a row of empty cells; valid until the next one is added. */
struct cell *records_add(struct records *records);

/* Setters leave a cell empty if they are given NULL. */
void record_clear_cell(struct cell *record, int column);
void record_set_text(struct cell *record, int column, const char *text);
void record_set_number(struct cell *record, int column, uint64_t number);
void record_set_size(struct cell *record, int column, uint64_t bytes);
void record_set_bool(struct cell *record, int column, bool value);
void record_set_list(struct cell *record, int column, char *const *texts);

/* A value of a setting: JSON gets a number or a boolean where it reads like one. */
void record_set_value(struct cell *record, int column, const char *text);

/* An unsigned list, "1,2" for people. */
void record_set_numbers(struct cell *record, int column, const uint64_t *numbers, int count);

/* A dash line above the last row, which is a sum. */
void records_mark_total(struct records *records);

void records_print_table(const struct records *records, const struct units *units);

/* The text of one cell, "-" if it is empty; to be freed. */
char *records_cell_text(const struct records *records, int row, int column,
			const struct units *units);

/* One "   Title:   value" line, the value @width columns behind the title's first. */
void records_print_pair(int width, const char *title, const char *text);

/* A line for each cell of a row; @width 0: as wide as the longest title needs. */
void records_print_block(const struct records *records, int row, int width,
			 const struct units *units);

json_object *records_json_object(const struct records *records, int row);
json_object *records_json_array(const struct records *records);

/* An object with one member a row, named by that row's text in @column. */
json_object *records_json_keyed(const struct records *records, int column);

/* Prints { "__header": ..., @name: @value } to stdout; takes @value over. */
void json_print_document(const char *name, json_object *value);

/*
 * The same, but member @key of @value, which is null, becomes an array of what @make
 * returns for @user and 0, 1, ... until NULL; only one element is in memory at a time.
 */
void json_print_streamed(const char *name, json_object *value, const char *key,
			 json_object *(*make)(const void *user, size_t index), const void *user);

/* The document "error", for a command that ends before it has one of its own. */
void json_print_error(int status, const char *text);
bool json_was_printed(void);

static inline void cleanup_records(struct records **records)
{
	records_free(*records);
}

#endif

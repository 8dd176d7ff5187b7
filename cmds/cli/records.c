/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows of typed cells: storage and the two text forms.  JSON is in
 * records-json.c.  Does not interpret columns.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmds/cli/cleanup.h"
#include "cmds/cli/escape.h"
#include "cmds/cli/records-internal.h"

struct records *records_new(const struct column *columns, int count)
{
	struct records *records = xcalloc(1, sizeof(*records));

	records->columns = columns;
	records->column_count = count;
	return records;
}

void record_clear_cell(struct cell *record, int column)
{
	struct cell *cell = &record[column];

	free(cell->text);
	strv_free(cell->list);
	*cell = (struct cell){ .type = CELL_NONE };
}

void records_free(struct records *records)
{
	if (!records)
		return;
	for (int i = 0; i < records->count; i++) {
		for (int j = 0; j < records->column_count; j++)
			record_clear_cell(records->rows[i], j);
		free(records->rows[i]);
	}
	free(records->rows);
	free(records);
}

int records_count(const struct records *records)
{
	return records->count;
}

struct cell *records_add(struct records *records)
{
	struct cell *record = xcalloc(records->column_count, sizeof(*record));

	records->rows = xrealloc(records->rows, records->count + 1, sizeof(*records->rows));
	records->rows[records->count++] = record;
	return record;
}

void record_set_text(struct cell *record, int column, const char *text)
{
	if (text)
		record[column] = (struct cell){ .type = CELL_TEXT, .text = xstrdup(text) };
}

void record_set_value(struct cell *record, int column, const char *text)
{
	if (text)
		record[column] = (struct cell){ .type = CELL_VALUE, .text = xstrdup(text) };
}

void record_set_number(struct cell *record, int column, uint64_t number)
{
	record[column] = (struct cell){ .type = CELL_NUMBER, .number = number };
}

void record_set_size(struct cell *record, int column, uint64_t bytes)
{
	record[column] = (struct cell){ .type = CELL_SIZE, .number = bytes };
}

void record_set_bool(struct cell *record, int column, bool value)
{
	record[column] = (struct cell){ .type = CELL_BOOL, .number = value };
}

void record_set_list(struct cell *record, int column, char *const *texts)
{
	struct cell cell = { .type = CELL_LIST };
	int count = 0;

	while (texts && texts[count])
		count++;
	cell.list = xcalloc(count + 1, sizeof(*cell.list));
	for (int i = 0; i < count; i++)
		cell.list[i] = xstrdup(texts[i]);
	record[column] = cell;
}

void record_set_numbers(struct cell *record, int column, const uint64_t *numbers, int count)
{
	struct cell cell = { .type = CELL_NUMBERS };

	cell.list = xcalloc(count + 1, sizeof(*cell.list));
	for (int i = 0; i < count; i++)
		cell.list[i] = xasprintf("%" PRIu64, numbers[i]);
	record[column] = cell;
}

void records_mark_total(struct records *records)
{
	records->has_total = true;
}

static char *join(char *const *texts, const char *between)
{
	char *joined = xstrdup("");

	for (int i = 0; texts[i]; i++) {
		char *longer = xasprintf("%s%s%s", joined, i ? between : "", texts[i]);

		free(joined);
		joined = longer;
	}
	return joined;
}

/* The text of a cell, escaped; "" for an empty one. */
static char *cell_format(const struct cell *cell, const struct units *units)
{
	_cleanup_free_ char *joined = NULL;
	char size[UNITS_TEXT];

	switch (cell->type) {
	case CELL_NONE:
		return xstrdup("");
	case CELL_NUMBER:
		return xasprintf("%" PRIu64, cell->number);
	case CELL_SIZE:
		return xstrdup(units_format(cell->number, units, size));
	case CELL_BOOL:
		return xstrdup(cell->number ? "yes" : "no");
	case CELL_LIST:
		joined = join(cell->list, " | ");
		return xcheck(escape_text(joined));
	case CELL_NUMBERS:
		return join(cell->list, ",");
	default:
		return xcheck(escape_text(cell->text));
	}
}

static bool is_shown(const struct column *column, unsigned int hidden)
{
	return column->title && !(column->flags & hidden);
}

static char *cell_shown(const struct records *records, int row, int column,
			const struct units *units)
{
	char *text = cell_format(&records->rows[row][column], units);
	bool total = records->has_total && row == records->count - 1;

	if (*text || total)
		return text;
	free(text);
	return xstrdup("-");
}

enum { LINE_TITLES = -1, LINE_DASHES = -2 };

/* Columns without a width are left out; an empty cell widens the blank before the next one. */
static void print_table_line(const struct records *records, const int *widths, int row,
			     const struct units *units)
{
	int blank = 0;

	for (int i = 0; i < records->column_count; i++) {
		bool right = records->columns[i].flags & COLUMN_RIGHT;
		_cleanup_free_ char *text = NULL;
		int pad;

		if (!widths[i])
			continue;
		if (row == LINE_TITLES) {
			text = xstrdup(records->columns[i].title);
		} else if (row == LINE_DASHES) {
			text = xcalloc(widths[i] + 1, 1);
			memset(text, '-', widths[i]);
		} else {
			text = cell_shown(records, row, i, units);
		}
		pad = widths[i] - escape_width(text);
		if (*text) {
			printf("%*s%s", blank + (right ? pad : 0), "", text);
			blank = right ? 0 : pad;
		} else {
			blank += widths[i];
		}
		blank++;
	}
	putchar('\n');
}

/* The width of a column of a table, 0 if it is not in it. */
static int table_width(const struct records *records, int column, const struct units *units)
{
	bool shown = !(records->columns[column].flags & COLUMN_HIDE_EMPTY);
	int width;

	for (int row = 0; row < records->count; row++)
		shown |= records->rows[row][column].type != CELL_NONE;
	if (!shown || !is_shown(&records->columns[column], COLUMN_NO_TABLE))
		return 0;
	width = escape_width(records->columns[column].title);
	for (int row = 0; row < records->count; row++) {
		_cleanup_free_ char *text = cell_shown(records, row, column, units);
		int wanted = escape_width(text);

		width = wanted > width ? wanted : width;
	}
	return width;
}

void records_print_table(const struct records *records, const struct units *units)
{
	_cleanup_free_ int *widths = xcalloc(records->column_count, sizeof(*widths));

	for (int i = 0; i < records->column_count; i++)
		widths[i] = table_width(records, i, units);
	print_table_line(records, widths, LINE_TITLES, units);
	print_table_line(records, widths, LINE_DASHES, units);
	for (int row = 0; row < records->count; row++) {
		if (records->has_total && row == records->count - 1)
			print_table_line(records, widths, LINE_DASHES, units);
		print_table_line(records, widths, row, units);
	}
}

void records_print_pair(int width, const char *title, const char *text)
{
	printf("   %s:%*s%s\n", title, width - escape_width(title) + 1, "", text);
}

void records_print_block(const struct records *records, int row, int width,
			 const struct units *units)
{
	for (int i = 0, fixed = width; !fixed && i < records->column_count; i++) {
		const struct column *column = &records->columns[i];

		if (is_shown(column, COLUMN_NO_BLOCK) && escape_width(column->title) > width)
			width = escape_width(column->title);
	}
	for (int i = 0; i < records->column_count; i++) {
		_cleanup_free_ char *text = NULL, *padded = NULL;
		const struct column *column = &records->columns[i];

		if (!is_shown(column, COLUMN_NO_BLOCK) ||
		    (column->flags & COLUMN_HIDE_EMPTY &&
		     records->rows[row][i].type == CELL_NONE))
			continue;
		text = cell_shown(records, row, i, units);
		padded = xasprintf("%*s", column->flags & COLUMN_RIGHT ? 14 : 0, text);
		records_print_pair(width, column->title, padded);
	}
}

char *records_cell_text(const struct records *records, int row, int column,
			const struct units *units)
{
	return cell_shown(records, row, column, units);
}

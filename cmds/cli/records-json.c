/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The JSON form of records, with the header that btrfs puts before its own.
 * A sum row is for people only: readers of JSON can add.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/cli/cleanup.h"
#include "cmds/cli/escape.h"
#include "cmds/cli/records-internal.h"

static json_object *json_text(const char *text)
{
	_cleanup_free_ char *clean = xcheck(escape_utf8(text));

	return json_object_new_string(clean);
}

static json_object *json_number(const char *text)
{
	return json_object_new_uint64(strtoull(text, NULL, 10));
}

static json_object *json_list(char *const *list, json_object *(*make)(const char *))
{
	json_object *array = json_object_new_array();

	for (int i = 0; list[i]; i++)
		json_object_array_add(array, make(list[i]));
	return array;
}

static json_object *json_cell(const struct cell *cell)
{
	const char *text = cell->text;

	switch (cell->type) {
	case CELL_TEXT:
		return json_text(cell->text);
	case CELL_VALUE:
		if (*text && strspn(text, "0123456789") == strlen(text) && strlen(text) < 20)
			return json_number(text);
		if (strcmp(text, "yes") == 0 || strcmp(text, "no") == 0)
			return json_object_new_boolean(*text == 'y');
		return json_text(text);
	case CELL_NUMBER:
	case CELL_SIZE:
		return json_object_new_uint64(cell->number);
	case CELL_BOOL:
		return json_object_new_boolean(cell->number);
	case CELL_LIST:
		return json_list(cell->list, json_text);
	case CELL_NUMBERS:
		return json_list(cell->list, json_number);
	default:
		return NULL;
	}
}

json_object *records_json_object(const struct records *records, int row)
{
	json_object *object = json_object_new_object();

	for (int i = 0; i < records->column_count; i++)
		if (records->columns[i].key)
			json_object_object_add(object, records->columns[i].key,
					       json_cell(&records->rows[row][i]));
	return object;
}

json_object *records_json_array(const struct records *records)
{
	json_object *array = json_object_new_array();

	for (int row = 0; row < records->count - records->has_total; row++)
		json_object_array_add(array, records_json_object(records, row));
	return array;
}

json_object *records_json_keyed(const struct records *records, int column)
{
	json_object *object = json_object_new_object();

	for (int row = 0; row < records->count; row++) {
		json_object *member = records_json_object(records, row);

		json_object_object_del(member, records->columns[column].key);
		json_object_object_add(object, records->rows[row][column].text, member);
	}
	return object;
}

static bool printed;

bool json_was_printed(void)
{
	return printed;
}

static const char *to_text(json_object *object)
{
	return json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY |
			JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE);
}

static json_object *make_document(const char *name, json_object *value)
{
	json_object *document = json_object_new_object();
	json_object *header = json_object_new_object();

	json_object_object_add(header, "version", json_object_new_string("1"));
	json_object_object_add(document, "__header", header);
	json_object_object_add(document, name, value);
	return document;
}

void json_print_document(const char *name, json_object *value)
{
	_cleanup_(json) json_object *document = make_document(name, value);

	escape_json(stdout, to_text(document));
	putchar('\n');
	printed = true;
}

void json_print_streamed(const char *name, json_object *value, const char *key,
			 json_object *(*make)(const void *user, size_t index), const void *user)
{
	_cleanup_(json) json_object *document = make_document(name, value);
	_cleanup_free_ char *text = xstrdup(to_text(document));
	_cleanup_free_ char *hole = xasprintf("\"%s\": null", key);
	char *end = strstr(text, hole) + strlen(hole);
	json_object *element;
	size_t count;

	end[-(int)strlen("null")] = '\0';
	escape_json(stdout, text);
	for (count = 0; (element = make(user, count)); count++) {
		_cleanup_free_ char *lines = xstrdup(to_text(element));
		char *rest = lines;

		fputs(count ? "," : "[", stdout);
		for (char *line; (line = strsep(&rest, "\n"));) {
			printf("\n      ");	/* as deep as the array's elements are */
			escape_json(stdout, line);
		}
		json_object_put(element);
	}
	fputs(count ? "\n    ]" : "[]", stdout);
	escape_json(stdout, end);
	putchar('\n');
	printed = true;
}

void json_print_error(int status, const char *text)
{
	json_object *object = json_object_new_object();

	json_object_object_add(object, "status", json_object_new_int(status));
	json_object_object_add(object, "text", json_text(text));
	json_print_document("error", object);
}

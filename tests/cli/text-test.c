/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Units, escaping and records as tables of input and expected output.
 * The unit rows were taken from the distribution's btrfs.
 */
#include <stdio.h>
#include <string.h>

#include "cmds/cli/cleanup.h"
#include "cmds/cli/escape.h"
#include "cmds/cli/records.h"
#include "cmds/cli/units.h"

static int tests;

static void expect(const char *what, const char *got, const char *want)
{
	bool same = strcmp(got, want) == 0;

	printf("%sok %d - %s\n", same ? "" : "not ", ++tests, what);
	if (!same)
		printf("# got  '%s'\n# want '%s'\n", got, want);
}

#define MOST 3
#define NONE (-1)

static const struct {
	uint64_t size;
	int choices[MOST];
	const char *want;
} unit_rows[] = {
	{ 0, { NONE }, "0.00B" },
	{ 1023, { NONE }, "1023.00B" },
	{ 1024, { NONE }, "1.00KiB" },
	{ 1073741823, { NONE }, "1024.00MiB" },
	{ 5876588896256ull, { NONE }, "5.34TiB" },
	{ 5876588896256ull, { CHOOSE_HUMAN_DECIMAL, NONE }, "5.88TB" },
	{ 5876588896256ull, { CHOOSE_KILO, NONE }, "5738856448.00KiB" },
	{ 122374651904ull, { NONE }, "113.97GiB" },
	{ 122374651904ull, { CHOOSE_RAW, NONE }, "122374651904" },
	{ 122374651904ull, { CHOOSE_RAW, CHOOSE_KILO, NONE }, "122374651904" },
	{ 122374651904ull, { CHOOSE_RAW, CHOOSE_DECIMAL, NONE }, "122.37GB" },
	{ 122374651904ull, { CHOOSE_HUMAN_DECIMAL, CHOOSE_TERA, NONE }, "0.12TB" },
	{ 122374651904ull, { CHOOSE_TERA, NONE }, "0.11TiB" },
	{ 122374651904ull, { CHOOSE_KILO, CHOOSE_HUMAN_BINARY, NONE }, "113.97GiB" },
	{ 1048576, { CHOOSE_GIGA, CHOOSE_DECIMAL, NONE }, "0.00GB" },
	{ 8388608, { CHOOSE_MEGA, NONE }, "8.00MiB" },
	{ UINT64_MAX, { NONE }, "16.00EiB" },
};

static void test_units(void)
{
	for (size_t i = 0; i < sizeof(unit_rows) / sizeof(unit_rows[0]); i++) {
		struct units units = UNITS_DEFAULT;
		char text[UNITS_TEXT], what[64];

		for (int j = 0; j < MOST && unit_rows[i].choices[j] != NONE; j++)
			units_choose(&units, unit_rows[i].choices[j]);
		snprintf(what, sizeof(what), "units: %s", unit_rows[i].want);
		expect(what, units_format(unit_rows[i].size, &units, text), unit_rows[i].want);
	}
}

static const struct {
	const char *what;
	const char *text;
	const char *terminal;
	const char *utf8;
} escape_rows[] = {
	{ "plain", "pool", "pool", "pool" },
	{ "empty", "", "", "" },
	{ "umlaut", "sch\xc3\xb6n", "sch\xc3\xb6n", "sch\xc3\xb6n" },
	{ "escape sequence", "\033[2J", "\\x1b[2J", "\033[2J" },
	{ "line feed", "a\nb", "a\\x0ab", "a\nb" },
	{ "delete", "a\x7f", "a\\x7f", "a\x7f" },
	{ "C1 control", "\xc2\x9b" "2J", "\\xc2\\x9b2J", "\xc2\x9b" "2J" },
	{ "right to left", "a\xe2\x80\xae" "b", "a\\xe2\\x80\\xaeb", "a\xe2\x80\xae" "b" },
	{ "no UTF-8", "\xff\xfe", "\\xff\\xfe", "\\xff\\xfe" },
	{ "cut off", "a\xe2\x80", "a\\xe2\\x80", "a\\xe2\\x80" },
	{ "overlong", "\xc0\xaf", "\\xc0\\xaf", "\\xc0\\xaf" },
	{ "surrogate", "\xed\xa0\x80", "\\xed\\xa0\\x80", "\\xed\\xa0\\x80" },
	{ "beyond Unicode", "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", "\\xf4\\x90\\x80\\x80" },
	{ "emoji", "\xf0\x9f\x92\xbe", "\xf0\x9f\x92\xbe", "\xf0\x9f\x92\xbe" },
};

static void test_escape(void)
{
	for (size_t i = 0; i < sizeof(escape_rows) / sizeof(escape_rows[0]); i++) {
		_cleanup_free_ char *terminal = escape_text(escape_rows[i].text);
		_cleanup_free_ char *utf8 = escape_utf8(escape_rows[i].text);
		char what[64];

		snprintf(what, sizeof(what), "terminal: %s", escape_rows[i].what);
		expect(what, terminal, escape_rows[i].terminal);
		snprintf(what, sizeof(what), "UTF-8: %s", escape_rows[i].what);
		expect(what, utf8, escape_rows[i].utf8);
	}
}

static void test_json_escape(void)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	escape_json(stream, "{\n\"a\": \"\xc2\x9b\x7f\xc3\xa9\xe2\x80\xae\"\n}");
	fclose(stream);
	expect("JSON: what a terminal obeys", text,
	       "{\n\"a\": \"\\u009b\\u007f\xc3\xa9\\u202e\"\n}");
}

enum { CELL_NAME, CELL_VALUE_, CELL_YES, CELL_LIST_, CELL_EMPTY, CELL_COLUMNS };

static const struct column columns[] = {
	[CELL_NAME] = { "name", "Name", 0 },
	[CELL_VALUE_] = { "value", "Value", COLUMN_RIGHT },
	[CELL_YES] = { "yes", NULL, 0 },
	[CELL_LIST_] = { "list", NULL, 0 },
	[CELL_EMPTY] = { "empty", NULL, 0 },
};

static void test_json_cells(void)
{
	static const char *const values[] = { "12", "yes", "no", "pid", "", "12a",
					      "99999999999999999999", NULL };
	static const char want[] =
		"[{\"name\":\"a\",\"value\":12,\"yes\":true,\"list\":[1,2],\"empty\":null},"
		"{\"name\":\"a\",\"value\":true,\"yes\":true,\"list\":[1,2],\"empty\":null},"
		"{\"name\":\"a\",\"value\":false,\"yes\":true,\"list\":[1,2],\"empty\":null},"
		"{\"name\":\"a\",\"value\":\"pid\",\"yes\":true,\"list\":[1,2],\"empty\":null},"
		"{\"name\":\"a\",\"value\":\"\",\"yes\":true,\"list\":[1,2],\"empty\":null},"
		"{\"name\":\"a\",\"value\":\"12a\",\"yes\":true,\"list\":[1,2],\"empty\":null},"
		"{\"name\":\"a\",\"value\":\"99999999999999999999\",\"yes\":true,"
		"\"list\":[1,2],\"empty\":null}]";
	_cleanup_(records) struct records *records = records_new(columns, CELL_COLUMNS);
	_cleanup_(json) json_object *array = NULL;

	for (int i = 0; values[i]; i++) {
		struct cell *record = records_add(records);

		record_set_text(record, CELL_NAME, "a");
		record_set_value(record, CELL_VALUE_, values[i]);
		record_set_bool(record, CELL_YES, true);
		record_set_numbers(record, CELL_LIST_, (uint64_t []){ 1, 2 }, 2);
	}
	array = records_json_array(records);
	expect("JSON: cells have their types",
	       json_object_to_json_string_ext(array, JSON_C_TO_STRING_PLAIN), want);
}

int main(void)
{
	test_units();
	test_escape();
	test_json_escape();
	test_json_cells();
	printf("1..%d\n", tests);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows of options -> getopt_long() -> members of a struct.
 * Prints errors in options in the words of btrfs; makes no decisions.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/cli/messages.h"
#include "cmds/cli/options.h"
#include "cmds/cli/units.h"

#define MOST_ROWS 48
#define FIRST_CODE 256		/* getopt's codes are row numbers from here on */

/* All rows of all sets in the form that getopt_long() wants. */
struct parser {
	const char *name;
	char letters[2 * MOST_ROWS + 2];
	struct option names[2 * MOST_ROWS + 1];
	const struct option_row *rows[MOST_ROWS];
	void *targets[MOST_ROWS];
	int count;
	int name_count;
};

bool option_has_argument(const struct option_row *row)
{
	return row->kind == OPTION_NUMBER || row->kind == OPTION_TEXT ||
	       row->kind == OPTION_CHOICE;
}

static void parser_add_name(struct parser *parser, const char *name, int code)
{
	if (name)
		parser->names[parser->name_count++] = (struct option){
			.name = name,
			.has_arg = option_has_argument(parser->rows[code - FIRST_CODE]),
			.val = code,
		};
}

static const struct option_row *parser_find(const struct parser *parser, int code, void **target)
{
	for (int i = 0; i < parser->count; i++)
		if (code == FIRST_CODE + i || code == parser->rows[i]->letter) {
			*target = parser->targets[i];
			return parser->rows[i];
		}
	return NULL;
}

static int complain(const struct parser *parser, const struct option_row *row,
		    const char *text, const char *wanted)
{
	usage_error(parser->name, "invalid value '%s' for --%s: %s", text, row->name, wanted);
	return STATUS_FAILURE;
}

static int store_choice(const struct parser *parser, const struct option_row *row,
			const char *text, int *choice)
{
	char wanted[128] = "expected one of";

	for (int i = 0; row->choices[i]; i++) {
		size_t len = strlen(wanted);

		if (strcmp(text, row->choices[i]) == 0) {
			*choice = i;
			return STATUS_OK;
		}
		snprintf(wanted + len, sizeof(wanted) - len, "%s %s", i ? "," : "",
			 row->choices[i]);
	}
	return complain(parser, row, text, wanted);
}

static int store(const struct parser *parser, const struct option_row *row,
		 void *target, char *text)
{
	void *member = (char *)target + row->offset;
	char *end;

	switch (row->kind) {
	case OPTION_FLAG:
		*(bool *)member = true;
		break;
	case OPTION_VALUE:
		*(int *)member = row->value;
		break;
	case OPTION_COUNT:
		*(int *)member += *(int *)member < row->value;
		break;
	case OPTION_TEXT:
		*(const char **)member = text;
		break;
	case OPTION_UNIT:
		units_choose(member, row->value);
		break;
	case OPTION_NUMBER:
		errno = 0;
		*(uint64_t *)member = strtoull(text, &end, 10);
		if (!isdigit((unsigned char)*text) || *end || errno || *(uint64_t *)member == 0)
			return complain(parser, row, text, "expected a number from 1 on");
		break;
	case OPTION_CHOICE:
		return store_choice(parser, row, text, member);
	case OPTION_END:
		break;
	}
	return STATUS_OK;
}

static int complain_unknown(const struct parser *parser, int c, const char *word)
{
	void *target;

	if (c == ':')
		usage_error(parser->name, "option '%s' requires an argument", word);
	else if (!optopt || parser_find(parser, optopt, &target))
		usage_error(parser->name, "unrecognized option '%s'", word);
	else
		usage_error(parser->name, "invalid option '%c'", isprint(optopt) ? optopt : '?');
	return STATUS_GLOBAL;
}

/* Rows of all sets become getopt's codes, names and letters. */
static void parser_init(struct parser *parser, const char *name, const struct option_set *sets,
			bool stop)
{
	char *letters = parser->letters;

	*parser = (struct parser){ .name = name };
	letters += sprintf(letters, "%s", stop ? "+:" : ":");
	for (; sets->rows || sets->target; sets++) {
		for (const struct option_row *row = sets->rows; row && row->kind; row++) {
			int code = FIRST_CODE + parser->count;

			parser->rows[parser->count] = row;
			parser->targets[parser->count++] = sets->target;
			if (row->letter)
				letters += sprintf(letters, "%c%s", row->letter,
						   option_has_argument(row) ? ":" : "");
			parser_add_name(parser, row->name, code);
			parser_add_name(parser, row->alias, code);
		}
	}
}

int options_parse(const char *name, const struct option_set *sets, bool stop, int argc,
		  char **argv, int *first)
{
	int status = STATUS_OK;
	const struct option_row *row;
	struct parser parser;
	void *target;
	int c;

	parser_init(&parser, name, sets, stop);
	opterr = 0;
	optind = 0;		/* makes getopt forget an earlier argv */
	while (!status &&
	       (c = getopt_long(argc, argv, parser.letters, parser.names, NULL)) != -1) {
		row = parser_find(&parser, c, &target);
		status = row ? store(&parser, row, target, optarg) :
			       complain_unknown(&parser, c, argv[optind - 1]);
	}
	*first = optind;
	return status;
}

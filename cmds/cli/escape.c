/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Escaping of text from outside.  Knows UTF-8 and which characters
 * a terminal obeys instead of showing: C0 and C1 controls, DEL, and the marks
 * that turn the direction of writing.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/cli/escape.h"

/* Bytes of the character at @text and its code point; 0 if it is no UTF-8. */
static size_t decode(const unsigned char *text, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len = text[0] < 0x80 ? 1 : text[0] >> 5 == 6 ? 2 :
		     text[0] >> 4 == 14 ? 3 : text[0] >> 3 == 30 ? 4 : 0;

	*code = len < 2 ? text[0] : text[0] & (0x7f >> len);
	for (size_t i = 1; i < len; i++) {
		if (text[i] >> 6 != 2)
			return 0;
		*code = *code << 6 | (text[i] & 0x3f);
	}
	if (len > 1 && (*code < least[len] || *code > 0x10ffff || *code >> 11 == 0x1b))
		return 0;
	return len;
}

static bool is_dangerous(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) ||
	       (code >= 0x200b && code <= 0x200f) ||
	       (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

static char *escape(const char *text, bool for_terminal)
{
	const unsigned char *in = (const unsigned char *)text;
	char *result = malloc(4 * strlen(text) + 1), *out = result;
	uint32_t code;
	size_t len;

	if (!result)
		return NULL;
	while (*in) {
		len = decode(in, &code);
		if (len && !(for_terminal && is_dangerous(code))) {
			memcpy(out, in, len);
			out += len;
			in += len;
			continue;
		}
		for (len = len ? len : 1; len; len--)
			out += sprintf(out, "\\x%02x", *in++);
	}
	*out = '\0';
	return result;
}

char *escape_text(const char *text)
{
	return escape(text, true);
}

char *escape_utf8(const char *text)
{
	return escape(text, false);
}

char *escape_shell(const char *word)
{
	char *text, *to;

	if (*word && word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				 "0123456789/._,:=@%+-")] == '\0')
		return strdup(word);
	to = text = calloc(4 * strlen(word) + 3, 1);
	if (!text)
		return NULL;
	*to++ = '\'';
	for (; *word; word++)
		to += sprintf(to, *word == '\'' ? "'\\''" : "%c", *word);
	*to = '\'';
	return text;
}

void escape_json(FILE *stream, const char *json)
{
	const unsigned char *in = (const unsigned char *)json;
	uint32_t code;
	size_t len;

	for (; *in; in += len) {
		len = decode(in, &code);
		len = len ? len : 1;
		/* Line feeds separate members, they never occur inside a string. */
		if (is_dangerous(code) && code != '\n')
			fprintf(stream, "\\u%04x", (unsigned int)code);
		else
			fwrite(in, 1, len, stream);
	}
}

int escape_width(const char *text)
{
	int width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

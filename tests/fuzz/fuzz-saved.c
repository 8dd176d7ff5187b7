/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fuzz-saved FIRST COUNT FILE...: files of saved settings as the corpus has them, then
 * damaged in COUNT ways, are read and saved over on a made-up machine.  One that is
 * refused says why and stays as it is; in one that is not, the lines of others do,
 * and what was saved is read back.  Built with sanitizers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/random.h"
#include "tests/unit/lib/fake.h"

#define FILES_MAX 64
#define LONGEST (sizeof(((struct fake *)NULL)->saved) - 128)	/* saving makes it longer */

struct text {
	char bytes[LONGEST];
	size_t length;
};

static struct text corpus[FILES_MAX];
static size_t corpus_count;

static void die(const char *what, const char *text)
{
	fprintf(stderr, "%s:\n%s\n", what, text);
	exit(1);
}

static void load(const char *path)
{
	struct text *text = &corpus[corpus_count++];
	FILE *file = fopen(path, "r");

	if (!file || corpus_count == FILES_MAX)
		die("cannot take", path);
	text->length = fread(text->bytes, 1, sizeof(text->bytes), file);
	fclose(file);
}

/* ---- Damage ------------------------------------------------------------- */

/* Takes `count` bytes away at a place and puts others there, as far as there is space. */
static void replace(struct text *text, size_t at, size_t count, const char *bytes, size_t length)
{
	size_t rest = text->length - at - count;

	if (text->length - count + length > sizeof(text->bytes))
		return;
	memmove(text->bytes + at + length, text->bytes + at + count, rest);
	memcpy(text->bytes + at, bytes, length);
	text->length += length - count;
}

static void damage(struct text *text)
{
	static const char *const odd[] = { "\n", "=", "#", " ", "\r", "\t", "\xff", "\x1b[31m",
					   "readahead", "read-policy = pid\n", "rot-penalty", "0x10",
					   "18446744073709551616", "-0", "16Q", ":", "roundrobin:\n" };
	const struct text *other = &corpus[random_number(corpus_count)];
	size_t at = random_number(text->length + 1), count = random_number(8), from;
	const char *word = odd[random_number(BP_ARRAY_SIZE(odd))];

	if (count > text->length - at)
		count = text->length - at;
	switch (random_number(3)) {
	case 0:
		replace(text, at, count, "", 0);
		break;
	case 1:
		replace(text, at, count, word, strlen(word));
		break;
	default:
		from = random_number(other->length + 1);
		replace(text, at, count, other->bytes + from,
			random_number(other->length - from + 1));
	}
}

/* ---- What must hold ------------------------------------------------------ */

static int save_readahead(struct btrfs_policy_fs *fs, const char *value)
{
	struct btrfs_policy_request *request = btrfs_policy_request_new();
	struct btrfs_policy_changes *changes = NULL;
	int ret = btrfs_policy_request_add(request, "readahead", 0, value);

	if (!ret)
		ret = btrfs_policy_apply(fs, request, BTRFS_POLICY_SAVE, &changes);
	btrfs_policy_changes_free(changes);
	btrfs_policy_request_free(request);
	return ret;
}

/* Lines that neither begin with the setting nor are new, in their order. */
static void lines_of_others(const char *text, char *others)
{
	for (size_t length; *text; text += length + (text[length] == '\n')) {
		size_t blanks = strspn(text, " \t\r");

		length = strcspn(text, "\n");
		if (blanks > length || strncmp(text + blanks, "readahead", strlen("readahead"))) {
			memcpy(others, text, length);
			others += length;
			*others++ = '\n';
		}
	}
	*others = '\0';
}

/* Names that only begin with that of the setting are none, and such a file is refused. */
static void check_saved(struct fake *fake, struct btrfs_policy_fs *fs, const char *before)
{
	char old[2 * sizeof(fake->saved)], new[2 * sizeof(fake->saved)];
	struct btrfs_policy_request *request = NULL;

	lines_of_others(before, old);
	lines_of_others(fake->saved, new);
	if (strcmp(old, new))
		die("lines of others have changed", before);
	if (!strstr(fake->saved, "readahead = 8388608\n"))
		die("not saved", before);
	if (btrfs_policy_saved_read(fs, &request))
		die("what was saved cannot be read", fake->saved);
	btrfs_policy_request_free(request);
}

/* 1 if it was refused. */
static int check_text(const char *text)
{
	static struct fake fake;
	struct btrfs_policy_request *request = NULL;
	struct btrfs_policy_fs *fs;
	int read, saved;

	fake_two_and_two(&fake, FAKE_OURS, 0, 0);
	strcpy(fake.saved, text);
	fs = fake_open(&fake);
	read = btrfs_policy_saved_read(fs, &request);
	btrfs_policy_request_free(request);
	if (read && !*btrfs_policy_fs_error(fs))
		die("refused without an error", text);
	saved = save_readahead(fs, "8M");
	if (*text && !read != !saved)
		die("read and save do not agree", text);
	if (saved && strcmp(fake.saved, text))
		die("refused and changed", text);
	if (!saved && *text)
		check_saved(&fake, fs, text);
	btrfs_policy_fs_unref(fs);
	return read != 0;
}

static int one_round(uint64_t seed)
{
	struct text text;
	char whole[LONGEST + 1];
	uint64_t times;

	random_seed(seed);
	text = corpus[random_number(corpus_count)];
	for (times = 1 + random_number(4); times; times--)
		damage(&text);
	/* Files with a zero byte do not come so far. */
	for (size_t i = 0; i < text.length; i++)
		whole[i] = text.bytes[i] ? text.bytes[i] : '0';
	whole[text.length] = '\0';
	return check_text(whole);
}

int main(int argc, char **argv)
{
	uint64_t first, rounds, refused = 0;

	if (argc < 4)
		return 2;
	first = strtoull(argv[1], NULL, 0);
	rounds = strtoull(argv[2], NULL, 0);
	for (int i = 3; i < argc; i++)
		load(argv[i]);
	for (size_t i = 0; i < corpus_count; i++) {
		char whole[LONGEST + 1];

		snprintf(whole, sizeof(whole), "%.*s", (int)corpus[i].length, corpus[i].bytes);
		check_text(whole);
	}
	for (uint64_t seed = first; seed < first + rounds; seed++)
		refused += one_round(seed);
	printf("%llu rounds, %llu refused\n", (unsigned long long)rounds,
	       (unsigned long long)refused);
	return refused && refused < rounds ? 0 : 1;
}

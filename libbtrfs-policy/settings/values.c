/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Owns the grammars of settings: from user input to the one form that the
 * library returns, and between that form and the kernel's files.  Refuses input that
 * does not match the grammar completely.
 */
#include <string.h>

#include "settings/settings.h"

#define PENALTY_MAX 1000
#define READAHEAD_UNIT 4096ULL
#define READAHEAD_MAX (1024ULL * 1024 * 1024)

static int refuse(struct btrfs_policy_fs *fs, const struct bp_setting *setting,
		  const char *text, const char *expected)
{
	return bp_error(fs, -EINVAL, "'%s' is no value for %s; expected %s", text,
			setting->pub.name, expected);
}

static int hand_out(struct btrfs_policy_fs *fs, char *value, char **result)
{
	*result = value;
	return value ? 0 : bp_nomem(fs);
}

/* Digits only: no sign, no space, no base prefix. Returns the rest or NULL. */
static const char *digits(const char *text, uint64_t *value)
{
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return errno ? NULL : end;
}

/* With a suffix K, M or G, or without. */
static bool bytes(const char *text, uint64_t *value)
{
	static const char suffixes[] = "KMG";
	const char *rest = digits(text, value);
	const char *suffix = rest && *rest ? strchr(suffixes, *rest & ~0x20) : NULL;
	int shift = suffix ? 10 * (int)(suffix - suffixes + 1) : 0;

	if (!rest || (*rest && (!suffix || !*suffix || rest[1])) || *value > UINT64_MAX >> shift)
		return false;
	*value <<= shift;
	return true;
}

/* ---- Read policies ------------------------------------------------------ */

static size_t name_length(const char *word)
{
	return strcspn(word, ":");
}

/* A parameter is taken only where the kernel shows one for that name. */
static bool offers(char **offered, const char *text)
{
	size_t length = name_length(text);

	for (char **word = offered; *word; word++) {
		if (name_length(*word) != length || strncmp(*word, text, length))
			continue;
		return !text[length] || (*word)[length];
	}
	return false;
}

int bp_parse_choice(struct btrfs_policy_fs *fs, const struct bp_setting *setting,
		    const char *text, char **value)
{
	const char *colon = strchr(text, ':');
	char **offered = NULL;
	uint64_t number;
	int ret = 0;

	/* If the kernel lacks roundrobin the error names the kernel, not the word. */
	if (!strcmp(text, "roundrobin"))
		ret = bp_need(fs, "roundrobin", "set the read policy 'roundrobin'");
	if (!ret)
		ret = btrfs_policy_setting_values(fs, setting->pub.name, &offered);
	if (ret)
		return ret;
	if (offers(offered, text) && colon && bytes(colon + 1, &number)) {
		/* The kernel takes suffixes, and shows plain bytes. */
		ret = hand_out(fs, bp_format("%.*s:%llu", (int)(colon - text), text,
					     (unsigned long long)number), value);
	} else if (offers(offered, text)) {
		ret = hand_out(fs, strdup(text), value);
	} else {
		ret = bp_error(fs, -EINVAL, "'%s' is no %s; this kernel offers:", text,
			       setting->pub.title);
		for (char **word = offered; *word; word++)
			bp_error_more(fs, 0, "%s %s", word == offered ? "" : ",", *word);
	}
	btrfs_policy_strv_free(offered);
	return ret;
}

int bp_value_choice(const char *text, char **value)
{
	return bp_choice_current(text, value);
}

/* ---- Numbers ------------------------------------------------------------ */

int bp_parse_penalty(struct btrfs_policy_fs *fs, const struct bp_setting *setting,
		     const char *text, char **value)
{
	uint64_t number;
	const char *rest = digits(text, &number);

	if (!rest || *rest || number > PENALTY_MAX)
		return refuse(fs, setting, text, setting->pub.grammar);
	return hand_out(fs, bp_format("%llu", (unsigned long long)number), value);
}

int bp_value_number(const char *text, char **value)
{
	uint64_t number;
	const char *rest = digits(text, &number);

	if (!rest || *rest)
		return -EUCLEAN;
	*value = strdup(text);
	return *value ? 0 : -ENOMEM;
}

char *bp_file_same(const char *value)
{
	return strdup(value);
}

/* ---- Yes and no --------------------------------------------------------- */

int bp_parse_bool(struct btrfs_policy_fs *fs, const struct bp_setting *setting,
		  const char *text, char **value)
{
	static const char *const words[] = { "no", "yes", "0", "1", "off", "on", "false", "true" };

	for (size_t i = 0; i < BP_ARRAY_SIZE(words); i++)
		if (!strcmp(words[i], text))
			return hand_out(fs, strdup(words[i % 2]), value);
	return refuse(fs, setting, text, "yes or no");
}

char *bp_file_bool(const char *value)
{
	return strdup(strcmp(value, "yes") ? "0" : "1");
}

int bp_value_bool(const char *text, char **value)
{
	if (strcmp(text, "0") && strcmp(text, "1"))
		return -EUCLEAN;
	*value = strdup(*text == '1' ? "yes" : "no");
	return *value ? 0 : -ENOMEM;
}

/* ---- Readahead: bytes here, KiB in the kernel's file -------------------- */

int bp_parse_readahead(struct btrfs_policy_fs *fs, const struct bp_setting *setting,
		       const char *text, char **value)
{
	uint64_t number;

	if (!bytes(text, &number) || number > READAHEAD_MAX || number % READAHEAD_UNIT)
		return refuse(fs, setting, text,
			      "a multiple of 4K up to 1G, such as 131072, 512K or 4M");
	return hand_out(fs, bp_format("%llu", (unsigned long long)number), value);
}

char *bp_file_readahead(const char *value)
{
	return bp_format("%llu", strtoull(value, NULL, 10) / 1024);
}

int bp_value_readahead(const char *text, char **value)
{
	uint64_t number;
	const char *rest = digits(text, &number);

	if (!rest || *rest || number > UINT64_MAX / 1024)
		return -EUCLEAN;
	*value = bp_format("%llu", (unsigned long long)number * 1024);
	return *value ? 0 : -ENOMEM;
}

/* ---- Roles -------------------------------------------------------------- */

int bp_parse_role(struct btrfs_policy_fs *fs, const struct bp_setting *setting,
		  const char *text, char **value)
{
	const char *draining = btrfs_policy_role_name(BTRFS_POLICY_ROLE_DRAINING);
	enum btrfs_policy_role role;
	int ret;

	if (!strcmp(text, draining)) {
		ret = bp_need(fs, "drain", "drain a device");
		return ret ? ret : hand_out(fs, strdup(text), value);
	}
	if (btrfs_policy_role_parse(text, &role))
		return refuse(fs, setting, text, setting->pub.grammar);
	return hand_out(fs, strdup(text), value);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The error text in the handle: one fixed buffer, so that errors can be reported
 * without memory.  Never prints.
 */
#include <stdio.h>
#include <string.h>

#include "core/handle.h"

/*
 * The text is built aside first: arguments may point into the old text.
 */
static void set_text(struct btrfs_policy_fs *fs, const char *fmt, va_list args)
{
	char text[BP_ERROR_LENGTH];

	vsnprintf(text, sizeof(text), fmt, args);
	memcpy(fs->error, text, sizeof(text));
	fs->hint = BTRFS_POLICY_HINT_NONE;
}

/* Set the text, hand the error number on. */
int bp_error(struct btrfs_policy_fs *fs, int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	set_text(fs, fmt, args);
	va_end(args);
	return err;
}

static const char *advice(int err)
{
	if (err == -EPERM || err == -EACCES)
		return " (are you root?)";
	return "";
}

/* The same for a failed call: the reason is added behind a colon. */
int bp_failed(struct btrfs_policy_fs *fs, int err, const char *fmt, ...)
{
	size_t length;
	va_list args;

	va_start(args, fmt);
	set_text(fs, fmt, args);
	va_end(args);
	length = strlen(fs->error);
	snprintf(fs->error + length, sizeof(fs->error) - length, ": %s%s",
		 strerror(-err), advice(err));
	return err;
}

/* Add a clause to the text; a hint belongs at the end of a text, so it is dropped. */
int bp_error_more(struct btrfs_policy_fs *fs, int err, const char *fmt, ...)
{
	size_t length = strlen(fs->error);
	va_list args;

	va_start(args, fmt);
	vsnprintf(fs->error + length, sizeof(fs->error) - length, fmt, args);
	va_end(args);
	fs->hint = BTRFS_POLICY_HINT_NONE;
	return err;
}

/* The caller names the option behind the text that has been set, in its own words. */
int bp_hint(struct btrfs_policy_fs *fs, int err, enum btrfs_policy_hint hint)
{
	fs->hint = hint;
	return err;
}

int bp_nomem(struct btrfs_policy_fs *fs)
{
	return bp_error(fs, -ENOMEM, "not enough memory");
}

int bp_not_open(struct btrfs_policy_fs *fs)
{
	return bp_error(fs, -EINVAL, "the handle has no open file system");
}

char *bp_format(const char *fmt, ...)
{
	char *text = NULL;
	va_list args;
	int ret;

	va_start(args, fmt);
	ret = vasprintf(&text, fmt, args);
	va_end(args);
	return ret < 0 ? NULL : text;
}

BP_PUBLIC const char *btrfs_policy_fs_error(const struct btrfs_policy_fs *fs)
{
	return fs ? fs->error : "";
}

BP_PUBLIC enum btrfs_policy_hint btrfs_policy_fs_hint(const struct btrfs_policy_fs *fs)
{
	return fs ? fs->hint : BTRFS_POLICY_HINT_NONE;
}

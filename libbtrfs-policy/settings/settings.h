/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Settings of a file system: the table, their grammars, changing and saving them.
 */
#ifndef BP_SETTINGS_H
#define BP_SETTINGS_H

#include <signal.h>

#include "core/handle.h"

/* settings.c: the private part of a row */
struct bp_setting {
	struct btrfs_policy_setting pub;
	/* Text to the form that setting_get() hands out; -EINVAL if it is none. */
	int (*parse)(struct btrfs_policy_fs *fs, const struct bp_setting *setting,
		     const char *text, char **value);
	/* Converts that form to the format of the kernel's file, and back. */
	char *(*to_file)(const char *value);
	int (*from_file)(const char *text, char **value);
	/* Refuses a change that BTRFS_POLICY_FORCE allows; may be NULL. */
	int (*check)(struct btrfs_policy_fs *fs, const char *value);
};

const struct bp_setting *bp_setting_find(const char *name);
int bp_setting_file(struct btrfs_policy_fs *fs, const struct bp_setting *setting,
		    const char **file);
int bp_setting_read(struct btrfs_policy_fs *fs, const struct bp_setting *setting,
		    uint64_t devid, char **value);
int bp_setting_check_device(struct btrfs_policy_fs *fs, const struct bp_setting *setting,
			    uint64_t devid);

/* values.c: grammars of settings */
int bp_parse_choice(struct btrfs_policy_fs *fs, const struct bp_setting *setting,
		    const char *text, char **value);
int bp_parse_penalty(struct btrfs_policy_fs *fs, const struct bp_setting *setting,
		     const char *text, char **value);
int bp_parse_bool(struct btrfs_policy_fs *fs, const struct bp_setting *setting,
		  const char *text, char **value);
int bp_parse_readahead(struct btrfs_policy_fs *fs, const struct bp_setting *setting,
		       const char *text, char **value);
int bp_parse_role(struct btrfs_policy_fs *fs, const struct bp_setting *setting,
		  const char *text, char **value);
char *bp_file_same(const char *value);
char *bp_file_bool(const char *value);
char *bp_file_readahead(const char *value);
int bp_value_choice(const char *text, char **value);
int bp_value_number(const char *text, char **value);
int bp_value_bool(const char *text, char **value);
int bp_value_readahead(const char *text, char **value);

/* One change, from the entry on; all texts are its own. */
struct bp_change {
	struct btrfs_policy_change pub;	/* new_value is `wanted` until it has been read back */
	char *name;			/* as the request has it */
	char *wanted;			/* the value */
	const struct bp_setting *setting;
	bool written;			/* to the kernel */
	bool saved;			/* in the text of the file */
};

/* apply.c: undone by pthread_sigmask(SIG_SETMASK, old, NULL) */
void bp_signals_defer(sigset_t *old);

/* apply-roles.c: `roles` as the ioctl takes them, with values of enum btrfs_policy_role */
int bp_roles_check(struct btrfs_policy_fs *fs, const struct btrfs_ioctl_device_role *roles,
		   size_t count, bool force);
int bp_roles_write(struct btrfs_policy_fs *fs, struct btrfs_ioctl_device_role *roles,
		   size_t count, bool force);

/* saved.c: roles among the changes are left out, as the file system keeps them */
int bp_saved_compose(struct btrfs_policy_fs *fs, struct bp_change *changes, size_t count,
		     char **text);
int bp_saved_write(struct btrfs_policy_fs *fs, const char *text);
int bp_saved_lock(struct btrfs_policy_fs *fs, int *lock);

#endif

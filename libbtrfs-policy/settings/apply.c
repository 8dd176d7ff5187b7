/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Owns requests and carrying them out: check all, write all, read all back, and
 * put everything back if any of it fails.  Must not know any single setting;
 * roles, which go to the kernel together, are apply-roles.c's.
 */
#include <string.h>

#include "core/roles.h"
#include "settings/settings.h"

struct btrfs_policy_request {
	struct bp_change *entries;	/* name, wanted and the devid are set */
	size_t count;
};

struct btrfs_policy_changes {
	struct bp_change *list;
	size_t count;
	/* Of the changes of roles, as the ioctl takes them: new ones and those before. */
	struct btrfs_ioctl_device_role *roles;
	struct btrfs_ioctl_device_role *old_roles;
	size_t role_count;
	bool roles_written;
};

/* ---- Requests ----------------------------------------------------------- */

static void free_changes(struct bp_change *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(list[i].name);
		free(list[i].wanted);
		free((char *)list[i].pub.path);
		free((char *)list[i].pub.old_value);
		if (list[i].pub.new_value != list[i].wanted)
			free((char *)list[i].pub.new_value);
	}
	free(list);
}

BP_PUBLIC struct btrfs_policy_request *btrfs_policy_request_new(void)
{
	return calloc(1, sizeof(struct btrfs_policy_request));
}

BP_PUBLIC void btrfs_policy_request_free(struct btrfs_policy_request *request)
{
	if (!request)
		return;
	free_changes(request->entries, request->count);
	free(request);
}

BP_PUBLIC int btrfs_policy_request_add(struct btrfs_policy_request *request,
				       const char *setting, uint64_t devid, const char *value)
{
	struct bp_change *entries = reallocarray(request->entries, request->count + 1,
						sizeof(*entries));
	struct bp_change *entry;

	if (!entries)
		return -ENOMEM;
	request->entries = entries;
	entry = &entries[request->count];
	*entry = (struct bp_change){
		.pub.devid = devid, .name = strdup(setting), .wanted = strdup(value),
	};
	if (!entry->name || !entry->wanted) {
		free(entry->name);
		free(entry->wanted);
		return -ENOMEM;
	}
	request->count++;
	return 0;
}

/* ---- Changes ------------------------------------------------------------ */

BP_PUBLIC void btrfs_policy_changes_free(struct btrfs_policy_changes *changes)
{
	if (!changes)
		return;
	free_changes(changes->list, changes->count);
	free(changes->roles);
	free(changes->old_roles);
	free(changes);
}

BP_DEFINE_CLEANUP(struct btrfs_policy_changes *, btrfs_policy_changes_free);
#define _cleanup_changes_ BP_CLEANUP(btrfs_policy_changes_free_at_end)

BP_PUBLIC size_t btrfs_policy_changes_count(const struct btrfs_policy_changes *changes)
{
	return changes->count;
}

BP_PUBLIC const struct btrfs_policy_change *
btrfs_policy_changes_at(const struct btrfs_policy_changes *changes, size_t index)
{
	return index < changes->count ? &changes->list[index].pub : NULL;
}

/* ---- Checking ----------------------------------------------------------- */

static bool is_role(const struct bp_change *change)
{
	return change->setting->pub.scope == BTRFS_POLICY_SCOPE_DEVICE;
}

static int refuse_twice(struct btrfs_policy_fs *fs, const struct btrfs_policy_changes *changes,
			const struct bp_change *entry)
{
	for (size_t i = 0; i < changes->count; i++) {
		const struct btrfs_policy_change *pub = &changes->list[i].pub;

		if (pub->devid != entry->pub.devid || strcmp(pub->setting->name, entry->name))
			continue;
		if (!entry->pub.devid)
			return bp_error(fs, -EINVAL, "the %s is given twice",
					pub->setting->title);
		return bp_error(fs, -EINVAL, "the %s of device %llu is given twice",
				pub->setting->title, (unsigned long long)entry->pub.devid);
	}
	return 0;
}

static int check_value(struct btrfs_policy_fs *fs, struct bp_change *change, const char *text)
{
	const struct bp_setting *setting = change->setting;
	_cleanup_free_ char *what = bp_format("change the %s", setting->pub.title);
	char *old = NULL;
	int ret;

	if (!what)
		return bp_nomem(fs);
	ret = bp_need(fs, setting->pub.capability, what);
	if (!ret)
		ret = setting->parse(fs, setting, text, &change->wanted);
	if (ret)
		return ret;
	if (is_role(change) && fs->info.read_only)
		return bp_error(fs, -EROFS,
				"cannot change roles of '%s': it is mounted read-only; %s",
				fs->mount_point, bp_read_only_advice(fs));
	ret = bp_setting_read(fs, setting, change->pub.devid, &old);
	change->pub.old_value = old;
	return ret;
}

static int fill_change(struct btrfs_policy_fs *fs, struct bp_change *change,
		    const struct bp_change *entry)
{
	const struct bp_device *device;
	int ret;

	change->pub.setting = &change->setting->pub;
	change->pub.devid = entry->pub.devid;
	ret = bp_setting_check_device(fs, change->setting, entry->pub.devid);
	if (!ret)
		ret = check_value(fs, change, entry->wanted);
	if (ret)
		return ret;
	change->pub.new_value = change->wanted;
	device = change->pub.devid ? bp_device_find(fs, change->pub.devid) : NULL;
	if (!device || !device->pub.path)
		return 0;
	change->pub.path = strdup(device->pub.path);
	return change->pub.path ? 0 : bp_nomem(fs);
}

static int check_entry(struct btrfs_policy_fs *fs, struct btrfs_policy_changes *changes,
		      const struct bp_change *entry)
{
	const struct bp_setting *setting = bp_setting_find(entry->name);
	struct bp_change *change = &changes->list[changes->count];
	int ret;

	if (!setting)
		return bp_error(fs, -EINVAL, "there is no setting '%s'", entry->name);
	ret = refuse_twice(fs, changes, entry);
	if (ret)
		return ret;
	change->setting = setting;
	changes->count++;
	return fill_change(fs, change, entry);
}

static bool differs(const struct bp_change *change)
{
	return strcmp(change->pub.old_value, change->wanted);
}

static int check_request(struct btrfs_policy_fs *fs, const struct btrfs_policy_request *request,
			 struct btrfs_policy_changes *changes, bool force)
{
	bool has_role = false;
	int ret = 0;

	/* Another process may have changed roles since the handle was opened. */
	for (size_t i = 0; i < request->count; i++)
		has_role |= request->entries[i].pub.devid != 0;
	if (has_role)
		ret = bp_device_roles_read(fs);
	for (size_t i = 0; !ret && i < request->count; i++)
		ret = check_entry(fs, changes, &request->entries[i]);
	if (ret)
		return ret;
	for (size_t i = 0; i < changes->count; i++) {
		const struct bp_change *change = &changes->list[i];
		enum btrfs_policy_role role;

		if (!force && change->setting->check && differs(change))
			ret = change->setting->check(fs, change->wanted);
		if (ret)
			return ret;
		if (!is_role(change) || !differs(change))
			continue;
		bp_role_of_name(change->wanted, &role);
		changes->roles[changes->role_count] = (struct btrfs_ioctl_device_role){
			.devid = change->pub.devid, .role = role,
		};
		changes->old_roles[changes->role_count++] = (struct btrfs_ioctl_device_role){
			.devid = change->pub.devid,
			.role = bp_device_find(fs, change->pub.devid)->pub.role,
		};
	}
	return bp_roles_check(fs, changes->roles, changes->role_count, force);
}

/* ---- Writing ------------------------------------------------------------ */

static int write_value(struct btrfs_policy_fs *fs, const struct bp_change *change, const char *value)
{
	_cleanup_free_ char *text = change->setting->to_file(value);
	const char *file;
	int ret;

	if (!text)
		return bp_nomem(fs);
	ret = bp_setting_file(fs, change->setting, &file);
	return ret ? ret : bp_sysfs_write(fs, file, 0, text);
}

/* Roles go last: the kernel takes all of them or none. */
static int write_all(struct btrfs_policy_fs *fs, struct btrfs_policy_changes *changes,
		     bool force)
{
	int ret;

	for (size_t i = 0; i < changes->count; i++) {
		struct bp_change *change = &changes->list[i];

		if (is_role(change) || !differs(change))
			continue;
		ret = write_value(fs, change, change->wanted);
		if (ret)
			return ret;
		change->written = true;
	}
	if (!changes->role_count)
		return 0;
	ret = bp_roles_write(fs, changes->roles, changes->role_count, force);
	changes->roles_written = !ret;
	return ret;
}

/* ---- Reading back ------------------------------------------------------- */

/* A policy written without a parameter comes back with its default one. */
static bool took(const struct bp_change *change)
{
	size_t length = strlen(change->wanted);
	const char *rest = change->pub.new_value + length;

	if (strncmp(change->wanted, change->pub.new_value, length))
		return false;
	return !*rest || (*rest == ':' && !strchr(change->wanted, ':'));
}

static int read_back(struct btrfs_policy_fs *fs, struct bp_change *change)
{
	enum btrfs_policy_role role;
	char *shown = NULL;
	int ret;

	if (!differs(change))
		return 0;
	if (is_role(change)) {
		ret = bp_role_current(fs, change->pub.devid, &role);
		if (ret)
			return ret;
		shown = strdup(btrfs_policy_role_name(role));
		if (!shown)
			return bp_nomem(fs);
		bp_device_find(fs, change->pub.devid)->pub.role = role;
	} else {
		ret = bp_setting_read(fs, change->setting, 0, &shown);
		if (ret)
			return ret;
	}
	change->pub.new_value = shown;
	if (took(change))
		return 0;
	return bp_error(fs, -EIO, "the kernel took '%s' as the %s of '%s' but shows '%s'",
			change->wanted, change->setting->pub.title, fs->mount_point, shown);
}

/* ---- Putting back ------------------------------------------------------- */

/* The kernel takes all roles or none, so those that it would refuse are left out. */
static int undo_roles(struct btrfs_policy_fs *fs, struct btrfs_policy_changes *changes)
{
	size_t count = 0;
	int ret, failed = 0;

	for (size_t i = 0; i < changes->role_count; i++) {
		const struct btrfs_ioctl_device_role old = changes->old_roles[i];
		enum btrfs_policy_role now;

		if (old.role == BTRFS_POLICY_ROLE_FOREIGN)
			ret = bp_error(fs, -EINVAL, "cannot set device %llu back to a foreign role",
				       (unsigned long long)old.devid);
		else
			ret = bp_role_current(fs, old.devid, &now);
		failed = ret ? ret : failed;
		if (ret)
			continue;
		bp_device_find(fs, old.devid)->pub.role = old.role;
		changes->old_roles[count++] = old;
	}
	ret = count ? bp_roles_write(fs, changes->old_roles, count, true) : 0;
	return ret ? ret : failed;
}

/* Keeps the first error and appends the state of the rest. */
static int put_back(struct btrfs_policy_fs *fs, struct btrfs_policy_changes *changes, int err)
{
	_cleanup_free_ char *first = strdup(fs->error);
	bool any = changes->roles_written;
	int failed = any ? undo_roles(fs, changes) : 0;

	for (size_t i = changes->count; i-- > 0;) {
		struct bp_change *change = &changes->list[i];
		int ret = change->written ? write_value(fs, change, change->pub.old_value) : 0;

		any |= change->written;
		failed = failed ? failed : ret;
	}
	if (!any)
		return err;
	if (!failed)
		return bp_error(fs, err, "%s; the changes made before it were put back",
				first ? first : "not enough memory");
	return bp_error(fs, err, "%s; and putting back the changes made before it failed, so some stay: %s",
			first ? first : "not enough memory", fs->error);
}

/* ---- Keeping ------------------------------------------------------------ */

/* Signals that end a process wait in this thread until `old` is set again. */
void bp_signals_defer(sigset_t *old)
{
	sigset_t ending;

	sigemptyset(&ending);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGTERM);
	sigaddset(&ending, SIGHUP);
	sigaddset(&ending, SIGQUIT);
	pthread_sigmask(SIG_BLOCK, &ending, old);
}

static int carry_out(struct btrfs_policy_fs *fs, struct btrfs_policy_changes *changes,
		     unsigned int flags, const char *saved)
{
	sigset_t old;
	int ret;

	bp_signals_defer(&old);
	ret = write_all(fs, changes, flags & BTRFS_POLICY_FORCE);
	for (size_t i = 0; !ret && i < changes->count; i++)
		ret = read_back(fs, &changes->list[i]);
	if (!ret && saved)
		ret = bp_saved_write(fs, saved);
	if (ret)
		ret = put_back(fs, changes, ret);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return ret;
}

/* Roles are not saved: the file system keeps them. */
static int compose_and_carry_out(struct btrfs_policy_fs *fs,
				 struct btrfs_policy_changes *changes, unsigned int flags)
{
	_cleanup_free_ char *text = NULL;
	int ret = bp_saved_compose(fs, changes->list, changes->count, &text);

	if (ret || flags & BTRFS_POLICY_DRY_RUN)
		return ret;
	return carry_out(fs, changes, flags, text);
}

static int carry_out_and_keep(struct btrfs_policy_fs *fs, struct btrfs_policy_changes *changes,
			      unsigned int flags)
{
	int lock, ret;

	if (flags & BTRFS_POLICY_DRY_RUN)
		return compose_and_carry_out(fs, changes, flags);
	ret = bp_saved_lock(fs, &lock);
	if (ret)
		return ret;
	ret = compose_and_carry_out(fs, changes, flags);
	fs->ops->saved_unlock(fs->backend, lock);
	return ret;
}

BP_PUBLIC int btrfs_policy_apply(struct btrfs_policy_fs *fs,
				 const struct btrfs_policy_request *request, unsigned int flags,
				 struct btrfs_policy_changes **changes)
{
	_cleanup_changes_ struct btrfs_policy_changes *new = NULL;
	bool keeps = false;
	int ret;

	if (!fs->open)
		return bp_not_open(fs);
	if (flags & ~(unsigned int)(BTRFS_POLICY_FORCE | BTRFS_POLICY_DRY_RUN | BTRFS_POLICY_SAVE))
		return bp_error(fs, -EINVAL, "unknown flags 0x%x", flags);
	new = calloc(1, sizeof(*new));
	if (!new)
		return bp_nomem(fs);
	new->list = calloc(request->count + 1, sizeof(*new->list));
	new->roles = calloc(request->count + 1, sizeof(*new->roles));
	new->old_roles = calloc(request->count + 1, sizeof(*new->old_roles));
	if (!new->list || !new->roles || !new->old_roles)
		return bp_nomem(fs);
	ret = check_request(fs, request, new, flags & BTRFS_POLICY_FORCE);
	for (size_t i = 0; i < new->count; i++)
		keeps |= flags & BTRFS_POLICY_SAVE && !is_role(&new->list[i]);
	if (!ret && keeps)
		ret = carry_out_and_keep(fs, new, flags);
	else if (!ret && !(flags & BTRFS_POLICY_DRY_RUN))
		ret = carry_out(fs, new, flags, NULL);
	if (!ret)
		*changes = bp_steal(new);
	return ret;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of the made-up machine: plain ones from a list, those of devices and
 * profiles generated from the state of the machine.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "fake.h"

static struct fake_device *device_of(struct fake *fake, const char *name, char *leaf)
{
	unsigned long long devid;

	if (sscanf(name, FAKE_FSID "/devinfo/%llu/%15s", &devid, leaf) != 2)
		return NULL;
	for (size_t i = 0; i < fake->device_count; i++)
		if (fake->devices[i].devid == devid)
			return &fake->devices[i];
	return NULL;
}

/* These are made from the device, on recorded trees too: a role changes while the machine runs. */
static bool is_role(const char *leaf)
{
	return !strcmp(leaf, "role") || !strcmp(leaf, "type");
}

static bool has_leaf(const struct fake *fake, const char *leaf)
{
	if (!strcmp(leaf, "role"))
		return fake->kernel == FAKE_OURS;
	if (!strcmp(leaf, "type"))
		return fake->kernel == FAKE_HINT;
	return !strcmp(leaf, "missing") || !strcmp(leaf, "writeable");
}

static const char *kind_dir(uint64_t type)
{
	if (type & BTRFS_BLOCK_GROUP_DATA)
		return "data";
	return type & BTRFS_BLOCK_GROUP_SYSTEM ? "system" : "metadata";
}

static bool profile_exists(const struct fake *fake, const char *name)
{
	char wanted[96];

	for (size_t i = 0; i < fake->chunk_count; i++) {
		uint64_t type = fake->chunks[i].type;

		if (!bp_profile_of(type))
			continue;
		snprintf(wanted, sizeof(wanted), FAKE_FSID "/allocation/%s/%s", kind_dir(type),
			 bp_profile_of(type)->name);
		for (char *p = wanted; *p; p++)
			*p = tolower((unsigned char)*p);
		if (!strcmp(wanted, name))
			return true;
	}
	return false;
}

int fake_sysfs_exists(void *self, const char *name)
{
	struct fake *fake = self;
	char leaf[16];

	FAKE_MAY_FAIL(fake);
	if (fake->no_sysfs || !strcmp(name, "features"))
		return !fake->no_sysfs;
	if (fake->tree)
		return fake_recorded_exists(fake, name);
	if (device_of(fake, name, leaf))
		return has_leaf(fake, leaf);
	return fake_file(fake, name) || profile_exists(fake, name);
}

static void role_text(const struct fake_device *device, char *text, size_t size)
{
	enum btrfs_policy_role now = bp_role_from_disk(device->type);

	*text = '\0';
	for (int role = 0; role < 4; role++) {
		size_t length = strlen(text);

		snprintf(text + length, size - length, "%s%s%s%s", role ? " " : "",
			 role == (int)now ? "[" : "", btrfs_policy_role_name(role),
			 role == (int)now ? "]" : "");
	}
	if (now >= BTRFS_POLICY_ROLE_FOREIGN)
		snprintf(text + strlen(text), size - strlen(text), " [%s]",
			 btrfs_policy_role_name(now));
}

static int read_leaf(const struct fake *fake, const struct fake_device *device, const char *leaf,
		     char *buf, size_t size)
{
	if (!has_leaf(fake, leaf))
		return -ENOENT;
	if (!strcmp(leaf, "role"))
		role_text(device, buf, size);
	else if (!strcmp(leaf, "type"))
		snprintf(buf, size, "0x%08llx", (unsigned long long)device->type);
	else if (!strcmp(leaf, "missing"))
		snprintf(buf, size, "%d", device->missing);
	else
		snprintf(buf, size, "%d", !device->missing && !fake->seed && !fake->write_protected);
	return 0;
}

/* Another operation ends after so many reads of its state. */
static void count_scan(struct fake *fake, const char *name)
{
	if (strcmp(name, FAKE_FSID "/exclusive_operation") || !fake->busy_scans)
		return;
	fake_set_file(fake, name, !--fake->busy_scans ? "none" :
				  fake->busy_name ? fake->busy_name : "device add");
}

int fake_sysfs_read(void *self, const char *name, char *buf, size_t size)
{
	struct fake *fake = self;
	struct fake_device *device;
	char leaf[16];

	FAKE_MAY_FAIL(fake);
	if (fake->no_sysfs)
		return -ENOENT;
	device = device_of(fake, name, leaf);
	if (fake->tree && !(device && is_role(leaf)))
		return fake_recorded_read(fake, name, buf, size);
	count_scan(fake, name);
	if (device)
		return read_leaf(fake, device, leaf, buf, size);
	if (!fake_file(fake, name))
		return -ENOENT;
	snprintf(buf, size, "%s", fake_file(fake, name)->text);
	return 0;
}

/* Put the brackets round another word, as the kernel's files for a choice do. */
static int choose(char *now, size_t size, const char *wanted)
{
	size_t length = strcspn(wanted, ":");
	char **words = NULL;
	char text[160] = "";
	bool found = false;

	bp_choice_words(now, &words);
	for (char **word = words; *word; word++) {
		bool hit = strcspn(*word, ":") == length && !strncmp(*word, wanted, length);
		size_t at = strlen(text);

		found = found || hit;
		snprintf(text + at, sizeof(text) - at, "%s%s%s%s", at ? " " : "",
			 hit ? "[" : "", hit && wanted[length] ? wanted : *word, hit ? "]" : "");
	}
	btrfs_policy_strv_free(words);
	if (!found)
		return -EINVAL;
	snprintf(now, size, "%s", text);
	return 0;
}

int fake_store(char *now, size_t size, const char *wanted)
{
	if (strchr(now, '['))
		return choose(now, size, wanted);
	snprintf(now, size, "%s", wanted);
	return 0;
}

static int write_type(struct fake_device *device, const char *text)
{
	uint64_t type = strtoull(text, NULL, 0);

	if (type > 7)
		return -EINVAL;
	device->type = type;
	return 0;
}

int fake_sysfs_write(void *self, const char *name, const char *text)
{
	struct fake *fake = self;
	struct fake_device *device;
	struct fake_file *file;
	char leaf[16];

	FAKE_MAY_FAIL(fake);
	if (fake->on_write)
		fake->on_write(fake);
	device = device_of(fake, name, leaf);
	if (device)
		return write_type(device, text);
	if (fake->tree)
		return fake_recorded_write(fake, name, text);
	file = fake_file(fake, name);
	if (!file)
		return -ENOENT;
	if (file->write_error)
		return file->write_error;
	if (file->stubborn)
		return 0;
	return fake_store(file->text, sizeof(file->text), text);
}

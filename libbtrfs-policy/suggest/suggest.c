/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Proposals for a file system and their reasons: roles from the properties of the
 * devices; the read policy and its settings from the profiles in use.  Sets no value,
 * and makes no proposal for a setting that the user has changed.
 */
#include <string.h>

#include "suggest/suggest.h"

/* From this share of the array on, SSDs are too much to be kept free of data. */
#define LARGE_PERCENT 15
#define MIB (1024ULL * 1024)
#define READAHEAD_EACH (4 * MIB)
#define READAHEAD_MOST (16 * MIB)

/* ---- A suggestion ------------------------------------------------------- */

BP_PUBLIC void btrfs_policy_suggestion_free(struct btrfs_policy_suggestion *suggestion)
{
	if (!suggestion)
		return;
	for (size_t i = 0; i < suggestion->proposal_count; i++) {
		free((char *)suggestion->proposals[i].path);
		free((char *)suggestion->proposals[i].old_value);
		free((char *)suggestion->proposals[i].new_value);
		free((char *)suggestion->proposals[i].reason);
	}
	for (size_t i = 0; i < suggestion->note_count; i++)
		free(suggestion->notes[i]);
	free(suggestion->proposals);
	free(suggestion->notes);
	free(suggestion->capacities);
	free(suggestion->mismatches);
	free(suggestion);
}

BP_DEFINE_CLEANUP(struct btrfs_policy_suggestion *, btrfs_policy_suggestion_free);

BP_PUBLIC const struct btrfs_policy_change *
btrfs_policy_suggestion_proposal(const struct btrfs_policy_suggestion *suggestion, size_t index)
{
	return index < suggestion->proposal_count ? &suggestion->proposals[index] : NULL;
}

BP_PUBLIC const char *
btrfs_policy_suggestion_note(const struct btrfs_policy_suggestion *suggestion, size_t index)
{
	return index < suggestion->note_count ? suggestion->notes[index] : NULL;
}

BP_PUBLIC const struct btrfs_policy_capacity *
btrfs_policy_suggestion_capacity(const struct btrfs_policy_suggestion *suggestion, size_t index)
{
	return index < suggestion->capacity_count ? &suggestion->capacities[index] : NULL;
}

BP_PUBLIC const struct btrfs_policy_mismatch *
btrfs_policy_suggestion_mismatch(const struct btrfs_policy_suggestion *suggestion, size_t index)
{
	return index < suggestion->mismatch_count ? &suggestion->mismatches[index] : NULL;
}

BP_PUBLIC void btrfs_policy_suggestion_moves(const struct btrfs_policy_suggestion *suggestion,
					     uint64_t *chunks, uint64_t *bytes)
{
	*chunks = suggestion->move_chunks;
	*bytes = suggestion->move_bytes;
}

/* Takes @text over. */
static int note(struct btrfs_policy_suggestion *suggestion, char *text)
{
	char **longer = reallocarray(suggestion->notes, suggestion->note_count + 1,
				     sizeof(*longer));

	if (longer)
		suggestion->notes = longer;
	if (!text || !longer) {
		free(text);
		return -ENOMEM;
	}
	longer[suggestion->note_count++] = text;
	return 0;
}

/* Takes @reason over. */
static int propose(struct btrfs_policy_suggestion *suggestion, const char *setting,
		   const struct bp_device *device, const char *old_value, const char *new_value,
		   char *reason)
{
	struct btrfs_policy_change *longer =
		reallocarray(suggestion->proposals, suggestion->proposal_count + 1,
			     sizeof(*longer));
	struct btrfs_policy_change *row;

	if (!longer) {
		free(reason);
		return -ENOMEM;
	}
	suggestion->proposals = longer;
	row = &longer[suggestion->proposal_count++];
	row->setting = btrfs_policy_setting_find(setting);
	row->devid = device ? device->pub.devid : 0;
	row->path = device && device->path ? strdup(device->path) : NULL;
	row->old_value = strdup(old_value);
	row->new_value = strdup(new_value);
	row->reason = reason;
	return row->old_value && row->new_value && row->reason &&
	       (row->path || !device || !device->path) ? 0 : -ENOMEM;
}

/* ---- Properties of the devices ------------------------------------------ */

/* A disk on USB may be unplugged, and reports few properties. */
static bool is_fast(const struct bp_device *device)
{
	return device->pub.rotational == BTRFS_POLICY_NO &&
	       !(device->pub.transport && !strcmp(device->pub.transport, "usb"));
}

static void sum_devices(const struct btrfs_policy_fs *fs,
			struct btrfs_policy_suggestion *suggestion,
		       const struct btrfs_policy_placement *placement)
{
	for (size_t i = 0; i < fs->device_count; i++) {
		const struct bp_device *device = &fs->devices[i];

		if (!device->writeable || device->pub.role == BTRFS_POLICY_ROLE_DRAINING)
			continue;
		suggestion->fast += is_fast(device);
		suggestion->slow += device->pub.rotational == BTRFS_POLICY_YES;
		suggestion->slow_data += device->pub.rotational == BTRFS_POLICY_YES &&
					 device->pub.role != BTRFS_POLICY_ROLE_METADATA_ONLY;
		suggestion->fast_bytes += is_fast(device) ? device->pub.size : 0;
		suggestion->bytes += device->pub.size;
	}
	for (size_t i = 0; i < placement->profile_count; i++) {
		const struct btrfs_policy_profile_usage *usage = &placement->profiles[i];
		const struct bp_profile *profile = bp_profile_of(usage->type);

		if (usage->kind == BTRFS_POLICY_KIND_METADATA &&
		    (!suggestion->metadata || profile->devs_min < suggestion->metadata->devs_min))
			suggestion->metadata = profile;
		if (usage->kind != BTRFS_POLICY_KIND_DATA)
			continue;
		if (!suggestion->data || profile->devs_min > suggestion->data->devs_min)
			suggestion->data = profile;
		if (profile->copies > 1 && profile->dev_stripes == 1 &&
		    (!suggestion->mirrored || profile->copies > suggestion->mirrored->copies))
			suggestion->mirrored = profile;
	}
}

/* ---- Roles -------------------------------------------------------------- */

static uint32_t data_needs(const struct btrfs_policy_suggestion *suggestion)
{
	return suggestion->data ? suggestion->data->devs_min : 1;
}

/* Could data do without the SSDs, and would it not miss them? */
static bool may_exclude_data(const struct btrfs_policy_suggestion *suggestion)
{
	return suggestion->slow_data >= data_needs(suggestion) &&
	       suggestion->fast_bytes / LARGE_PERCENT < suggestion->bytes / 100;
}

static char *role_reason(const struct btrfs_policy_suggestion *suggestion,
			 const struct bp_device *device)
{
	const char *how = device->pub.transport ? device->pub.transport : "not rotational";
	/* Not times 100, which may not fit. */
	unsigned int percent = suggestion->bytes ?
		(unsigned int)(100.0 * suggestion->fast_bytes / suggestion->bytes) : 0;

	if (may_exclude_data(suggestion))
		return bp_format("solid state (%s); kept free of data, which has %u%% of the array elsewhere",
				 how, 100 - percent);
	if (suggestion->slow_data < data_needs(suggestion))
		return bp_format("solid state (%s); data too may use it, because %s needs %u devices",
				 how, suggestion->data ? suggestion->data->name : "it",
				 data_needs(suggestion));
	return bp_format("solid state (%s); %u%% of the array, too much to keep free of data",
			 how, percent);
}

static int propose_roles(struct btrfs_policy_fs *fs, struct btrfs_policy_suggestion *suggestion)
{
	const char *role = may_exclude_data(suggestion) ? "metadata-only" : "metadata-preferred";
	int ret = 0;

	for (size_t i = 0; !ret && i < fs->device_count; i++) {
		const struct bp_device *device = &fs->devices[i];

		if (is_fast(device) && device->writeable &&
		    device->pub.role == BTRFS_POLICY_ROLE_DATA_PREFERRED)
			ret = propose(suggestion, "role", device, "data-preferred", role,
				      role_reason(suggestion, device));
	}
	return ret;
}

/* What roles cannot give: a copy on another SSD. */
static int note_copies(struct btrfs_policy_fs *fs, struct btrfs_policy_suggestion *suggestion)
{
	const struct bp_profile *metadata = suggestion->metadata;

	if (!metadata)
		return 0;
	if (metadata->copies == metadata->dev_stripes && !metadata->parity)
		return note(suggestion,
			    bp_format("metadata is %s: it is lost with the SSD that has it; with two SSDs, 'btrfs balance start -mconvert=raid1 <path>' puts a copy on each",
				      metadata->name));
	if (suggestion->fast < metadata->devs_min)
		return note(suggestion,
			    bp_format("metadata is %s and needs %u SSDs: with %u, copies stay on hard disks, and commits wait for them",
				      metadata->name, metadata->devs_min, suggestion->fast));
	return 0;
}

static int suggest_roles(struct btrfs_policy_fs *fs, struct btrfs_policy_suggestion *suggestion)
{
	const char *why = NULL, *unenforced;
	int ret = 0;

	if (fs->info.mixed)
		why = "no roles: mixed block groups ignore them";
	else if (!suggestion->fast)
		why = "no roles: no non-removable SSD found";
	else if (!suggestion->slow)
		why = "no roles: no device is known to rotate, so none is slower for metadata";
	if (why)
		return note(suggestion, strdup(why));
	if (!btrfs_policy_enforced(fs, &unenforced))
		ret = note(suggestion,
			   bp_format("roles have no effect yet: %s; %s", unenforced,
				     bp_enforced_advice(fs)));
	if (!ret)
		ret = note_copies(fs, suggestion);
	return ret ? ret : propose_roles(fs, suggestion);
}

/* ---- Read policy -------------------------------------------------------- */

static bool offers(struct btrfs_policy_fs *fs, const char *policy)
{
	char **words = NULL;
	bool found = false;

	if (btrfs_policy_setting_values(fs, "read-policy", &words))
		return false;
	for (char **word = words; *word; word++)
		found = found || !strcmp(*word, policy);
	btrfs_policy_strv_free(words);
	return found;
}

/* One stream is read from several mirrors only as far as it is read ahead. */
static int want_readahead(struct btrfs_policy_fs *fs, struct btrfs_policy_suggestion *suggestion)
{
	uint64_t wanted = READAHEAD_EACH * suggestion->mirrored->copies;
	_cleanup_free_ char *now = NULL, *value = NULL;
	int ret;

	while (wanted & (wanted - 1))
		wanted += wanted & -wanted;
	wanted = wanted < READAHEAD_MOST ? wanted : READAHEAD_MOST;
	if (!suggestion->slow || !bp_capable(fs, "readahead"))
		return 0;
	ret = btrfs_policy_setting_get(fs, "readahead", 0, &now);
	if (ret || strtoull(now, NULL, 10) >= wanted)
		return ret;
	value = bp_format("%llu", (unsigned long long)wanted);
	if (!value)
		return bp_nomem(fs);
	return propose(suggestion, "readahead", NULL, now, value,
		       bp_format("one reader is spread over the %u mirrors of %s only as far as is read ahead",
				 suggestion->mirrored->copies, suggestion->mirrored->name));
}

static int suggest_reads(struct btrfs_policy_fs *fs, struct btrfs_policy_suggestion *suggestion)
{
	_cleanup_free_ char *now = NULL;
	int ret;

	if (!suggestion->mirrored)
		return note(suggestion,
			    strdup("no read policy: no data is mirrored over devices"));
	if (!offers(fs, "roundrobin"))
		return note(suggestion,
			    bp_format("no read policy: this kernel does not offer 'roundrobin'; %s",
				      btrfs_policy_capability_find(fs, "roundrobin")->advice));
	ret = btrfs_policy_setting_get(fs, "read-policy", 0, &now);
	if (!ret && strcmp(now, "roundrobin"))
		ret = propose(suggestion, "read-policy", NULL, now, "roundrobin",
			      bp_format("%s is read from the mirror that is free and near, not by process id",
					suggestion->mirrored->name));
	return ret ? ret : want_readahead(fs, suggestion);
}

/* ---- Superblocks -------------------------------------------------------- */

/* Commits can leave hard disks out once all copies of metadata are on SSDs. */
static int suggest_superblocks(struct btrfs_policy_fs *fs,
			       struct btrfs_policy_suggestion *suggestion)
{
	_cleanup_free_ char *now = NULL;
	bool boots = false;
	int ret;

	if (fs->info.mixed || !suggestion->slow || !suggestion->metadata ||
	    suggestion->fast < suggestion->metadata->devs_min ||
	    !bp_capable(fs, "lagging-superblocks"))
		return 0;
	ret = btrfs_policy_setting_get(fs, "lagging-superblocks", 0, &now);
	if (ret || !strcmp(now, "yes"))
		return ret;
	ret = fs->ops->boots(fs->backend, &boots);
	if (ret)
		return bp_failed(fs, ret, "cannot see whether /boot is on '%s'", fs->mount_point);
	if (boots)
		return note(suggestion,
			    strdup("commits wait for hard disks too: /boot is here, and a boot loader may need a superblock of each device"));
	return propose(suggestion, "lagging-superblocks", NULL, now, "yes",
		       strdup("commits of metadata on SSDs alone need not wait for hard disks"));
}

/* ---- All of it ---------------------------------------------------------- */

static int add_effects(struct btrfs_policy_suggestion *suggestion,
		       const struct btrfs_policy_placement *placement)
{
	size_t size = placement->device_count * sizeof(struct bp_candidate);
	_cleanup_free_ struct bp_candidate *after = malloc(size);

	if (!after)
		return -ENOMEM;
	memcpy(after, placement->candidates, size);
	for (size_t i = 0; i < suggestion->proposal_count; i++) {
		const struct btrfs_policy_change *row = &suggestion->proposals[i];

		if (row->devid)
			btrfs_policy_role_parse(row->new_value,
						&bp_candidate_find(after, placement->device_count,
								   row->devid)->role);
	}
	return bp_suggest_effects(suggestion, placement, placement->candidates, after);
}

BP_PUBLIC int btrfs_policy_suggest(struct btrfs_policy_fs *fs,
				   struct btrfs_policy_suggestion **suggestion)
{
	BP_CLEANUP(btrfs_policy_suggestion_free_at_end) struct btrfs_policy_suggestion *new = NULL;
	_cleanup_placement_ struct btrfs_policy_placement *placement = NULL;
	int ret = btrfs_policy_placement_read(fs, &placement);

	if (!ret && !fs->capabilities)
		ret = bp_unread(fs, "suggest settings");
	if (ret)
		return ret;
	new = calloc(1, sizeof(*new));
	if (!new)
		return bp_nomem(fs);
	sum_devices(fs, new, placement);
	ret = suggest_roles(fs, new);
	if (!ret)
		ret = suggest_reads(fs, new);
	if (!ret)
		ret = suggest_superblocks(fs, new);
	if (!ret)
		ret = add_effects(new, placement);
	if (ret == -ENOMEM)
		return bp_nomem(fs);
	if (!ret)
		*suggestion = bp_steal(new);
	return ret;
}

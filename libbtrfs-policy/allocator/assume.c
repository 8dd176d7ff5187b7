/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What-ifs: changes a snapshot to assumed roles, profiles or devices, and computes
 * the remaining capacity.  Changes the snapshot only, never a file system.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "allocator/array.h"
#include "allocator/placement.h"
#include "core/roles.h"

/* No device is larger: refuses a size with a wrong unit. */
#define ASSUMED_SIZE_MAX (1ULL << 50)

/* ---- Words -------------------------------------------------------------- */

static int bad(struct btrfs_policy_fs *fs, const char *key, const char *word)
{
	return bp_error(fs, -EINVAL,
			"cannot assume '%s%s%s': expected <role>=<device>, draining=<device>, data=<profile>, metadata=<profile>, system=<profile>, add=<size>[:<role>] or lose=<device>",
			key ? key : "", key ? "=" : "", word);
}

static int parse_size(const char *text, uint64_t *size)
{
	static const char units[] = "kmgtpe";
	char *end;
	const char *unit;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	*size = strtoull(text, &end, 10);
	unit = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
	if (unit) {
		unsigned int shift = 10 * (unit - units + 1);

		if (*size > UINT64_MAX >> shift)
			return -EINVAL;
		*size <<= shift;
		end++;
	}
	return *end || !*size ? -EINVAL : 0;
}

/* ---- One assumption each ------------------------------------------------ */

/* The handle may have been refreshed since the snapshot was read. */
static int find_device(struct btrfs_policy_fs *fs, struct btrfs_policy_placement *placement,
		       uint64_t devid, struct bp_candidate **candidate)
{
	*candidate = bp_candidate_find(placement->candidates, placement->device_count, devid);
	if (*candidate)
		return 0;
	return bp_error(fs, -ENODEV, "device %llu is not in this snapshot; read it again",
			(unsigned long long)devid);
}

static int assume_role(struct btrfs_policy_fs *fs, struct btrfs_policy_placement *placement,
		       enum btrfs_policy_role role, const char *word)
{
	_cleanup_free_ uint64_t *devids = NULL;
	size_t count;
	int ret = btrfs_policy_device_select(fs, word, &devids, &count);

	for (size_t i = 0; !ret && i < count; i++) {
		struct bp_candidate *candidate;

		ret = find_device(fs, placement, devids[i], &candidate);
		if (ret)
			break;
		placement->devices[candidate - placement->candidates].role = role;
		if (!fs->info.mixed)
			candidate->role = role;
	}
	return ret;
}

static int assume_loss(struct btrfs_policy_fs *fs, struct btrfs_policy_placement *placement,
		       const char *word)
{
	_cleanup_free_ uint64_t *devids = NULL;
	size_t count;
	int ret = btrfs_policy_device_select(fs, word, &devids, &count);

	for (size_t i = 0; !ret && i < count; i++) {
		struct bp_candidate *candidate;

		ret = find_device(fs, placement, devids[i], &candidate);
		if (ret)
			break;
		candidate->writeable = false;
		candidate->free_space = 0;
		candidate->lost = true;
		placement->devices[candidate - placement->candidates].unallocated = 0;
	}
	return ret;
}

/* Both arrays grow by one, or neither. */
static int grow(struct btrfs_policy_placement *placement)
{
	size_t count = placement->device_count + 1;
	struct btrfs_policy_device_usage *devices;
	struct bp_candidate *candidates;

	devices = reallocarray(placement->devices, count, sizeof(*devices));
	if (!devices)
		return -ENOMEM;
	placement->devices = devices;
	candidates = reallocarray(placement->candidates, count, sizeof(*candidates));
	if (!candidates)
		return -ENOMEM;
	placement->candidates = candidates;
	memset(&devices[count - 1], 0, sizeof(*devices));
	memset(&candidates[count - 1], 0, sizeof(*candidates));
	placement->device_count = count;
	return 0;
}

static int assume_device(struct btrfs_policy_fs *fs, struct btrfs_policy_placement *placement,
			 const char *key, char *word)
{
	enum btrfs_policy_role role = BTRFS_POLICY_ROLE_DATA_PREFERRED;
	char *colon = strchr(word, ':');
	struct bp_candidate *candidate;
	uint64_t size, last;

	if (colon)
		*colon = '\0';
	if (parse_size(word, &size) || (colon && btrfs_policy_role_parse(colon + 1, &role))) {
		if (colon)
			*colon = ':';
		return bad(fs, key, word);
	}
	if (size > ASSUMED_SIZE_MAX)
		return bp_error(fs, -EINVAL,
				"cannot assume '%s=%s': a device has 1P (1 PiB) at most here",
				key, word);
	if (grow(placement))
		return bp_nomem(fs);
	candidate = &placement->candidates[placement->device_count - 1];
	last = placement->device_count > 1 ? candidate[-1].devid : 0;
	*candidate = (struct bp_candidate){
		.devid = last + 1, .role = fs->info.mixed ? 0 : role, .writeable = true,
		.size = size, .zone = placement->zone, .nodesize = fs->info.nodesize,
	};
	candidate->free_space = bp_candidate_allocatable(candidate, size);
	placement->devices[placement->device_count - 1] = (struct btrfs_policy_device_usage){
		.devid = candidate->devid, .role = role, .size = size, .unallocated = size,
	};
	return 0;
}

static int assume_profile(struct btrfs_policy_fs *fs, struct btrfs_policy_placement *placement,
			  const char *key, enum btrfs_policy_kind kind, const char *word)
{
	const struct bp_profile *profile;

	if (fs->info.mixed && kind != BTRFS_POLICY_KIND_SYSTEM)
		kind = BTRFS_POLICY_KIND_MIXED;
	for (size_t i = 0; (profile = bp_profile_at(i)); i++) {
		if (strcasecmp(profile->name, word))
			continue;
		placement->assumed[kind] = profile;
		return 0;
	}
	return bad(fs, key, word);
}

static int take_word(struct btrfs_policy_fs *fs, struct btrfs_policy_placement *placement,
		     const char *key, char *word)
{
	static const char *const kinds[] = { "data", "metadata", "system" };
	enum btrfs_policy_role role;

	if (!key)
		return bad(fs, key, word);
	if (!btrfs_policy_role_parse(key, &role) ||
	    (!bp_role_of_name(key, &role) && role == BTRFS_POLICY_ROLE_DRAINING))
		return assume_role(fs, placement, role, word);
	if (!strcmp(key, "lose"))
		return assume_loss(fs, placement, word);
	if (!strcmp(key, "add"))
		return assume_device(fs, placement, key, word);
	for (size_t i = 0; i < BP_ARRAY_SIZE(kinds); i++)
		if (!strcmp(key, kinds[i]))
			return assume_profile(fs, placement, key, (enum btrfs_policy_kind)i, word);
	return bad(fs, key, word);
}

/* A word with "=" has a key, which also applies to the words after it. */
static int take_words(struct btrfs_policy_fs *fs, struct btrfs_policy_placement *placement,
		      char *text)
{
	const char *key = NULL;
	int ret = 0;

	for (char *word, *rest = text; !ret && (word = strsep(&rest, ","));) {
		char *equals = strchr(word, '=');

		if (equals) {
			*equals = '\0';
			key = word;
			word = equals + 1;
		}
		ret = take_word(fs, placement, key, word);
	}
	return ret;
}

BP_PUBLIC int btrfs_policy_placement_assume(struct btrfs_policy_fs *fs,
					    struct btrfs_policy_placement *placement,
					    const char *text)
{
	_cleanup_free_ char *copy = strdup(text);
	int ret;

	if (!copy)
		return bp_nomem(fs);
	ret = take_words(fs, placement, copy);
	return ret ? ret : bp_placement_sum(fs, placement);
}

/* ---- Capacity ----------------------------------------------------------- */

static uint32_t lost_stripes(struct btrfs_policy_placement *placement,
			     const struct btrfs_policy_chunk *chunk)
{
	uint32_t lost = 0;

	for (uint32_t i = 0; i < chunk->stripes; i++) {
		const struct bp_candidate *candidate = bp_candidate_find(placement->candidates,
									 placement->device_count,
									 chunk->devids[i]);

		lost += !candidate || candidate->lost;
	}
	return lost;
}

/* Copies on one device go together; a mirror or parity covers one device each. */
static bool survives(const struct btrfs_policy_chunk *chunk, uint32_t lost)
{
	const struct bp_profile *profile = bp_profile_of(chunk->type);
	uint32_t spare = profile->copies / profile->dev_stripes - 1 + profile->parity;

	return lost / profile->dev_stripes <= spare;
}

static uint64_t type_of_new(const struct btrfs_policy_placement *placement,
			    enum btrfs_policy_kind kind)
{
	static const uint64_t flags[] = {
		BTRFS_BLOCK_GROUP_DATA, BTRFS_BLOCK_GROUP_METADATA, BTRFS_BLOCK_GROUP_SYSTEM,
		BTRFS_BLOCK_GROUP_DATA | BTRFS_BLOCK_GROUP_METADATA,
	};
	uint64_t profiles = 0;
	uint32_t writeable = 0;

	if (placement->assumed[kind])
		return flags[kind] | placement->assumed[kind]->flag;
	for (size_t i = 0; i < placement->profile_count; i++)
		if (placement->profiles[i].kind == kind)
			profiles |= placement->profiles[i].type & BTRFS_BLOCK_GROUP_PROFILE_MASK;
	for (size_t i = 0; i < placement->device_count; i++)
		writeable += placement->candidates[i].writeable;
	return bp_type_of_new(flags[kind], profiles, writeable);
}

static int count_capacity(struct btrfs_policy_placement *placement, enum btrfs_policy_kind kind,
		      uint64_t *capacity)
{
	uint64_t type = type_of_new(placement, kind);
	size_t count = placement->device_count;
	struct bp_candidate *array = bp_array_new(placement->candidates, count);
	int ret = array ? 0 : -ENOMEM;

	*capacity = 0;
	for (size_t i = 0; i < placement->chunk_count; i++) {
		const struct btrfs_policy_chunk *chunk = &placement->chunks[i];

		/* Chunks that lost a stripe keep the space of their other stripes. */
		if (!ret)
			ret = bp_array_use(array, count, chunk);
		if (chunk->type == type && !lost_stripes(placement, chunk))
			*capacity += bp_placement_free_in(placement, chunk);
	}
	if (!ret)
		ret = bp_array_fill(array, count, type, false, capacity);
	bp_array_free(array, count);
	return ret;
}

BP_PUBLIC int btrfs_policy_placement_capacity(struct btrfs_policy_fs *fs,
					      struct btrfs_policy_placement *placement,
					      struct btrfs_policy_remaining_capacity *capacity)
{
	enum btrfs_policy_kind data = fs->info.mixed ? BTRFS_POLICY_KIND_MIXED :
						       BTRFS_POLICY_KIND_DATA;
	enum btrfs_policy_kind metadata = fs->info.mixed ? BTRFS_POLICY_KIND_MIXED :
							   BTRFS_POLICY_KIND_METADATA;

	memset(capacity, 0, sizeof(*capacity));
	capacity->data_profile = bp_profile_of(type_of_new(placement, data))->name;
	capacity->metadata_profile = bp_profile_of(type_of_new(placement, metadata))->name;
	for (size_t i = 0; i < placement->chunk_count; i++) {
		const struct btrfs_policy_chunk *chunk = &placement->chunks[i];
		uint32_t lost = lost_stripes(placement, chunk);

		capacity->degraded_chunks += lost && survives(chunk, lost);
		capacity->lost_chunks += lost && !survives(chunk, lost);
	}
	if (count_capacity(placement, data, &capacity->data) ||
	    count_capacity(placement, metadata, &capacity->metadata))
		return bp_nomem(fs);
	return 0;
}

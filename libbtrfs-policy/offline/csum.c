/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Owns the checksums of superblocks and tree blocks.  CRC-32C is here because no
 * library of the system has it alone; the others come from libxxhash and
 * libgcrypt, and a build without them says so.
 */
#include <stdio.h>
#include <string.h>

#if HAVE_XXHASH
#include <xxhash.h>
#endif
#if HAVE_GCRYPT
#include <gcrypt.h>
#endif

#include "offline/offline.h"

enum { CSUM_CRC32C, CSUM_XXHASH, CSUM_SHA256, CSUM_BLAKE2 };

/* By half a byte; the polynomial is 0x82f63b78, lowest bit first. */
static const uint32_t crc_table[16] = {
	0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362,
	0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab,
	0xe330a81a, 0xf36e6f75,
};

static int crc32c(const uint8_t *data, size_t size, uint8_t *csum)
{
	uint32_t crc = UINT32_MAX;

	for (; size; size--, data++) {
		crc ^= *data;
		crc = crc >> 4 ^ crc_table[crc & 15];
		crc = crc >> 4 ^ crc_table[crc & 15];
	}
	crc = ~crc;
	for (int i = 0; i < 4; i++)
		csum[i] = crc >> 8 * i;
	return 4;
}

int bp_csum(uint16_t type, const uint8_t *data, size_t size, uint8_t *csum)
{
	if (type == CSUM_CRC32C)
		return crc32c(data, size, csum);
#if HAVE_XXHASH
	if (type == CSUM_XXHASH) {
		uint64_t hash = XXH64(data, size, 0);

		for (int i = 0; i < 8; i++)
			csum[i] = hash >> 8 * i;
		return 8;
	}
#endif
#if HAVE_GCRYPT
	if (type == CSUM_SHA256 || type == CSUM_BLAKE2) {
		gcry_md_hash_buffer(type == CSUM_BLAKE2 ? GCRY_MD_BLAKE2B_256 : GCRY_MD_SHA256,
				    csum, data, size);
		return BP_CSUM_SIZE;
	}
#endif
	return 0;
}

/* The first 32 bytes of a block hold the checksum of the rest. */
int bp_csum_check(struct bp_offline *off, uint16_t type, const uint8_t *block, size_t size)
{
	static const char *const names[] = { "crc32c", "xxhash64", "sha256", "blake2b" };
	uint8_t csum[BP_CSUM_SIZE];
	int length;

	if (type >= BP_ARRAY_SIZE(names))
		return bp_wrong(off, "its checksum type %u is unknown", type);
	length = bp_csum(type, block + BP_CSUM_SIZE, size - BP_CSUM_SIZE, csum);
	if (!length) {
		bp_wrong(off, "this build cannot check %s checksums", names[type]);
		return -EOPNOTSUPP;
	}
	if (memcmp(csum, block, length))
		return bp_wrong(off, "its %s checksum is wrong", names[type]);
	return 0;
}

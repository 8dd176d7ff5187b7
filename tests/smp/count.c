// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plugin for QEMU's emulation that counts the instructions executed between
 * the marks of reads.c, by where they are, and notes which cache lines the
 * watched functions write on which processors.
 *
 *	-plugin count.so,out=FILE,watch=FROM-TO[,watch=...]	addresses in hex
 *
 * At each mark it writes "mark KIND", then "ADDRESS INSTRUCTIONS" for each block
 * that was executed, "line ADDRESS PROCESSORS" (a mask) for each line written,
 * and begins anew.  The machine must run its processors in turn, nothing here
 * is locked.  QEMU's header is not packaged, so what is used of it stands here.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef void (*insn_cb)(unsigned int cpu, void *arg);
typedef void (*mem_cb)(unsigned int cpu, uint32_t info, uint64_t addr, void *arg);

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*cb)(uint64_t, struct qemu_plugin_tb *));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, int op, void *ptr, uint64_t n);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, insn_cb cb, int flags, void *arg);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, insn_cb cb, int flags, void *arg);
bool qemu_plugin_mem_is_store(uint32_t info);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, mem_cb cb, int flags, int rw, void *arg);

#define INLINE_ADD	0
#define NO_REGISTERS	0
#define WRITES		2

int qemu_plugin_version = 1;
int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv);

/* Blocks by address and length, and lines by address; `value` counts or is a mask. */
struct entry {
	struct entry *next;
	uint64_t addr, insns, value;
};

#define SLOTS (1U << 18)
static struct entry *blocks[SLOTS], *lines[SLOTS];
static struct { uint64_t from, to; } watched[64];
static int nr_watched;
/* Is the block that runs a watched one?  QEMU may tell of other accesses, too. */
static bool inside;
static FILE *out;

static struct entry *find(struct entry **table, uint64_t addr, uint64_t insns)
{
	struct entry **slot = &table[(addr * 0x9e3779b97f4a7c15ULL + insns) >> 46], *e;

	for (e = *slot; e; e = e->next)
		if (e->addr == addr && e->insns == insns)
			return e;
	e = calloc(1, sizeof(*e));
	if (!e)
		abort();
	*e = (struct entry){ .next = *slot, .addr = addr, .insns = insns };
	return *slot = e;
}

static void write_out(struct entry **table, bool counts)
{
	for (unsigned int i = 0; i < SLOTS; i++) {
		for (struct entry *e = table[i]; e; e = e->next) {
			if (!e->value)
				continue;
			if (counts)
				fprintf(out, "%" PRIx64 " %" PRIu64 "\n", e->addr, e->insns * e->value);
			else
				fprintf(out, "line %" PRIx64 " %" PRIx64 "\n", e->addr, e->value);
			e->value = 0;
		}
	}
}

static void at_mark(unsigned int cpu, void *kind)
{
	(void)cpu;
	fprintf(out, "mark %" PRIuPTR "\n", (uintptr_t)kind);
	write_out(blocks, true);
	write_out(lines, false);
	fflush(out);
}

static void at_store(unsigned int cpu, uint32_t info, uint64_t addr, void *arg)
{
	(void)arg;
	if (inside && qemu_plugin_mem_is_store(info))
		find(lines, addr / 64 * 64, 0)->value |= 1ULL << cpu;
}

static bool is_watched(uint64_t addr)
{
	for (int i = 0; i < nr_watched; i++)
		if (addr >= watched[i].from && addr < watched[i].to)
			return true;
	return false;
}

static void look_at(struct qemu_plugin_insn *insn)
{
	/* A long nop with a number of its own, the last byte says which mark. */
	static const unsigned char nop[] = { 0x0f, 0x1f, 0x84, 0x00, 0x78, 0x56, 0x34 };
	const unsigned char *bytes = qemu_plugin_insn_data(insn);

	if (qemu_plugin_insn_size(insn) == sizeof(nop) + 1 && !memcmp(bytes, nop, sizeof(nop)))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, at_mark, NO_REGISTERS,
						       (void *)(uintptr_t)bytes[sizeof(nop)]);
	if (is_watched(qemu_plugin_insn_vaddr(insn)))
		qemu_plugin_register_vcpu_mem_cb(insn, at_store, NO_REGISTERS, WRITES, NULL);
}

static void at_block(unsigned int cpu, void *is_watched)
{
	(void)cpu;
	inside = is_watched;
}

static void at_translation(uint64_t id, struct qemu_plugin_tb *tb)
{
	const size_t insns = qemu_plugin_tb_n_insns(tb);

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_inline(tb, INLINE_ADD,
						 &find(blocks, qemu_plugin_tb_vaddr(tb), insns)->value, 1);
	if (nr_watched)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, at_block, NO_REGISTERS,
						     is_watched(qemu_plugin_tb_vaddr(tb)) ? tb : NULL);
	for (size_t i = 0; i < insns; i++)
		look_at(qemu_plugin_tb_get_insn(tb, i));
}

int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4))
			out = fopen(argv[i] + 4, "w");
		else if (nr_watched < 64 && sscanf(argv[i], "watch=%" SCNx64 "-%" SCNx64, &watched[nr_watched].from,
						   &watched[nr_watched].to) == 2)
			nr_watched++;
		else
			return -1;
	}
	if (!out)
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, at_translation);
	return 0;
}

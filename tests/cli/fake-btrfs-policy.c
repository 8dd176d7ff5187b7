/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * btrfs-policy on a made-up machine: the commands and the library as they are,
 * the world below them from tests/unit.  $FAKE names the machine; each call
 * starts with a fresh one.  Never installed.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "cmds/commands.h"
#include "tests/cli/drain-machines.h"
#include "tests/cli/recorded-machine.h"
#include "tests/cli/stripe-machines.h"
#include "tests/unit/lib/fake.h"

static struct fake machine;

static void make_stock(void)
{
	fake_two_and_two(&machine, FAKE_STOCK, DISK_DATA_PREFERRED, DISK_DATA_PREFERRED);
}

static void make_stock_tagged(void)
{
	fake_two_and_two(&machine, FAKE_STOCK, DISK_METADATA_ONLY, DISK_DATA_ONLY);
}

static void make_ours(void)
{
	fake_two_and_two(&machine, FAKE_OURS, DISK_DATA_PREFERRED, DISK_DATA_PREFERRED);
}

static void make_tagged(void)
{
	fake_two_and_two(&machine, FAKE_OURS, DISK_METADATA_ONLY, DISK_DATA_ONLY);
}

static void make_preferred(void)
{
	fake_two_and_two(&machine, FAKE_OURS, DISK_METADATA_PREFERRED, DISK_DATA_PREFERRED);
}

static void make_foreign(void)
{
	fake_two_and_two(&machine, FAKE_OURS, 4, 5);
}

static void make_upstream(void)
{
	fake_two_and_two(&machine, FAKE_UPSTREAM, DISK_DATA_PREFERRED, DISK_DATA_PREFERRED);
}

static void make_missing(void)
{
	make_tagged();
	machine.devices[1].missing = true;
}

/* One device of four is left: the kernel would make chunks of one copy. */
static void make_few(void)
{
	make_preferred();
	for (int i = 1; i < 4; i++)
		machine.devices[i].missing = true;
}

static void make_full(void)
{
	make_tagged();
	machine.devices[0].size = machine.devices[1].size = GiB + 100 * MiB;
}

/* The SSDs have no space for metadata, and no data that could move away. */
static void make_blocked(void)
{
	make_tagged();
	fake_remove_chunk(&machine, machine.chunk_count - 1);
	machine.devices[0].size = machine.devices[1].size = 20 * MiB;
}

/* Only SSDs; data fills the one that metadata needs for its second copy. */
static void make_meagre(void)
{
	fake_init(&machine, FAKE_OURS);
	fake_add_device(&machine, 8 * GiB + 300 * MiB, DISK_METADATA_ONLY, false);
	fake_add_device(&machine, 3690 * MiB, DISK_DATA_PREFERRED, false);
	fake_add_chunk(&machine, BTRFS_BLOCK_GROUP_METADATA | BTRFS_BLOCK_GROUP_RAID1,
		       256 * MiB, 200 * MiB, 2, 1, 2);
	fake_add_chunk(&machine, BTRFS_BLOCK_GROUP_DATA, 8 * GiB, 3 * GiB, 1, 1);
}

static void make_unprivileged(void)
{
	make_tagged();
	machine.unprivileged = true;
}

static void make_read_only(void)
{
	make_ours();
	machine.read_only = true;
}

static void make_read_only_tagged(void)
{
	make_tagged();
	machine.read_only = true;
}

/* Not a seed, though no device can be written to either. */
static void make_write_protected(void)
{
	make_read_only();
	machine.write_protected = true;
	machine.signatures[5] = "ext4";
}

static void make_ugly(void)
{
	make_tagged();
	machine.label = "a\033[31m\"b\\\n\xff \xc3\xa9 \xc2\x9b \xe2\x80\xae";
}

static void make_busy(void)
{
	make_tagged();
	fake_set_file(&machine, FAKE_FSID "/exclusive_operation", "device add");
	machine.busy_scans = 1000;
}

static void make_busy_a_while(void)
{
	make_busy();
	machine.busy_scans = 3;
}

static void make_canceled(void)
{
	make_tagged();
	machine.balance_special = 2;
	machine.balance_result = -ECANCELED;
	machine.balance_state = BTRFS_BALANCE_STATE_CANCEL_REQ;
}

static void make_paused(void)
{
	make_canceled();
	machine.balance_state = BTRFS_BALANCE_STATE_PAUSE_REQ;
}

static bool is_full_metadata(struct fake *fake, uint64_t logical)
{
	return logical == 34603008;
}

static void make_no_space(void)
{
	make_tagged();
	machine.refuses = is_full_metadata;
}

static bool is_full_metadata_before_data(struct fake *fake, uint64_t logical)
{
	return logical == 34603008 && fake->balances < 4;
}

static void make_little_space(void)
{
	make_tagged();
	machine.refuses = is_full_metadata_before_data;
}

/* The user presses ^C while the second chunk is moved. */
static bool is_interrupted(struct fake *fake, uint64_t logical)
{
	if (fake->balances == 2)
		raise(SIGINT);
	return false;
}

static bool is_hung_up(struct fake *fake, uint64_t logical)
{
	if (fake->balances == 2)
		raise(SIGHUP);
	return false;
}

static void make_hung_up(void)
{
	make_tagged();
	machine.refuses = is_hung_up;
	signal(SIGHUP, SIG_DFL);
}

/* The same under nohup(1). */
static void make_nohup(void)
{
	make_hung_up();
	signal(SIGHUP, SIG_IGN);
}

/* ^C while it waits for another operation. */
static bool is_impatient(struct fake *fake, uint64_t logical)
{
	if (fake->balances == 1) {
		fake_set_file(fake, FAKE_FSID "/exclusive_operation", "device add");
		fake->busy_scans = 1000;
		raise(SIGINT);
	}
	return false;
}

static void make_impatient(void)
{
	make_tagged();
	machine.refuses = is_impatient;
	signal(SIGINT, SIG_DFL);
}

/* An earlier run was paused; resuming it returns an error. */
static void make_earlier_run(int result, uint64_t state)
{
	make_tagged();
	machine.interrupted.flags = BTRFS_BALANCE_METADATA;
	machine.interrupted.meta.flags = BTRFS_BALANCE_ARGS_VRANGE;
	machine.interrupted.meta.vstart = 34603008;
	machine.interrupted.meta.vend = 34603009;
	machine.resume_result = result;
	machine.resume_state = state;
	fake_set_file(&machine, FAKE_FSID "/exclusive_operation", "balance paused");
}

static void make_earlier_run_canceled(void)
{
	make_earlier_run(-ECANCELED, BTRFS_BALANCE_STATE_CANCEL_REQ);
}

static void make_earlier_run_paused(void)
{
	make_earlier_run(-ECANCELED, BTRFS_BALANCE_STATE_PAUSE_REQ);
}

/* Whatever the test inherits: a terminal's program, or one in the background of a script. */
static void make_interrupted(void)
{
	make_tagged();
	machine.refuses = is_interrupted;
	signal(SIGINT, SIG_DFL);
}

static void make_in_background(void)
{
	make_interrupted();
	signal(SIGINT, SIG_IGN);
}

static void make_stubborn(void)
{
	make_ours();
	fake_file(&machine, FAKE_FSID "/read_policies/policy")->stubborn = true;
}

static void make_two_mounts(void)
{
	make_ours();
	machine.mounts[1] = "/mnt2";
}

/* udisks names a mount point after a label. */
static void make_hostile_mount(void)
{
	make_ours();
	machine.mounts[0] = "/mnt/$(touch hostile)";
}

/* The user has edited the file, and the kernel has other values. */
static void make_saved(void)
{
	make_ours();
	strcpy(machine.saved, "# by hand\n\n  read-policy=roundrobin\n# why\nreadahead = 16M\n");
}

/* Its mount takes ten minutes. */
static void make_slow_mount(void)
{
	make_saved();
	machine.mount_scans = 3000;
}

/* It is mounted where this process does not see it. */
static void make_unseen_mount(void)
{
	make_saved();
	machine.mounts[0] = NULL;
}

static void make_in_force(void)
{
	make_ours();
	strcpy(machine.saved, "read-policy = pid\n");
}

static void make_damaged(void)
{
	make_ours();
	strcpy(machine.saved, "read-policy = roundrobin\nreadahed = 16M\n");
}

static void make_wrong(void)
{
	make_ours();
	strcpy(machine.saved, "readahead = 16M\nread-policy = fastest\n");
}

static void make_stock_saved(void)
{
	make_stock();
	strcpy(machine.saved, "readahead = 16M\nread-policy = roundrobin\n");
}

static void make_etc_full(void)
{
	make_ours();
	machine.saved_error = -ENOSPC;
}

static void make_sparse(uint64_t chunks)
{
	fake_init(&machine, FAKE_OURS);
	for (int i = 0; i < 30; i++)
		fake_add_device(&machine, 10000 * GiB, DISK_DATA_PREFERRED, i > 3);
	machine.sparse_chunks = chunks;
	machine.group_tree = true;
}

static void make_large(void)
{
	make_sparse(100000);
}

static void make_smaller(void)
{
	make_sparse(1000);
}

/* A disk is being made smaller: its size is the new one, its chunks are there still. */
static void make_shrinking(void)
{
	make_ours();
	machine.devices[3].size = GiB;
}

/* Three disks for data and two small SSDs, as in the README. */
static void make_small_ssds(void)
{
	fake_init(&machine, FAKE_OURS);
	for (int i = 0; i < 5; i++)
		fake_add_device(&machine, i < 3 ? 4 * GiB : 256 * MiB, DISK_DATA_PREFERRED, i < 3);
	fake_add_chunk(&machine, BTRFS_BLOCK_GROUP_SYSTEM | BTRFS_BLOCK_GROUP_RAID1, 8 * MiB,
		       16384, 2, 1, 2);
	fake_add_chunk(&machine, BTRFS_BLOCK_GROUP_METADATA | BTRFS_BLOCK_GROUP_RAID1, 64 * MiB,
		       112 * 1024, 2, 1, 2);
	fake_add_chunk(&machine, BTRFS_BLOCK_GROUP_DATA | BTRFS_BLOCK_GROUP_RAID1, 64 * MiB,
		       512 * 1024, 2, 1, 2);
}

/* The same after many small files: metadata uses most of the SSDs. */
static void make_filling(void)
{
	fake_init(&machine, FAKE_OURS);
	for (int i = 0; i < 5; i++)
		fake_add_device(&machine, i < 3 ? 4 * GiB : 256 * MiB,
				i < 3 ? DISK_DATA_ONLY : DISK_METADATA_ONLY, i < 3);
	fake_add_chunk(&machine, BTRFS_BLOCK_GROUP_SYSTEM | BTRFS_BLOCK_GROUP_RAID1, 8 * MiB,
		       16384, 2, 4, 5);
	fake_add_chunk(&machine, BTRFS_BLOCK_GROUP_METADATA | BTRFS_BLOCK_GROUP_RAID1, 224 * MiB,
		       184 * MiB, 2, 4, 5);
	fake_add_chunk(&machine, BTRFS_BLOCK_GROUP_DATA | BTRFS_BLOCK_GROUP_RAID1, 512 * MiB,
		       200 * MiB, 2, 1, 2);
	fake_set_file(&machine, FAKE_FSID "/allocation/global_rsv_size", "8388608");
}

/* Two more devices lie there: one has been used, the other one is used. */
static void make_used(void)
{
	make_ours();
	machine.signatures[5] = "ext4";
}

static void make_in_use(void)
{
	make_ours();
	machine.in_use = 6;
}

/* The kernel does not take the second one. */
static void make_second_fails(void)
{
	make_ours();
	machine.signatures[5] = "ext4";
	machine.signatures[6] = "gpt";
	machine.add_fails_at = 2;
	machine.add_result = -EIO;
}

static void make_add_without_role(void)
{
	make_ours();
	machine.adds_without_role = true;
}

static void make_mixed(void)
{
	make_ours();
	machine.mixed = true;
}

/* A kernel with everything, of which a chroot without /sys shows nothing. */
static void make_chroot(void)
{
	make_tagged();
	machine.no_sysfs = true;
}

static void make_balance_paused(void)
{
	make_ours();
	fake_set_file(&machine, FAKE_FSID "/exclusive_operation", "balance paused");
}

static void make_no_mounts(void)
{
	make_ours();
	machine.mounts[0] = NULL;
}

static const struct {
	const char *name;
	void (*make)(void);
} machines[] = {
	{ "stock", make_stock },
	{ "stock-tagged", make_stock_tagged },
	{ "ours", make_ours },
	{ "tagged", make_tagged },
	{ "preferred", make_preferred },
	{ "foreign", make_foreign },
	{ "upstream", make_upstream },
	{ "missing", make_missing },
	{ "few", make_few },
	{ "full", make_full },
	{ "blocked", make_blocked },
	{ "meagre", make_meagre },
	{ "unprivileged", make_unprivileged },
	{ "read-only", make_read_only },
	{ "read-only-tagged", make_read_only_tagged },
	{ "write-protected", make_write_protected },
	{ "ugly", make_ugly },
	{ "busy", make_busy },
	{ "busy-a-while", make_busy_a_while },
	{ "canceled", make_canceled },
	{ "paused", make_paused },
	{ "no-space", make_no_space },
	{ "little-space", make_little_space },
	{ "interrupted", make_interrupted },
	{ "in-background", make_in_background },
	{ "hung-up", make_hung_up },
	{ "nohup", make_nohup },
	{ "impatient", make_impatient },
	{ "leftover-canceled", make_earlier_run_canceled },
	{ "leftover-paused", make_earlier_run_paused },
	{ "stubborn", make_stubborn },
	{ "two-mounts", make_two_mounts },
	{ "hostile-mount", make_hostile_mount },
	{ "no-mounts", make_no_mounts },
	{ "shrinking", make_shrinking },
	{ "used", make_used },
	{ "in-use", make_in_use },
	{ "second-fails", make_second_fails },
	{ "add-without-role", make_add_without_role },
	{ "mixed", make_mixed },
	{ "chroot", make_chroot },
	{ "balance-paused", make_balance_paused },
	{ "small-ssds", make_small_ssds },
	{ "filling", make_filling },
	{ "large", make_large },
	{ "smaller", make_smaller },
	{ "saved", make_saved },
	{ "slow-mount", make_slow_mount },
	{ "unseen-mount", make_unseen_mount },
	{ "in-force", make_in_force },
	{ "damaged", make_damaged },
	{ "wrong", make_wrong },
	{ "stock-saved", make_stock_saved },
	{ "etc-full", make_etc_full },
};

/* The linker replaces the functions that the commands call by these. */
struct btrfs_policy_fs *__wrap_btrfs_policy_fs_new(void);
int __wrap_uname(struct utsname *name);
void __wrap_journal_write(int priority, const char *prefix, const char *text);

struct btrfs_policy_fs *__wrap_btrfs_policy_fs_new(void)
{
	return bp_fs_new_with(&fake_backend, &machine);
}

/* $FAKE_JOURNAL is a file or pipe that receives messages to the system log. */
void __wrap_journal_write(int priority, const char *prefix, const char *text)
{
	static FILE *journal;

	if (!journal && getenv("FAKE_JOURNAL"))
		journal = fopen(getenv("FAKE_JOURNAL"), "a");
	if (!journal)
		return;
	fprintf(journal, "<%d> %s: %s\n", priority, prefix, text);
	fflush(journal);
}

int __wrap_uname(struct utsname *name)
{
	memset(name, 0, sizeof(*name));
	strcpy(name->release, "6.12.0-fake");
	return 0;
}

static FILE *open_named(const char *variable)
{
	const char *path = getenv(variable);

	return path ? fopen(path, "w") : NULL;
}

/*
 * $FAKE_CALLS is a file that receives the number of calls that could fail,
 * $FAKE_COST one that receives the cost of the command: calls, items of trees that
 * it read, KiB of memory.  $FAKE_STATE receives all state that it could change.
 */
static void tell(void)
{
	FILE *calls = open_named("FAKE_CALLS"), *cost = open_named("FAKE_COST");
	FILE *state = open_named("FAKE_STATE");
	char *text = fake_state(&machine);
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	if (calls) {
		fprintf(calls, "%u\n", machine.calls);
		fclose(calls);
	}
	if (cost) {
		fprintf(cost, "%u %llu %ld\n", machine.calls, (unsigned long long)machine.items,
			usage.ru_maxrss);
		fclose(cost);
	}
	if (state) {
		fprintf(state, "%sbalances %u\n", text, machine.balances);
		fclose(state);
	}
	free(text);
}

static int run_and_tell(int argc, char **argv)
{
	int status = program_run(argc, argv);

	tell();
	return status;
}

int main(int argc, char **argv)
{
	const char *wanted = getenv("FAKE") ? getenv("FAKE") : "ours";
	const char *fail_at = getenv("FAKE_FAIL_AT");

	if ((strncmp(wanted, "tree:", 5) == 0 && make_recorded(&machine, wanted + 5) == 0) ||
	    make_stripes(&machine, wanted) || make_drain(&machine, wanted))
		return run_and_tell(argc, argv);
	for (size_t i = 0; i < BP_ARRAY_SIZE(machines); i++) {
		if (strcmp(machines[i].name, wanted))
			continue;
		machines[i].make();
		machine.fail_at = fail_at ? atoi(fail_at) : 0;
		return run_and_tell(argc, argv);
	}
	fprintf(stderr, "no machine '%s'\n", wanted);
	return 99;
}

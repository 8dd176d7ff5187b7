// SPDX-License-Identifier: GPL-2.0-only
/* Tasks as coroutines, and the clock. */
#include <stdlib.h>
#include "sim.h"

#define STACK	(64 << 10)

u64 sim_now;
struct task *sim_task;
struct task_struct *current;
static ucontext_t scheduler;
static struct task *tasks, **tasks_end = &tasks;

u64 ktime_get_ns(void)
{
	return sim_now;
}

void sim_reset(void)
{
	while (tasks) {
		struct task *next = tasks->next;

		free(tasks->stack);
		free(tasks);
		tasks = next;
	}
	tasks_end = &tasks;
	/* Not 0: that is what the kernel's clock never is. */
	sim_now = 1000 * NSEC_PER_SEC;
}

static void enter(void)
{
	sim_task->run(sim_task);
	sim_task->done = true;
	task_wait();
}

struct task *task_start(u32 pid, void (*run)(struct task *), void *arg)
{
	struct task *task = calloc(1, sizeof(*task));

	*task = (struct task){ .k.pid = pid, .run = run, .arg = arg, .runnable = true, .wake_at = U64_MAX };
	task->stack = malloc(STACK);
	getcontext(&task->context);
	task->context.uc_stack.ss_sp = task->stack;
	task->context.uc_stack.ss_size = STACK;
	makecontext(&task->context, enter, 0);
	*tasks_end = task;
	tasks_end = &task->next;
	return task;
}

void task_wait(void)
{
	struct task *self = sim_task;

	self->runnable = false;
	/* Who sleeps sends what it holds back. */
	if (self->plug && !self->done) {
		struct plug *plug = self->plug;

		block_unplug();
		block_plug(plug);
	}
	swapcontext(&self->context, &scheduler);
}

void task_wake(struct task *task)
{
	task->runnable = !task->done;
}

void task_sleep(u64 ns)
{
	sim_task->wake_at = sim_now + ns;
	while (sim_now < sim_task->wake_at)
		task_wait();
	sim_task->wake_at = U64_MAX;
}

void wake_all(void)
{
	for (struct task *t = tasks; t; t = t->next)
		if (t->wake_at == U64_MAX)
			task_wake(t);
}

static bool run_tasks(void)
{
	bool any = false;

	for (struct task *t = tasks; t; t = t->next) {
		if (!t->runnable || t->done)
			continue;
		any = true;
		sim_task = t;
		current = &t->k;
		swapcontext(&scheduler, &t->context);
		sim_task = NULL;
	}
	return any;
}

static bool all_done(const struct task *until)
{
	if (until)
		return until->done;
	for (const struct task *t = tasks; t; t = t->next)
		if (!t->done)
			return false;
	return true;
}

void sim_run(const struct task *until)
{
	while (!all_done(until)) {
		u64 next;

		if (run_tasks())
			continue;
		next = block_next();
		for (struct task *t = tasks; t; t = t->next)
			next = min(next, t->done ? U64_MAX : t->wake_at);
		if (next == U64_MAX)
			abort();
		sim_now = max(sim_now, next);
		block_poll();
		for (struct task *t = tasks; t; t = t->next)
			if (t->wake_at <= sim_now)
				task_wake(t);
	}
}

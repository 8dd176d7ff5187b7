/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows the progress of a balance.  Never writes to stdout, and to stderr only on a
 * terminal or on request.  Uses the time of the library, so that output is
 * reproducible.
 */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <unistd.h>

#include "cmds/handles.h"
#include "cmds/cli/messages.h"
#include "cmds/progress.h"
#include "cmds/cli/units.h"

#define SECOND_NS 1000000000ull
#define LINE_NS (10 * SECOND_NS)
#define CLEAR_LINE "\r\033[K"
/* A line that goes on in the next one could not be cleared: the terminal cuts it off. */
#define NO_WRAP "\033[?7l"
#define WRAP "\033[?7h"

const char *const progress_modes[] = {
	[PROGRESS_AUTO] = "auto",
	[PROGRESS_LINE] = "line",
	[PROGRESS_JSON] = "json",
	[PROGRESS_NONE] = "none",
	NULL
};

void progress_begin(struct progress *progress, int mode)
{
	*progress = (struct progress){ .mode = mode };
	if (mode == PROGRESS_AUTO && (!isatty(STDERR_FILENO) || !messages_at(LEVEL_DEFAULT)))
		progress->mode = PROGRESS_NONE;
}

static int percent(const struct btrfs_policy_progress *state)
{
	if (state->bytes_total)
		return (int)(100.0 * state->bytes_done / state->bytes_total);
	return state->chunks_total ? (int)(100 * state->chunks_done / state->chunks_total) : 100;
}

/*
 * The most important figures come first, for narrow terminals.  One write, so that a
 * signal cannot interrupt a line.
 */
static void print_text(const struct btrfs_policy_progress *state, const char *before,
		       const char *behind)
{
	char done[UNITS_TEXT], total[UNITS_TEXT], rate[UNITS_TEXT] = "";
	_cleanup_free_ char *left = NULL, *text = NULL;
	int64_t seconds = state->seconds_left;

	if (seconds < 0)
		left = xstrdup("");
	else if (seconds < 3600)
		left = xasprintf("%02d:%02d left, ", (int)(seconds / 60), (int)(seconds % 60));
	else
		left = xasprintf("%" PRId64 ":%02d:%02d left, ", seconds / 3600,
				 (int)(seconds / 60 % 60), (int)(seconds % 60));
	if (state->bytes_done)
		units_format(state->bytes_per_second, &UNITS_DEFAULT, rate);
	text = xasprintf("%s %s: %d %%, %s%" PRIu64 "/%" PRIu64 " chunks, %s of %s%s%s%s",
			 state->obstacle ? "Relocating" : "Moving stripes of",
			 btrfs_policy_kind_name(state->kind), percent(state), left,
			 state->chunks_done, state->chunks_total,
			 units_format(state->bytes_done, &UNITS_DEFAULT, done),
			 units_format(state->bytes_total, &UNITS_DEFAULT, total),
			 *rate ? ", " : "", rate, *rate ? "/s" : "");
	fprintf(stderr, "%s%s%s", before, text, behind);
}

static void print_json(const struct btrfs_policy_progress *state)
{
	_cleanup_(json) json_object *object = json_object_new_object();
	int64_t left = state->seconds_left;

	json_object_object_add(object, "kind",
			       json_object_new_string(btrfs_policy_kind_name(state->kind)));
	json_object_object_add(object, "chunks-done", json_object_new_uint64(state->chunks_done));
	json_object_object_add(object, "chunks-total",
			       json_object_new_uint64(state->chunks_total));
	json_object_object_add(object, "bytes-done", json_object_new_uint64(state->bytes_done));
	json_object_object_add(object, "bytes-total", json_object_new_uint64(state->bytes_total));
	json_object_object_add(object, "elapsed-seconds",
			       json_object_new_uint64(state->elapsed_ns / SECOND_NS));
	json_object_object_add(object, "bytes-per-second",
			       json_object_new_uint64(state->bytes_per_second));
	json_object_object_add(object, "eta-seconds",
			       left < 0 ? NULL : json_object_new_int64(left));
	json_object_object_add(object, "method",
			       json_object_new_string(state->obstacle ? "relocate" : "stripes"));
	fprintf(stderr, "%s\n", json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN));
}

void progress_show(struct progress *progress, const struct btrfs_policy_progress *state)
{
	bool last = state->chunks_done == state->chunks_total;

	/* No chunk has to be moved, or it waits for another operation before it can plan. */
	if (!state->chunks_total)
		return;
	switch (progress->mode) {
	case PROGRESS_AUTO:
		print_text(state, CLEAR_LINE NO_WRAP, WRAP);
		progress->in_place = true;
		break;
	case PROGRESS_LINE:
		if (state->elapsed_ns < progress->next_line_ns && !last)
			break;
		progress->next_line_ns = state->elapsed_ns + LINE_NS;
		print_text(state, "", "\n");
		break;
	case PROGRESS_JSON:
		print_json(state);
		break;
	case PROGRESS_NONE:
		break;
	}
	fflush(stderr);
}

void progress_end(struct progress *progress)
{
	if (progress->in_place)
		fputs(CLEAR_LINE, stderr);
	progress->in_place = false;
}

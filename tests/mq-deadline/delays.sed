# Random delays between the steps by which mq-deadline parks requests and inserts them, so that tasks meet there: also
# between the two halves of a change of the list of parked requests.
/^#include "blk.h"/i\
#include <linux/delay.h>\
#include <linux/random.h>
/^static void dd_lock(struct deadline_data \*dd) __acquires/i\
static noinline void dd_delay(void)\
{\
	const u32 random = get_random_u32();\
\
	if (random % 2)\
		udelay((random >> 8) % 400);\
}\
\
static noinline void dd_slow_splice(struct list_head *from, struct list_head *to)\
{\
	struct list_head *const first = from->next, *const last = from->prev, *const tail = to->prev;\
\
	if (list_empty(from))\
		return;\
	dd_delay();\
	tail->next = first;\
	first->prev = tail;\
	last->next = to;\
	to->prev = last;\
	INIT_LIST_HEAD(from);\
}\

/^static bool dd_any_queued/,/^}/{
	/^	for (/i\
	dd_delay();
	/^	return /i\
	dd_delay();
}
/^static unsigned int dd_dispatch_requests/,/^}/{
	/^	spin_lock(/a\
	dd_delay();
}
/^static void dd_insert_parked.*)$/,/^static void dd_prepare_request/{
	/^	[a-z].*(.*dd->parked.*);$/a\
	dd_delay();
	/^	spin_\(un\)*lock(&dd->[a-z_]*);$/a\
	dd_delay();
	/^	dd_insert_list(.*);$/a\
	dd_delay();
}
/^static void dd_insert_parked.*)$/,/^static void dd_prepare_request/s/list_splice\(_tail\)*_init(\(.*dd->parked.list.*\));$/dd_slow_splice(\2);/

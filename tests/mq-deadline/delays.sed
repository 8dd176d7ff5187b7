# Random delays between the steps by which mq-deadline parks requests and inserts them, so that tasks meet there.
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

/^static bool dd_any_queued/,/^}/{
	/^	for (/i\
	dd_delay();
	/^	return /i\
	dd_delay();
}
/^static void dd_insert_parked/,/^static void dd_prepare_request/{
	/^	[a-z].*(.*dd->parked.*);$/a\
	dd_delay();
	/^	spin_\(un\)*lock(&dd->[a-z_]*);$/a\
	dd_delay();
	/^	dd_insert_list(.*);$/a\
	dd_delay();
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Models total store order (x86) only: each processor has a buffer of stores,
 * first in first out, that empties when it likes. Loads look into the own buffer,
 * then into memory. It says nothing of processors that order less.
 *
 * How mq-deadline parks requests when its lock is taken. Two processors insert a
 * request each and run the queue, a third has a bio merged, and does not. Shown
 * of every order of events: all requests are dispatched in the end, and no run
 * of the queue goes on without an end.
 *
 * A part of the protocol is left out with -DNO_DRAIN, -DBLIND, -DNO_RELEASE,
 * -DNO_ACQUIRE or -DNO_RUN; then that is not true.
 */
#define INSERTERS	2
#define CPUS		3

#define UNLOCK		1	/* dd->lock is free */
#define PARK		2	/* a request is on parked.list, parked.nr counts it */
#define ADD		3	/* requests are on the FIFO lists */
#define CLEAR		4	/* they were dispatched */
#define SUB		5	/* parked.nr counts so many less */

/* What is in memory. A set of requests is a mask of their processors. */
bit lock;
byte list, nr, fifo;
byte dispatched;
byte left;

chan buffer[CPUS] = [8] of { byte, byte };
/* What a processor has in its buffer: its view of fifo, changes of nr, a release. */
byte fifo_stores[CPUS], fifo_view[CPUS], unlocks[CPUS];
short nr_delta[CPUS];

#define my_fifo		(fifo_stores[me] -> fifo_view[me] : fifo)
#define my_nr		(nr + nr_delta[me])
#define count(set)	(((set) & 1) + (((set) >> 1) & 1))

proctype buffer_of(byte me)
{
	byte op, arg;

end:	do
	:: atomic { buffer[me]?op, arg;
		if
		:: op == UNLOCK -> lock = 0; unlocks[me]--
		:: op == PARK -> list = list | arg; nr++; nr_delta[me] = nr_delta[me] - 1
		:: op == ADD -> fifo = fifo | arg; fifo_stores[me]--
		:: op == CLEAR -> fifo = 0; dispatched = dispatched | arg; fifo_stores[me]--
		:: op == SUB -> nr = nr - arg; nr_delta[me] = nr_delta[me] + arg
		fi;
		op = 0; arg = 0 }
	od
}

inline store_add(set)
{
	atomic { fifo_view[me] = my_fifo | set; fifo_stores[me]++; buffer[me]!ADD, set }
}

inline store_clear()
{
	atomic { set = my_fifo; fifo_view[me] = 0; fifo_stores[me]++; buffer[me]!CLEAR, set; set = 0 }
}

inline store_sub(n)
{
	atomic { nr_delta[me] = nr_delta[me] - n; buffer[me]!SUB, n }
}

/* An own release that is still in the buffer comes first: it is the same place. */
inline spin_lock()
{
	atomic { lock == 0 && unlocks[me] == 0 -> lock = 1 }
}

/* Orders nothing if it fails. */
inline spin_trylock(got)
{
	atomic {
		unlocks[me] == 0;
		if
		:: lock == 0 -> lock = 1; got = true
		:: else -> got = false
		fi
	}
}

inline spin_unlock()
{
	atomic { unlocks[me]++; buffer[me]!UNLOCK, 0 }
}

inline insert_parked()
{
	if
	:: my_nr == 0
	:: else ->
		/* Under parked.lock: what its last holder did is in memory. */
		atomic { taken = list; list = 0 };
		if
		:: taken == 0
		:: else ->
#ifdef NO_RELEASE
			store_sub(count(taken));
			store_add(taken);
#else
			store_add(taken);
			store_sub(count(taken));
#endif
			taken = 0
		fi
	fi
}

inline drain()
{
#ifndef NO_DRAIN
	insert_parked()
#else
	skip
#endif
}

inline insert_request(request)
{
	spin_trylock(got);
	if
	:: got -> insert_parked(); store_add(request); spin_unlock()
	:: else -> atomic { nr_delta[me] = nr_delta[me] + 1; buffer[me]!PARK, request }
	fi
}

/* A released store is no later than the count that says it was made. */
inline has_work(work)
{
#ifdef BLIND
	work = my_fifo != 0
#else
#ifdef NO_ACQUIRE
	work = my_fifo != 0;
	work = work || my_nr != 0
#else
	work = my_nr != 0;
	work = work || my_fifo != 0
#endif
#endif
}

/*
 * A dispatch finds nothing only if another processor has dispatched meanwhile.
 * Under one hold of the lock it looks once or twice.
 */
inline run_queue()
{
	do
	:: has_work(work);
		if
		:: work ->
			tries++;
			assert(tries <= 2 * INSERTERS);
			spin_lock();
			drain(); store_clear();
			if
			:: drain(); store_clear()
			:: skip
			fi;
			spin_unlock()
		:: else -> break
		fi
	od
}

proctype inserter(byte me)
{
	byte taken, set, tries;
	bool got, work;

	insert_request(1 << me);
#ifndef NO_RUN
	run_queue();
#endif
	left++
}

proctype merger(byte me)
{
	byte taken;

	spin_lock(); drain(); spin_unlock();
	left++
}

init {
	atomic {
		run buffer_of(0); run buffer_of(1); run buffer_of(2);
		run inserter(0); run inserter(1); run merger(2)
	};
	left == CPUS && empty(buffer[0]) && empty(buffer[1]) && empty(buffer[2]);
	assert(list == 0 && nr == 0 && !lock);
	assert(dispatched == (1 << INSERTERS) - 1)
}

/* Policies of your own for Wordline, in C: which block is reclaimed, which blocks swap data, which data shares a block.
 *
 * A library holds one constant for each policy, which WORDLINE_BLOCK_POLICY or WORDLINE_STREAM_POLICY below defines:
 *
 *     #include "wordline_policy.h"
 *
 *     static int32_t choose(void *state, const wordline_lane *lane, uint32_t *answer) {
 *         ...
 *         *answer = block;
 *         return 0;
 *     }
 *     WORDLINE_BLOCK_POLICY(wordline_gc_victim, "mine", choose)
 *
 *     cc -O3 -march=native -shared -fPIC -o mine.so mine.c
 *     wordline run trace.csv --policy gc_victim=./mine.so
 *
 * Rules. Pointers are valid only during the call, and read-only. The same arguments must give the same answer: no
 * clock, no random numbers but `random`. A policy is called by one thread at a time; of several drives in one process
 * each has its own state. Return 0 when *answer is written, anything else to end the run; the error shows the status.
 * *answer is preset to WORDLINE_INVALID, so that a missing answer is detected. After a failure the policy is not called
 * again.
 *
 * A function can also be given by its address, without a library (numba.cfunc, cffi): then `state` is NULL, and the
 * caller must make sure that it was made for this version of the interface, with which each record begins. */
#ifndef WORDLINE_POLICY_H
#define WORDLINE_POLICY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the interface. A library built for another one is refused. */
#define WORDLINE_ABI 1u

/* No answer: what *answer is preset to. */
#define WORDLINE_INVALID UINT32_MAX
/* Answer: no block. A victim must be named wherever a block is eligible; wear may always be left as it is. */
#define WORDLINE_NONE (UINT32_MAX - 1)
/* Set in `live` where the block may not be chosen as a victim. */
#define WORDLINE_NOT_ELIGIBLE 0x80000000u

/* States of a block. */
enum {
    WORDLINE_FREE = 0,      /* erased, on the free list */
    WORDLINE_OPEN = 1,      /* being filled */
    WORDLINE_CLOSED = 2,    /* full: wear levelling may choose it */
    WORDLINE_MOVING = 3,    /* its valid units are being moved away */
    WORDLINE_DRAINING = 4,  /* all of them have been read, not all programmed elsewhere */
    WORDLINE_MIGRATING = 5, /* the same for some of them */
    WORDLINE_ERASING = 6,   /* being erased */
    WORDLINE_BAD = 7        /* retired */
};

/* The blocks of a lane, counted from 0. Each column has `blocks` entries. */
typedef struct wordline_lane {
    uint32_t abi;             /* WORDLINE_ABI */
    uint32_t size;            /* sizeof(wordline_lane) */
    uint32_t lane;            /* number of the lane */
    uint32_t blocks;          /* blocks of the lane */
    uint32_t units_per_block; /* units of data that a block holds */
    uint32_t random;          /* gc_victim: random bits, fresh with each call, the same in each run; else 0 */
    uint64_t now;             /* host units written to flash so far: the clock of ages */
    uint64_t erases;          /* wear_leveling: erases of the lane so far; it is asked after each; else 0 */
    uint64_t call;            /* number of the call, from 1 */
    const uint32_t *live;     /* valid units; WORDLINE_NOT_ELIGIBLE is set where it may not be a victim */
    const uint8_t *state;     /* WORDLINE_FREE ... WORDLINE_BAD */
    const uint32_t *erase_count; /* erases */
    const uint64_t *closed_at;   /* `now` when the block was filled last */
    const uint16_t *wear_q12;    /* share of its life used up, in 1/4096 (ftl.age_marker); 0 without a marker */
} wordline_lane;

/* Whether a unit was written, is moved, or may be moved or stay. */
enum { WORDLINE_WRITTEN = 1, WORDLINE_MOVED = 2, WORDLINE_PEEKED = 3 /* do not record it */ };

/* A unit of data that is about to be programmed. Unknown values are 0. */
typedef struct wordline_unit {
    uint32_t abi;       /* WORDLINE_ABI */
    uint32_t size;      /* sizeof(wordline_unit) */
    uint32_t kind;      /* WORDLINE_WRITTEN, WORDLINE_MOVED, WORDLINE_PEEKED */
    uint32_t streams;   /* number of streams (ftl.stream.streams): the answer must be less */
    uint64_t clock;     /* host units written to flash so far */
    uint64_t call;      /* number of the call, from 1 */
    uint32_t lpn;       /* number of the unit */
    uint32_t sectors;   /* written: sectors of 512 bytes of the whole command */
    uint32_t lies_in;   /* moved: the stream it lies in */
    uint32_t cause;     /* moved: 2 garbage collection, 4 a retired block, 5 reads, 8 the cache, 10 sanitizing, ... */
    uint32_t again;     /* written: 1 if it was asked about before, and written again before it was programmed */
    uint32_t placement; /* written: placement id */
    uint32_t file;      /* written: file */
    uint32_t process;   /* written: process */
    uint32_t context;   /* written: program context */
    uint32_t priority;  /* written: 1 low, 2 medium, 3 high */
} wordline_unit;

typedef int32_t (*wordline_choose_block)(void *state, const wordline_lane *lane, uint32_t *answer);
typedef int32_t (*wordline_choose_stream)(void *state, const wordline_unit *unit, uint32_t *answer);

/* A policy. The first four fields say what it was compiled for. */
typedef struct wordline_policy {
    uint32_t abi;
    uint32_t size;
    uint32_t lane_size;
    uint32_t unit_size;
    const char *name;              /* for results and errors */
    void *(*create)(void);         /* the state of a new drive; NULL: there is none */
    void *(*copy)(const void *);   /* the state of a copy of a drive; NULL: a drive that has run cannot be copied */
    void (*destroy)(void *);       /* the drive is gone */
    wordline_choose_block choose_block;   /* gc_victim, wear_leveling */
    wordline_choose_stream choose_stream; /* stream */
    uint32_t streams;              /* stream: how many it uses (1 to 30); 0: as ftl.stream.streams */
    uint32_t reserved;             /* 0 */
} wordline_policy;

#if defined(_WIN32)
#define WORDLINE_EXPORT __declspec(dllexport)
#else
#define WORDLINE_EXPORT __attribute__((visibility("default")))
#endif

#define WORDLINE_SIZES WORDLINE_ABI, sizeof(wordline_policy), sizeof(wordline_lane), sizeof(wordline_unit)

/* Defines the symbol wordline_gc_victim or wordline_wear_leveling: a policy without state. */
#define WORDLINE_BLOCK_POLICY(symbol, name, choose)                                                                    \
    extern WORDLINE_EXPORT const wordline_policy symbol;                                                               \
    const wordline_policy symbol = {WORDLINE_SIZES, name, NULL, NULL, NULL, choose, NULL, 0, 0};

/* Defines the symbol wordline_stream: a policy with that many streams, without state. */
#define WORDLINE_STREAM_POLICY(name, streams, choose)                                                                  \
    extern WORDLINE_EXPORT const wordline_policy wordline_stream;                                                      \
    const wordline_policy wordline_stream = {WORDLINE_SIZES, name, NULL, NULL, NULL, NULL, choose, streams, 0};

#ifdef __cplusplus
}
#endif
#endif

"""Types for policies that numba compiles: the records of `wordline_policy.h`.

::

    import numba
    import wordline
    import wordline.numba as types

    @numba.cfunc(types.block_policy)
    def greedy(state, lanes, answer):
        lane = numba.carray(lanes, 1)[0]
        live = types.live(lane)
        least = numba.uint32(types.NOT_ELIGIBLE)
        answer[0] = types.NONE
        for block in range(lane.blocks):
            if live[block] < least:
                least = live[block]
                answer[0] = block
        return 0

    drive = wordline.Drive.preset("m64", policies={"gc_victim": greedy.address})

Keep the function alive as long as the drive. If it raises, numba prints the exception and returns garbage: the answer
is preset, so this is detected too.
"""

from typing import Any

import numba
from numba import types
from numba.extending import intrinsic

__all__ = [
    "ABI",
    "INVALID",
    "NONE",
    "NOT_ELIGIBLE",
    "block_policy",
    "closed_at",
    "erase_count",
    "lane",
    "live",
    "state",
    "stream_policy",
    "unit",
    "wear_q12",
]

#: Version of the interface, in the first field of each record.
ABI = 1
#: What the answer is preset to.
INVALID = 0xFFFF_FFFF
#: Answer: no block.
NONE = 0xFFFF_FFFE
#: Set in `live` where garbage collection may not choose the block.
NOT_ELIGIBLE = 0x8000_0000

#: `wordline_lane`; columns are addresses, which the functions below make arrays of.
lane = types.Record.make_c_struct(
    [
        *[(name, types.uint32) for name in ("abi", "size", "lane", "blocks", "units_per_block", "random")],
        *[(name, types.uint64) for name in ("now", "erases", "call")],
        *[(name, types.uint64) for name in ("live", "state", "erase_count", "closed_at", "wear_q12")],
    ]
)

#: `wordline_unit`.
unit = types.Record.make_c_struct(
    [
        *[(name, types.uint32) for name in ("abi", "size", "kind", "streams")],
        *[(name, types.uint64) for name in ("clock", "call")],
        *[
            (name, types.uint32)
            for name in (
                "lpn", "sectors", "lies_in", "cause", "again", "placement", "file", "process", "context", "priority",
            )
        ],
    ]
)

#: `wordline_choose_block`: the signature of a policy for `gc_victim` or `wear_leveling`.
block_policy = types.int32(types.voidptr, types.CPointer(lane), types.CPointer(types.uint32))
#: `wordline_choose_stream`: the signature of a policy for `stream`.
stream_policy = types.int32(types.voidptr, types.CPointer(unit), types.CPointer(types.uint32))


def _pointer_to(of: Any) -> Any:
    """What makes a pointer of an address."""

    @intrinsic
    def pointer(_context, _address):  # type: ignore[no-untyped-def]
        signature = types.CPointer(of)(types.uint64)

        def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

        return signature, code

    return pointer


_u8, _u16, _u32, _u64 = map(_pointer_to, (types.uint8, types.uint16, types.uint32, types.uint64))


@numba.njit(inline="always")
def live(lane):  # type: ignore[no-untyped-def]
    """Valid units of each block; `NOT_ELIGIBLE` is set where garbage collection may not choose it."""
    return numba.carray(_u32(lane.live), lane.blocks)


@numba.njit(inline="always")
def state(lane):  # type: ignore[no-untyped-def]
    """State of each block, as `wordline.Lane.state`."""
    return numba.carray(_u8(lane.state), lane.blocks)


@numba.njit(inline="always")
def erase_count(lane):  # type: ignore[no-untyped-def]
    """Erases of each block."""
    return numba.carray(_u32(lane.erase_count), lane.blocks)


@numba.njit(inline="always")
def closed_at(lane):  # type: ignore[no-untyped-def]
    """`now` when each block was filled last."""
    return numba.carray(_u64(lane.closed_at), lane.blocks)


@numba.njit(inline="always")
def wear_q12(lane):  # type: ignore[no-untyped-def]
    """Share of each block's life used up, in 1/4096."""
    return numba.carray(_u16(lane.wear_q12), lane.blocks)

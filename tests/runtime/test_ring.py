import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from edgevoice.runtime.ring import Ring


def block(n: int, start: int = 0) -> np.ndarray:
    return np.arange(start, start + n, dtype=np.int16)


def test_what_is_written_is_read_in_order_across_the_seam():
    ring = Ring(10)
    ring.write(block(7))
    assert ring.take().tolist() == list(range(7))
    ring.write(block(8, 7))
    assert ring.take().tolist() == list(range(7, 15))


def test_a_full_ring_loses_the_newest_block_and_counts_it():
    ring = Ring(10)
    ring.write(block(8))
    ring.write(block(3, 8))
    assert ring.lost == 3
    assert ring.take().tolist() == list(range(8))


@given(st.lists(st.integers(0, 40), max_size=60))
def test_nothing_is_lost_or_repeated_when_the_reader_keeps_up(sizes):
    ring = Ring(40)
    written, read = 0, []
    for size in sizes:
        ring.write(block(size, written))
        written += size
        read.extend(ring.take().tolist())
    assert read == list(range(written))
    assert ring.lost == 0

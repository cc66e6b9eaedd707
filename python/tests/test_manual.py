"""The manual is true: each of its blocks runs, by itself."""

import re
from pathlib import Path

import pytest

MANUAL = (Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python[^\n]*\n(.*?)^```$", MANUAL, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_a_block_runs(number: int) -> None:
    exec(compile(BLOCKS[number], f"docs/python.md, block {number + 1}", "exec"), {})


def test_there_are_blocks() -> None:
    assert len(BLOCKS) >= 3

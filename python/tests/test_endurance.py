"""How long a drive lasts: the same answer as on the command line."""

import json
import subprocess
import sys

import pytest

import wordline

ASKED = {"writes": "864GB/day", "pattern": "mixed", "capacity": "1TB", "what_if": False}


def test_the_answer_is_that_of_the_command_line() -> None:
    answer = wordline.endurance(**ASKED, tbw=500, pe=3000)
    flags = ["--tbw", "500", "--pe", "3000", "--no-what-if", "--json", "--quiet"]
    flags += ["--writes", "864GB/day", "--pattern", "mixed", "--capacity", "1TB"]
    program = [sys.executable, "-m", "wordline", "endurance", *flags]
    printed = subprocess.run(program, capture_output=True, text=True, check=True).stdout
    assert answer == json.loads(printed)
    assert answer["years"] == pytest.approx(
        answer["budget_bytes"] / (864e9 * answer["write_amplification"][0]) / 365
    )
    assert len(answer["budgets"]) == 2


def test_a_rating_may_have_a_unit_and_a_workload_be_a_dict() -> None:
    load = {"pattern": "zipf", "read_percent": 0, "count": 1_000, "arrival": "fixed", "rate_iops": 1_000}
    answer = wordline.endurance(load, capacity="480GB", tbw="0.3PB", what_if=False)
    assert answer["tbw_bytes"] == 0.3e15
    assert answer["host_bytes_a_day"] == pytest.approx(1_000 * 4_096 * 86_400, rel=0.01)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"writes": "864Gb/day"}, "writes: .*Gb are bits"),
        ({"pattern": "rndom"}, 'did you mean "random"'),
        ({"tbw": 500_000}, "drive writes a day"),
        ({"drive": "qlc"}, "both a drive and capacity"),
        ({"writes": None}, "nothing says what is written"),
    ],
)
def test_wrong_questions_are_told(changed: dict[str, object], told: str) -> None:
    with pytest.raises(wordline.ConfigError, match="(?s)" + told):
        wordline.endurance(**{**ASKED, "tbw": 500, **changed})

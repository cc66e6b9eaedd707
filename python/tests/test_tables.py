"""Tables: what numpy, polars, pyarrow and pandas see is what is there, and numbers are not copied."""

import gc

import numpy
import pytest

import wordline


@pytest.fixture
def result(small: wordline.Drive) -> wordline.Result:
    return small.run({"pattern": "uniform", "count": 3_000}, keep_requests=True)


def address(view) -> int:
    return numpy.asarray(view).__array_interface__["data"][0]


def test_numbers_are_not_copied(result: wordline.Result) -> None:
    requests = result.requests
    first, second = requests["latency_ns"], requests["latency_ns"]
    assert address(first) == address(second) == address(memoryview(requests.column("latency_ns")))
    assert first.dtype == numpy.uint64 and not first.flags.writeable
    kept = first.sum()
    # The vector lives as long as somebody looks into it.
    del requests, result, second
    gc.collect()
    assert first.sum() == kept


def test_numbers_are_those_of_the_result(result: wordline.Result) -> None:
    requests = result.requests
    assert len(requests) == 3_000 and requests.columns[0] == "arrival_ns"
    reads = requests["latency_ns"][requests["op"] == "read"]
    assert len(reads) == result["latency_ns.read.count"] and reads.max() == result["latency_ns.read.max"]
    assert result.timeseries["reads"].sum() == result["latency_ns.read.count"]
    blocks = result.blocks
    assert blocks["erases"].max() == result["erase_count.max"]
    assert set(blocks["state"]) <= {"free", "open", "closed", "moving", "erasing", "bad"}
    # What is not known is no number.
    assert numpy.isnan(blocks["disturbed_q12"]).all()
    with pytest.raises(KeyError, match="allowed: block, lane"):
        blocks["erase"]


def test_words_are_no_buffer_of_numbers(result: wordline.Result) -> None:
    ops = result.requests.column("op")
    assert [ops.names[code] for code in memoryview(ops)[:20]] == list(ops.to_numpy()[:20])


def test_arrow_reads_them_as_they_are(result: wordline.Result) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    requests = result.requests
    table = pyarrow.table(requests)
    assert table.num_rows == len(requests) and table.column_names == requests.columns
    latencies = table["latency_ns"].chunk(0)
    assert latencies.buffers()[1].address == address(requests["latency_ns"])
    assert table["op"].to_pylist() == list(requests["op"])
    latencies.validate(full=True)


def test_polars_and_pandas_read_them(result: wordline.Result) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(result.blocks)
    assert frame["erases"].to_list() == list(result.blocks["erases"])
    pandas = pytest.importorskip("pandas")
    assert isinstance(result.blocks.to_pandas(), pandas.DataFrame)
    assert list(result.blocks.to_pandas()["state"]) == list(result.blocks["state"])


def test_a_result_tells_itself(result: wordline.Result, tmp_path) -> None:
    assert result["latency_ns"]["read"]["p99"] == result["latency_ns.read.p99"]
    assert "latency_ns.read.p98" not in result and "counters" in result
    assert "IOPS" in str(result) and result["event_hash"] in repr(result)
    assert result._repr_html_().startswith("<iframe")
    result.report(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == result.report()
    written = {path.name for path in map(type(tmp_path), result.save(tmp_path / "out"))}
    assert {"result.json", "config.toml", "report.html"} <= written
    # What it says of itself repeats it.
    again = wordline.Drive.from_toml(result.config).run()
    assert again["event_hash"] == result["event_hash"]


def test_it_is_drawn(result: wordline.Result) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = result.plot("read_p99_ns")
    assert "read p99 (" in axes.get_ylabel() and axes.lines[0].get_xdata().size == len(result.timeseries)
    with pytest.raises(KeyError, match="read_p99_ns"):
        result.plot("read_p98_ns")

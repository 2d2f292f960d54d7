"""Reading and writing files: every error says where, and nothing is ever half there."""

import json

import pytest

from reasonenv import files
from reasonenv.errors import DataError, StorageError
from reasonenv.files import append_jsonl, parse_jsonl_line, read_jsonl, write_atomic


def test_lines_are_numbered_from_one_and_blank_ones_are_skipped(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n\n  \n{"b": "\xc3\xa9"}')
    assert list(read_jsonl(file)) == [(1, {"a": 1}), (4, {"b": "é"})]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "not valid JSON"),
        ("{'a': 1}", "not valid JSON"),
        ("[1]", "each line is one JSON object, got a list"),
        ("null", "got a NoneType"),
        ('{"a": ' + "[" * 100_000, "not valid JSON"),
        ('{"a": ' + "1" * 5000 + "}", "not valid JSON"),
    ],
)
def test_a_bad_line_is_named(tmp_path, line, says):
    file = tmp_path / "a.jsonl"
    file.write_text('{"a": 1}\n' + line + "\n")
    with pytest.raises(DataError) as caught:
        list(read_jsonl(file))
    assert str(caught.value).startswith(f"{file}:2: ")
    assert says in str(caught.value)
    assert len(str(caught.value)) < 500 + len(str(file))
    with pytest.raises(DataError, match=r"^here: "):
        parse_jsonl_line(line, "here")


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    for name, says in (
        ("nope", "there is no such file"),
        (".", "cannot be read"),
        ("binary", "UTF-8"),
    ):
        with pytest.raises(DataError, match=says):
            list(read_jsonl(tmp_path / name))


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    file = tmp_path / "a"
    write_atomic(file, "old")
    write_atomic(file, b"new")
    assert file.read_bytes() == b"new"
    for broken in ("fsync", "replace", "chmod"):
        with monkeypatch.context() as patch:

            def full(*args):
                raise OSError(28, "No space left on device")

            patch.setattr(files.os, broken, full)
            with pytest.raises(StorageError, match=r"No space left on device.*go on with --resume"):
                write_atomic(file, "newer")
        assert file.read_bytes() == b"new"
        assert [p.name for p in tmp_path.iterdir()] == ["a"]
    with pytest.raises(StorageError, match="No such file or directory"):
        write_atomic(tmp_path / "no" / "folder", "x")


def test_rows_are_appended_all_or_none(tmp_path, monkeypatch):
    file = tmp_path / "m.jsonl"
    append_jsonl(file, [{"a": 1}])
    append_jsonl(file, [{"b": "é"}, {"c": None}])
    before = file.read_bytes()
    assert [json.loads(line) for line in before.splitlines()] == [{"a": 1}, {"b": "é"}, {"c": None}]
    real = open

    def full_disk(path, mode="r", **kwargs):
        opened = real(path, mode, **kwargs)

        class Short:
            written = False

            def __getattr__(self, name):
                return getattr(opened, name)

            def __enter__(self):
                return self

            def __exit__(self, *exc):
                opened.close()

            def write(self, data):
                if self.written:
                    raise OSError(28, "No space left on device")
                self.written = True
                return opened.write(data[:3])  # a raw write may be short

        return Short()

    monkeypatch.setattr(files, "open", full_disk, raising=False)
    with pytest.raises(StorageError, match="No space left on device"):
        append_jsonl(file, [{"d": 1}])
    assert file.read_bytes() == before


def test_a_lone_surrogate_does_not_stop_a_run(tmp_path):
    file = tmp_path / "m.jsonl"
    append_jsonl(file, [{"answer": "a\ud800b"}])
    assert list(read_jsonl(file)) == [(1, {"answer": "a\ud800b"})]
    write_atomic(file, json.dumps({"answer": "\ud800"}, ensure_ascii=False))
    assert list(read_jsonl(file)) == [(1, {"answer": "\ud800"})]

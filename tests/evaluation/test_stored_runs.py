"""Runs on disk: judged again, browsed, exported."""

from __future__ import annotations

import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import reasonenv
from reasonenv import Problem, Status, Verdict
from reasonenv.errors import (
    DataError,
    EvaluationError,
    ModelError,
    RunDirectoryError,
)
from reasonenv.evaluation import evaluate, make_backend, open_run, plan_evaluation, rejudge
from reasonenv.evaluation.browse.groups import filtered, groups_of, is_flipped, suspicions
from reasonenv.evaluation.browse.page import html_page
from reasonenv.models.export import export
from reasonenv.models.loading import load_model, load_tokenizer

from .conftest import TINY


@pytest.fixture
def evaluation(tiny_evaluation: Path, tmp_path: Path) -> Path:
    return shutil.copytree(tiny_evaluation, tmp_path / "evaluation")


@pytest.fixture
def training(trained_run: Path, tmp_path: Path) -> Path:
    return shutil.copytree(trained_run, tmp_path / "training")


def files(run: Path) -> dict[str, bytes]:
    return {str(p.relative_to(run)): p.read_bytes() for p in run.rglob("*") if p.is_file()}


@pytest.mark.parametrize("kind", ["evaluation", "training"])
def test_unchanged_checkers_move_nothing_and_touch_nothing(
    kind: str, request: pytest.FixtureRequest
) -> None:
    run: Path = request.getfixturevalue(kind)
    before = files(run)
    done = rejudge(run)
    assert done.judged == (30 if kind == "evaluation" else 3 * 16 + 2 * 6)
    assert (done.changed, done.moved, done.unknown) == (0, [], 0)
    after = files(run)
    assert {name: after[name] for name in before} == before
    assert json.loads((run / "rejudged" / "moved.json").read_text())["changed"] == 0


@pytest.mark.parametrize("kind", ["evaluation", "training"])
def test_a_changed_checker_shows_what_moved_and_writes_over_nothing_unless_asked(
    kind: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    from reasonenv.checkers import MathJudge

    run: Path = request.getfixturevalue(kind)
    old = list(open_run(run).rows())
    before = files(run)

    def strict(self: Any, problem: Problem, completion: str) -> Verdict:
        return Verdict(Status.MALFORMED, 0.0, "new \ud800")

    monkeypatch.setattr(MathJudge, "__call__", strict)
    done = rejudge(run)
    assert done.changed == done.judged == len(old) == len(done.moved)
    assert {after for _, after in done.transitions} == {"malformed"}
    assert done.accuracy(after=True) == 0.0
    moved = json.loads((run / "rejudged" / "moved.json").read_text())
    assert len(moved["moved"]) == len(old)
    assert {name: files(run)[name] for name in before} == before
    rejudge(run, write=True)
    new = list(open_run(run).rows())
    assert {row["status"] for row in new} == {"malformed"}
    assert {row["solved"] for row in new} == {0.0}
    verdict = {"status", "score", "answer", "detail", "solved", "seconds"}
    for was, now in zip(old, new, strict=True):
        assert {k: v for k, v in now.items() if k not in verdict} == {
            k: v for k, v in was.items() if k not in verdict
        }


def test_figures_follow_new_verdicts(evaluation: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from reasonenv.checkers import MathJudge

    monkeypatch.setattr(
        MathJudge, "__call__", lambda self, problem, text: Verdict(Status.CORRECT, 1.0, "1")
    )
    rejudge(evaluation, write=True)
    results = evaluate(plan_evaluation(**TINY), evaluation, make_backend=make_backend)
    assert results["benchmarks"]["Arithmetic"]["accuracy"]["value"] == 1.0


def test_problems_that_are_gone_leave_their_completions_as_they_were(tmp_path: Path) -> None:
    data = tmp_path / "sums.jsonl"
    rows = [{"question": f"{i}+{i}=", "answer": str(2 * i)} for i in range(1, 5)]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    plan = plan_evaluation(**TINY | {"data": str(data), "n": 1, "problems": None})
    out = tmp_path / "run"
    evaluate(plan, out, make_backend=make_backend)
    data.write_text("".join(json.dumps(row) + "\n" for row in rows[:3]))
    done = rejudge(out, write=True)
    assert (done.judged, done.unknown) == (3, 1)
    assert len(list(open_run(out).rows())) == 4


def test_damaged_parts_are_told_and_the_others_are_judged(training: Path) -> None:
    (training / "rollouts.parquet" / "train-000001.parquet").write_bytes(b"PAR1 and then nothing")
    done = rejudge(training)
    assert done.judged == 2 * 16 + 2 * 6
    assert any("train-000001" in said for said in done.damage)


def test_what_is_no_run_is_told(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match="no run is there"):
        rejudge(tmp_path)
    (tmp_path / "recipe.yaml").write_text("env: reasonenv/Arithmetic-v0\n")
    with pytest.raises(DataError, match="no rollouts"):
        rejudge(tmp_path)
    (tmp_path / "recipe.yaml").write_text("[1, 2]")
    with pytest.raises(EvaluationError, match="mapping"):
        open_run(tmp_path)


def row(status: str, reward: float | None = None, text: str = "x", **more: Any) -> dict[str, Any]:
    return {
        "collection": "train", "step": 3, "group_id": "g", "problem_id": "p", "prompt": "q",
        "completion": text, "status": status, "reward": reward, "parts": {}, "advantage": 0.5,
    } | more  # fmt: skip


def group(*rows: dict[str, Any]) -> Any:
    [found] = groups_of(rows)
    return found


@pytest.mark.parametrize(
    ("rows", "flipped"),
    [
        ([row("correct", 1.0), row("incorrect", 1.1)], True),
        ([row("correct", 1.0), row("incorrect", 1.0)], False),
        ([row("correct", 2.0), row("correct", 1.0), row("no_answer", 1.5)], True),
        ([row("correct", 1.0), row("checker_error", 5.0)], False),
        ([row("incorrect", 1.0), row("incorrect", 2.0)], False),
        ([row("correct", None), row("incorrect", 1.0)], False),
    ],
)
def test_a_group_is_flipped_where_a_wrong_member_earned_more(
    rows: list[dict[str, Any]], flipped: bool
) -> None:
    assert is_flipped(group(*rows)) is flipped


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<answer>1</answer>" * 5, "5 answers"),
        ("so we have it again. " * 40, "repeated"),
        ("<answer>3</answer>\nQuestion: and 4+4?", "question of its own"),
        ("the grader will see that it should pass", "its grading"),
        ("<answer>3</answer> since 1 and 2 are three", None),
        ("It passes a score of cars. " + " ".join(map(str, range(100))), None),
    ],
)
def test_signs_of_a_hack_are_named(text: str, said: str | None) -> None:
    found = suspicions(row("incorrect", 0.0, text), group(row("incorrect", 0.0, text)))
    assert found == [] if said is None else any(said in one for one in found)


def test_a_right_answer_far_shorter_than_its_group_and_a_wrong_one_paid_alike_are_signs() -> None:
    long = "step by step " + " ".join(map(str, range(60)))
    members = [row("correct", 1.0, "7"), row("incorrect", 0.9, long), row("correct", 1.0, long)]
    found = [suspicions(member, group(*members)) for member in members]
    assert any("shorter" in one for one in found[0])
    assert any("wrong, and earned most" in one for one in found[1])
    assert found[2] == []


def test_filters_keep_groups_with_such_a_member(training: Path) -> None:
    groups = [
        *groups_of([row("correct", 1.0, group_id="a"), row("incorrect", 2.0, group_id="a")]),
        *groups_of([row("checker_error", None, group_id="b")]),
        *groups_of([row("correct", 1.0, group_id="c", problem_id="other")]),
    ]
    keys = {name: [g.key for g in filtered(groups, [name])] for name in ("unscored", "flipped")}
    assert keys == {"unscored": ["b"], "flipped": ["a"]}
    assert [g.key for g in filtered(groups, [], "oth")] == ["c"]
    with pytest.raises(EvaluationError, match="did you mean `flipped`"):
        list(filtered(groups, ["fliped"]))
    stored = list(groups_of(open_run(training).rows()))
    assert len(stored) == 3 * 4 + 2 * 6
    assert sorted({len(g.members) for g in stored}) == [1, 4]


class Tags(HTMLParser):
    """Collects the elements and attributes of a page, and the text of its data."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.data, self._in_data = "", False

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        self.links += [v for k, v in attrs if k in ("src", "href", "action", "data", "poster")]
        self._in_data = ("id", "data") in attrs

    def handle_endtag(self, tag: str) -> None:
        self._in_data = False

    def handle_data(self, data: str) -> None:
        self.data += data if self._in_data else ""


HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<!--<script>",
    "]]>&lt;b&gt;\u2028\u2029",
    "\ud800 \x00 \x1b[31m 漢字 \U0001f600",
    "javascript:alert(1)",
]


def test_nothing_in_a_completion_breaks_out_of_the_page() -> None:
    rows = [
        row("incorrect", 0.1, text, group_id=f"g{i}{text}", prompt=text, answer=text,
            parts={text: 1.0}, problem_id=text)
        for i, text in enumerate(HOSTILE)
    ]  # fmt: skip
    page = html_page(HOSTILE[0], groups_of(rows), [HOSTILE[0]])
    assert page.isascii() or page.encode("utf-8")
    tags = Tags()
    tags.feed(page)
    assert tags.links == []
    assert tags.tags.count("script") == 2
    assert not {"img", "link", "iframe", "b"} & set(tags.tags)
    found = json.loads(tags.data)
    assert [g["members"][0]["text"] for g in found] == HOSTILE
    assert [g["prompt"] for g in found] == HOSTILE
    assert "http-equiv" in page
    assert "default-src 'none'" in page
    assert not re.search(r"https?://", page)


def test_a_page_of_ten_thousand_rollouts_is_written_whole() -> None:
    rows = (
        row("correct" if i % 3 else "incorrect", 1.0, f"completion {i}", group_id=f"g{i // 16}")
        for i in range(10_000)
    )
    page = html_page("many", groups_of(rows))
    tags = Tags()
    tags.feed(page)
    found = json.loads(tags.data)
    assert sum(len(g["members"]) for g in found) == 10_000
    assert len(page) < 5_000_000


@pytest.mark.skipif(shutil.which("node") is None, reason="node runs the page's script")
def test_the_page_pages_filters_and_opens(tmp_path: Path) -> None:
    import subprocess

    rows = [
        row(
            "checker_error" if i == 5 else "correct" if i % 2 else "incorrect",
            2.0 if i == 8 else float(i % 2),
            f"completion {i}",
            group_id=f"g{i // 2}",
        )
        for i in range(100)
    ]
    page = tmp_path / "page.html"
    page.write_text(html_page("run", groups_of(rows)))
    script = Path(__file__).with_name("page_dom.js")
    done = subprocess.run(
        ["node", str(script), str(page)], capture_output=True, text=True, check=True
    )
    shown = json.loads(done.stdout)
    assert shown["pages"] == ["page 1 of 3, 50 of 50 groups", "page 2 of 3, 50 of 50 groups"]
    assert "train step 3" in shown["first"]
    assert "1 of 2 right" in shown["first"]
    assert {k: v.split(", ")[1] for k, v in shown["filters"].items()} == {
        "unscored": "1 of 50 groups",
        "flipped": "1 of 50 groups",
        "suspect": "1 of 50 groups",
        "mixed": "49 of 50 groups",
    }
    assert shown["found"] == "page 1 of 1, 1 of 50 groups"
    assert shown["opened"] == "completion 32"


def logits(model: Any, tokenizer: Any) -> Any:
    import torch

    batch = tokenizer(["<|user|>47+85=<|assistant|>", "<|user|>3+4=<|assistant|>"], padding=True,
                      return_tensors="pt")  # fmt: skip
    with torch.inference_mode():
        return model(**batch).logits[batch["attention_mask"].bool()]


def test_a_merged_model_says_what_base_and_adapter_say(trained_run: Path, tmp_path: Path) -> None:
    import torch
    from peft import PeftModel
    from transformers import AutoModelForCausalLM, AutoTokenizer

    done = export(trained_run, tmp_path / "merged", merged=True)
    assert (done.kind, done.base) == ("merged model", None)
    merged = AutoModelForCausalLM.from_pretrained(done.path).eval()
    tokenizer = AutoTokenizer.from_pretrained(done.path)
    assert tokenizer.chat_template == load_tokenizer("tiny").chat_template
    base = load_model("tiny").eval()
    plain = logits(base, tokenizer)
    adapted = PeftModel.from_pretrained(base, trained_run / "adapter").eval()
    assert torch.allclose(logits(merged, tokenizer), logits(adapted, tokenizer), atol=1e-4)
    assert not torch.allclose(plain, logits(merged, tokenizer), atol=1e-2)


def test_an_exported_adapter_can_be_evaluated(trained_run: Path, tmp_path: Path) -> None:
    done = export(trained_run, tmp_path / "adapter")
    assert done.kind == "adapter"
    assert str(done.base).endswith("tiny_model")
    names = {file.name for file in done.path.iterdir()}
    assert {"adapter_config.json", "adapter_model.safetensors", "tokenizer.json"} <= names
    assert "training_args.bin" not in names
    plan = plan_evaluation(**TINY | {"adapter": str(done.path), "problems": 2})
    assert plan.adapter_digest == plan_evaluation(adapter=str(trained_run)).adapter_digest


def test_an_export_leaves_nothing_half_written(trained_run: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no such folder"):
        export(trained_run, tmp_path / "out", merged=True, model="./missing/tiny_model")
    with pytest.raises(ModelError, match="--other-base"):
        export(trained_run, tmp_path / "out", merged=True, model="Qwen/Qwen2.5-0.5B")
    with pytest.raises(ModelError, match="neither an adapter"):
        export(tmp_path, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").touch()
    with pytest.raises(RunDirectoryError, match="exists already"):
        export(trained_run, tmp_path / "out")


def test_sampling_one_problem_scores_its_completions_as_a_group() -> None:
    from reasonenv.evaluation import Sampling, sample_problem
    from reasonenv.evaluation.backends.hf import TransformersBackend

    env = reasonenv.make(
        "reasonenv/Arithmetic-v0",
        split="test",
        layout={"reasoning": None, "instruction": ""},
        reward="Correct() + 0.5 * ShortestCorrect()",
    )
    sampled = sample_problem(
        TransformersBackend("tiny"), env, env.problems[1], Sampling(n=6, max_tokens=8)
    )
    assert len(sampled.judged) == len(sampled.scores) == 6
    right = [one.verdict.correct for one in sampled.judged]
    assert list(sampled.scores.solved) == [float(bool(r)) for r in right]
    assert sampled.asked.text.startswith("<|user|>")

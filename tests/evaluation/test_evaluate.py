"""Evaluations of the embedded model: what they leave behind, and how they go on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import reasonenv
from reasonenv import Problem, Status, Verdict
from reasonenv.errors import (
    DataError,
    EvaluationError,
    ModelError,
    NoChatTemplateError,
    RunDirectoryError,
)
from reasonenv.evaluation import (
    Benchmark,
    EvaluationPlan,
    Sampling,
    evaluate,
    make_backend,
    open_run,
    plan_evaluation,
)
from reasonenv.evaluation.backends.hf import TransformersBackend
from reasonenv.evaluation.plan import default_out
from reasonenv.evaluation.tables import results_markdown
from reasonenv.models.loading import tiny_path

from .conftest import LAYOUT, TINY, TRAINED_ARGS


def parts(run: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in (run / "completions" / "Arithmetic").glob("part-*")}


def untimed(run: Path) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if k != "seconds"} for row in open_run(run).rows()]


def again(run: Path, **changes: Any) -> dict[str, Any]:
    def never(plan: Any) -> Any:
        raise AssertionError("nothing is missing, so no model is needed")

    return evaluate(plan_evaluation(**TINY | changes), run, make_backend=never)


def test_an_evaluation_stores_every_completion_with_its_verdict(tiny_evaluation: Path) -> None:
    rows = list(open_run(tiny_evaluation).rows())
    assert len(rows) == 30
    assert {(r["problem_id"], r["sample"]) for r in rows} == {
        (r["problem_id"], s) for r in rows for s in range(3)
    }
    env = reasonenv.make(TINY["envs"][0], split="test", **LAYOUT)
    for row in rows:
        assert row["prompt"].startswith("<|user|>")
        problem = env.problems.find(row["problem_id"])
        assert row["status"] == env.judge_one(problem, row["completion"]).status
        assert row["solved"] == float(row["status"] == "correct")
    results = json.loads((tiny_evaluation / "results.json").read_text())
    figures = results["benchmarks"]["Arithmetic"]
    share = sum(row["solved"] for row in rows) / 30
    assert figures["accuracy"]["value"] == pytest.approx(share)
    assert figures["accuracy"]["low"] < share < figures["accuracy"]["high"]
    assert list(figures["pass"]) == list(figures["maj"]) == ["1", "2", "3"]


def test_the_prompt_and_the_template_are_printed_with_the_result(tiny_evaluation: Path) -> None:
    results = json.loads((tiny_evaluation / "results.json").read_text())
    text = results_markdown(results)
    prompt = results["benchmarks"]["Arithmetic"]["prompt"]
    assert prompt.startswith("<|user|>")
    assert prompt in text
    assert "Template: chat." in text
    assert "temperature 1, at most 8 tokens, seed 0" in text


def test_a_finished_evaluation_needs_no_model(tiny_evaluation: Path) -> None:
    before = (tiny_evaluation / "results.json").read_text()
    again(tiny_evaluation)
    assert (tiny_evaluation / "results.json").read_text() == before


def test_an_evaluation_killed_in_the_middle_goes_on_to_the_same_completions(
    tiny_evaluation: Path, tmp_path: Path
) -> None:
    out = tmp_path / "killed"
    program = """
import sys, time
from reasonenv.evaluation import evaluate, make_backend, plan_evaluation
from tests.evaluation.conftest import TINY

def slow(plan):
    backend = make_backend(plan)
    sample = backend.sample
    def slowed(*args):
        time.sleep(0.7)
        return sample(*args)
    backend.sample = slowed
    return backend

evaluate(plan_evaluation(**TINY), sys.argv[1], make_backend=slow)
"""
    root = Path(__file__).parents[2]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), *sys.path])}
    child = subprocess.Popen([sys.executable, "-c", program, str(out)], env=env, cwd=root)
    deadline = time.monotonic() + 120
    while not list(out.glob("completions/*/part-00001.jsonl")):
        assert child.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    child.send_signal(signal.SIGKILL)
    child.wait()
    kept = parts(out)
    assert 0 < len(kept) < 4
    evaluate(plan_evaluation(**TINY), out, make_backend=make_backend)
    assert untimed(out) == untimed(tiny_evaluation)
    assert {name: parts(out)[name] for name in kept} == kept


def test_a_damaged_part_is_told_and_drawn_anew_and_the_others_stay(
    tiny_evaluation: Path, tmp_path: Path
) -> None:
    import shutil

    out = tmp_path / "damaged"
    shutil.copytree(tiny_evaluation, out)
    folder = out / "completions" / "Arithmetic"
    whole = (folder / "part-00001.jsonl").read_bytes()
    (folder / "part-00001.jsonl").write_bytes(whole[: len(whole) // 2] + b"\xff\xfe\n{}\n")
    (folder / "part-00003.jsonl").unlink()
    run = open_run(out)
    some = list(run.rows())
    assert 8 + 2 < len(some) < 30
    assert any("part-00001" in said and "damaged" in said for said in run.damage)
    results = evaluate(plan_evaluation(**TINY), out, make_backend=make_backend)
    assert any("part-00001" in note for note in results["notes"])
    assert untimed(out) == untimed(tiny_evaluation)


def test_another_plan_does_not_mix_with_what_is_there(tiny_evaluation: Path) -> None:
    with pytest.raises(RunDirectoryError, match=r"temperature 1.0 there, 0.5 asked"):
        again(tiny_evaluation, temperature=0.5)
    with pytest.raises(RunDirectoryError, match="something else is there"):
        again(tiny_evaluation / "completions")


def test_the_same_plan_has_the_same_directory_and_another_one_has_not() -> None:
    plan = plan_evaluation(**TINY)
    assert default_out(plan) == default_out(plan_evaluation(**TINY))
    assert default_out(plan) != default_out(plan_evaluation(**TINY | {"seed": 1}))


def test_padding_and_batches_do_not_change_what_is_said_greedily() -> None:
    env = reasonenv.make("reasonenv/Arithmetic-v0", split="test", **LAYOUT)
    longer = reasonenv.make(
        "reasonenv/Arithmetic-v0", split="test", options={"digits": 4}, **LAYOUT
    )
    backend = TransformersBackend("tiny")
    asked = [backend.ask(e, e.problems[i]) for i in range(4) for e in (env, longer)]
    greedy = Sampling(temperature=0, max_tokens=8)
    together = backend.sample(asked, greedy, range(8))
    alone = [backend.sample([one], greedy, [0])[0] for one in asked]
    assert together == alone
    assert together[0].n_tokens in (5, 6)
    assert not together[0].truncated
    cut = backend.sample(asked[:1], Sampling(temperature=0, max_tokens=2), [0])[0]
    assert cut.truncated
    assert cut.n_tokens == 2


def test_a_models_own_generation_settings_are_not_used(tmp_path: Path) -> None:
    import shutil

    folder = tmp_path / "tiny_model"
    shutil.copytree(tiny_path(), folder)
    own = json.loads((folder / "generation_config.json").read_text())
    own |= {"repetition_penalty": 50.0, "do_sample": True, "temperature": 9.0, "top_k": 1}
    (folder / "generation_config.json").write_text(json.dumps(own))
    env = reasonenv.make("reasonenv/Arithmetic-v0", split="test", **LAYOUT)
    problems = [env.problems[i] for i in range(8)]
    said = []
    for model in ("tiny", str(folder)):
        backend = TransformersBackend(model)
        asked = [backend.ask(env, problem) for problem in problems]
        said.append(
            [
                backend.sample(asked, Sampling(max_tokens=8, temperature=t), range(8))
                for t in (0.0, 1.0)
            ]
        )
    assert said[0] == said[1]


def test_a_trained_run_is_evaluated_on_its_own_prompts(trained_run: Path, tmp_path: Path) -> None:
    plan = plan_evaluation(adapter=str(trained_run), problems=6, n=2)
    assert plan.model == "tiny"
    assert plan.benchmarks[0].env == "reasonenv/Arithmetic-v0"
    assert plan.benchmarks[0].env_args == TRAINED_ARGS
    assert (plan.temperature, plan.max_tokens, plan.template) == (1.0, 8, "chat")
    results = evaluate(plan, tmp_path / "adapted", make_backend=make_backend)
    assert "<answer>" not in results["benchmarks"]["Arithmetic"]["prompt"]
    base = plan_evaluation(prompts_of=str(trained_run), problems=6, n=2)
    evaluate(base, tmp_path / "base", make_backend=make_backend)
    said = [[r["completion"] for r in open_run(tmp_path / n).rows()] for n in ("adapted", "base")]
    assert len(said[0]) == len(said[1]) == 12
    assert said[0] != said[1]  # the adapter is in use


def test_completions_whose_checker_failed_are_judged_again(tmp_path: Path) -> None:
    calls = []

    class Flaky:
        concurrency = 1

        def __call__(self, problem: Problem, completion: str) -> Verdict:
            calls.append(problem.id)
            if calls.count(problem.id) == 1:
                raise OSError("the checker's disk was full")
            if problem.id == "p0":
                return Verdict(Status.CHECKER_TIMEOUT)
            return Verdict(Status.CORRECT, 1.0, "1")

    sums = [Problem(f"{i}+1=", str(i + 1), id=f"p{i}") for i in range(4)]
    reasonenv.register("evaluated/Flaky-v0", problems=sums, judge=Flaky())
    plan = plan_evaluation(model="tiny", envs=["evaluated/Flaky-v0"], max_tokens=2, temperature=1.0)
    figures = evaluate(plan, tmp_path / "flaky", make_backend=make_backend)["benchmarks"]["Flaky"]
    assert figures["statuses"] == {"correct": 3, "checker_timeout": 1}
    assert (figures["accuracy"]["value"], figures["accuracy"]["value_high"]) == (0.75, 1.0)
    text = (tmp_path / "flaky" / "results.json").read_text()
    assert "0.75" in text
    shown = results_markdown(json.loads(text))
    assert "75.0 to 100.0" in shown
    assert "could not be judged" in shown


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"model": "./no/such/model"}, ModelError, "no such folder"),
        ({"model": None}, EvaluationError, "which model"),
        ({"envs": []}, EvaluationError, "on what"),
        ({"suite": "local"}, EvaluationError, "not both"),
        ({"temperature": 0.0}, EvaluationError, "equal completions"),
        ({"n": 0}, EvaluationError, "at least 1"),
        ({"top_p": 0.0}, EvaluationError, "top_p"),
        ({"max_tokens": 0}, EvaluationError, "max_tokens"),
        ({"backend": "vlm"}, EvaluationError, "backend"),
        ({"backend": "server"}, EvaluationError, "address"),
        ({"adapter": "no/such/run"}, ModelError, "no such folder"),
        ({"prompts_of": "no/such/run"}, EvaluationError, "no training run"),
        ({"envs": ["a", "b"], "data": "x.jsonl"}, EvaluationError, "one --env"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_loaded(
    changes: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        plan_evaluation(**TINY | changes)


def test_environments_of_one_name_are_kept_apart() -> None:
    twice = plan_evaluation(**TINY | {"envs": ["a/Sums-v0", "b/Sums-v0"]})
    assert [one.name for one in twice.benchmarks] == ["a/Sums-v0", "b/Sums-v0"]
    assert len({one.folder for one in twice.benchmarks}) == 2
    with pytest.raises(EvaluationError, match="both be kept as a_b"):
        EvaluationPlan.make(
            model="m", benchmarks=[Benchmark(env="x", name=name) for name in ("a/b", "a b")]
        )


def test_an_empty_problem_set_is_told(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("\n")
    plan = plan_evaluation(**TINY | {"data": str(empty)})
    with pytest.raises(DataError, match="no problem"):
        evaluate(plan, tmp_path / "out", make_backend=make_backend)
    assert not (tmp_path / "out").exists()


def test_arguments_that_an_environment_refuses_are_told(tmp_path: Path) -> None:
    plan = plan_evaluation(**TINY | {"env_args": {"layuot": {}}})
    with pytest.raises(EvaluationError, match="layuot"):
        evaluate(plan, tmp_path / "out", make_backend=make_backend)


def test_a_model_without_a_chat_template_needs_plain_prompts(tmp_path: Path) -> None:
    import shutil

    folder = tmp_path / "bare"
    shutil.copytree(tiny_path(), folder)
    (folder / "chat_template.jinja").unlink()
    plan = plan_evaluation(**TINY | {"model": str(folder)})
    with pytest.raises(NoChatTemplateError, match="plain"):
        evaluate(plan, tmp_path / "chat", make_backend=make_backend)
    plain = plan_evaluation(**TINY | {"model": str(folder), "template": "plain", "problems": 2})
    results = evaluate(plain, tmp_path / "plain", make_backend=make_backend)
    prompt = results["benchmarks"]["Arithmetic"]["prompt"]
    assert prompt.endswith("=\n")
    assert "<|user|>" not in prompt


def test_a_run_without_lora_is_evaluated_as_the_whole_model_that_it_is(tmp_path: Path) -> None:
    import shutil

    from reasonenv.models.export import export

    shutil.copytree(tiny_path(), tmp_path / "run" / "adapter")
    plan = plan_evaluation(**TINY | {"adapter": str(tmp_path / "run"), "problems": 2})
    results = evaluate(plan, tmp_path / "out", make_backend=make_backend)
    assert results["benchmarks"]["Arithmetic"]["completions"] == 6
    done = export(tmp_path / "run", tmp_path / "exported", merged=True)
    assert (done.kind, done.base) == ("model", None)
    assert (done.path / "model.safetensors").is_file()


def test_an_adapter_of_another_base_is_refused(trained_run: Path, tmp_path: Path) -> None:
    import shutil

    other = tmp_path / "other"
    shutil.copytree(tiny_path(), other)
    with pytest.raises(ModelError, match=r"was trained on .*tiny_model.*--other-base"):
        plan_evaluation(**TINY | {"model": str(other), "adapter": str(trained_run)})
    plan_evaluation(**TINY | {"model": str(other), "adapter": str(trained_run), "other_base": True})


@pytest.mark.parametrize("change", ["deeper", "shallower", "narrower"])
def test_an_adapter_does_not_go_onto_a_model_of_another_shape(
    trained_run: Path, tmp_path: Path, change: str
) -> None:
    import shutil

    from transformers import AutoConfig, AutoModelForCausalLM

    other, adapter = tmp_path / "tiny_model", tmp_path / "adapter"
    shutil.copytree(tiny_path(), other)
    shutil.copytree(trained_run / "adapter", adapter)
    config = AutoConfig.from_pretrained(other)
    if change == "narrower":
        config.intermediate_size = 96
    else:
        layers = 3 if change == "deeper" else 1
        config.num_hidden_layers, config.layer_types = layers, config.layer_types[:1] * layers
        # As a recipe that names kinds of modules leaves it, not each module of each layer.
        file = adapter / "adapter_config.json"
        fields = json.loads(file.read_text())
        fields["target_modules"] = sorted({n.split(".")[-1] for n in fields["target_modules"]})
        file.write_text(json.dumps(fields))
    AutoModelForCausalLM.from_config(config).save_pretrained(other)
    with pytest.raises(ModelError, match=r"does not fit|another shape"):
        TransformersBackend(str(other), adapter=adapter)


def test_a_prompt_that_leaves_no_room_is_told_with_what_fits(tmp_path: Path) -> None:
    plan = plan_evaluation(**TINY | {"max_tokens": 5000})
    from reasonenv.errors import BackendError

    with pytest.raises(BackendError, match=r"--max-tokens to at most 10\d\d"):
        evaluate(plan, tmp_path / "out", make_backend=make_backend)

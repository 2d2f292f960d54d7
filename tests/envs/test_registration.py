"""Registering environments, and finding them by what people type."""

import importlib
import json
import os
import textwrap

import gymnasium
import pytest
from env_parts import SUMS, NeverRight, Sums, Tagged, by_split

from reasonenv import MathEnv, Problem, ReasoningEnv
from reasonenv.envs import catalogue, make, register, resolve
from reasonenv.errors import DataError, RegistrationError, UnknownEnvError

FILE = """
    import reasonenv
    from reasonenv import Problem, ReasoningEnv, Status, Verdict

    class Judge:
        def __call__(self, problem, completion):
            return Verdict(Status.CORRECT, 1.0) if problem.answer in completion else Verdict(
                Status.INCORRECT)

    def problems(split):
        return [Problem("1+1=", "2"), Problem("2+2=", "4")]

    class Sums(ReasoningEnv):
        def load_problems(self, split, data):
            return problems(split)
        def make_judge(self):
            return Judge()

    reasonenv.register("acme/Class-v0", Sums, reward="Correct()")
    reasonenv.register("acme/Call-v0", problems=problems, judge=Judge(), max_turns=2)
    reasonenv.register("acme/Lambda-v0", problems=lambda split: problems(split), judge=Judge())
    reasonenv.register("acme/List-v0", problems=[Problem("1+1=", "2")])
"""


@pytest.fixture
def sums_file(tmp_path):
    file = tmp_path / "my_sums.py"
    file.write_text(textwrap.dedent(FILE))
    return file


# One class, one call


def test_a_class_is_registered_with_what_it_says_of_itself():
    register("acme/Sums-v0", Sums, source="mine", licence="MIT")
    info = next(i for i in catalogue() if i.id == "acme/Sums-v0")
    assert (info.kind, info.description) == ("sums", "Doubles of small numbers.")
    assert (info.source, info.licence) == ("mine", "MIT")
    env = gymnasium.make("acme/Sums-v0", split="test", max_turns=2)
    assert env.unwrapped.max_turns == 2
    assert env.reset(seed=0)[1]["problem_id"] in {p.id for p in SUMS[20:]}


def test_problems_and_a_judge_are_registered_with_one_call():
    register("acme/Call-v0", problems=by_split, judge=Tagged(), reward="2.0 * Correct()")
    env = make("acme/Call-v0")
    assert isinstance(env, ReasoningEnv)
    assert isinstance(env.judge_one, Tagged)
    assert len(env.problems) == 20
    assert len(make("acme/Call-v0", split="test").problems) == 10
    assert repr(env.reward) == "2.0 * Correct()"


def test_problems_without_a_judge_are_judged_as_mathematics():
    register("acme/Maths-v0", problems=[Problem("1/2+1/4=", "3/4")])
    env = make("acme/Maths-v0")
    assert isinstance(env, MathEnv)
    env.reset(seed=0)
    assert env.step(env.layout.render("0.75", "x"))[4]["verdict"].correct


@pytest.mark.parametrize("judge", [None, Tagged()])
def test_problems_may_be_a_name_of_the_catalogue(judge):
    register("acme/Named-v0", problems="arithmetic", judge=judge, size=50)
    env = make("acme/Named-v0", split="test")
    assert len(env.problems) == 50
    assert env.problems.split == "test"
    env.reset(seed=0)
    assert env.step(env.gold_completion(env._problem))[1] == pytest.approx(1.1)


def test_data_takes_the_place_of_the_problems(tmp_path):
    file = tmp_path / "d.jsonl"
    file.write_text(json.dumps({"question": "3+3=", "answer": "6"}) + "\n")
    register("acme/Data-v0", problems=by_split, judge=Tagged())
    assert [p.prompt for p in make("acme/Data-v0", data=str(file)).problems] == ["3+3="]
    assert len(make("acme/Data-v0", data=None).problems) == 20
    with pytest.raises(DataError, match="there is no such file"):
        make("acme/Data-v0", data=str(tmp_path / "nope.jsonl"))


def test_data_and_split_of_the_registration_hold_unless_others_are_given(tmp_path):
    file = tmp_path / "d.jsonl"
    file.write_text(json.dumps({"question": "3+3=", "answer": "6"}) + "\n")
    register("acme/Own-v0", MathEnv, data=str(file), split="test")
    env = make("acme/Own-v0", data=None)
    assert [p.prompt for p in env.problems] == ["3+3="]
    assert env.split == "test"


# Ids


@pytest.mark.parametrize(
    "id", ["", "acme/", "a b/C-v0", "acme/Sums v0", "acme:x/Sums-v0", "a/b/C-v0", 5, None, "é/ü!"]
)
def test_what_is_no_id_is_refused(id):
    with pytest.raises(RegistrationError, match="no environment id: write namespace/Name-v0"):
        register(id, Sums)


def test_nothing_to_make_an_environment_of_is_refused():
    with pytest.raises(RegistrationError, match="give a class, or problems="):
        register("acme/Nothing-v0")
    with pytest.raises(RegistrationError, match="give a class, or problems="):
        register("acme/Nothing-v0", judge=Tagged())


def test_an_unversioned_id_beside_a_versioned_one_is_refused():
    register("acme/Sums-v0", Sums)
    with pytest.raises(RegistrationError, match="cannot be registered"):
        register("acme/Sums", Sums)


@pytest.mark.parametrize(
    "again",
    [
        {"entry_point": ReasoningEnv, "problems": SUMS},
        {"problems": SUMS[:5], "judge": Tagged()},
        {"problems": SUMS, "judge": NeverRight()},
        {"problems": SUMS, "judge": Tagged(concurrency=2)},
        {"problems": SUMS, "judge": Tagged(), "max_turns": 2},
        {"problems": by_split, "judge": Tagged()},
        {"problems": lambda split: SUMS, "judge": Tagged()},
    ],
    ids=["class", "problems", "judge", "judge's state", "arguments", "function", "lambda"],
)
def test_an_id_that_stands_for_something_else_already_is_refused(again):
    register("acme/Twice-v0", problems=SUMS, judge=Tagged())
    with pytest.raises(RegistrationError, match="acme/Twice-v0 is registered already"):
        register("acme/Twice-v0", **again)
    assert make("acme/Twice-v0").problems[5] == SUMS[5]


def test_the_same_registered_again_is_no_error():
    for _ in range(2):
        register("acme/One-v0", Sums, max_turns=2)
        register("acme/Two-v0", problems=list(SUMS), judge=Tagged())
        register("acme/Three-v0", problems=lambda split: SUMS)
        register("acme/Four-v0", "env_parts:Sums")


# ENV arguments


def test_a_file_registers_its_environments(sums_file, monkeypatch):
    for id in ("Class", "Call", "Lambda", "List"):
        env = make(f"{sums_file}:acme/{id}-v0")
        env.reset(seed=0)
        assert env.step(env.gold_completion(env._problem))[2]
    monkeypatch.chdir(sums_file.parent)
    assert resolve("my_sums.py:acme/Class-v0") == "acme/Class-v0"
    assert resolve("./my_sums.py:acme/Class-v0") == "acme/Class-v0"


def test_one_file_may_be_imported_as_file_as_module_and_anew(sums_file, monkeypatch):
    monkeypatch.syspath_prepend(str(sums_file.parent))
    first = make(f"{sums_file}:acme/Class-v0")
    second = make("my_sums:acme/Class-v0")
    assert type(first) is not type(second)
    import my_sums

    sums_file.write_text(sums_file.read_text().replace("2+2=", "3+3=") + "\n")
    os.utime(sums_file, (0, 0))
    importlib.reload(my_sums)
    assert make("acme/Class-v0").problems[1].prompt == "3+3="  # the newest counts


def test_a_script_may_name_itself_as_its_file(sums_file, fresh):
    sums_file.write_text(
        sums_file.read_text()
        + "if __name__ == '__main__':\n"
        + "    print(len(reasonenv.make(f'{__file__}:acme/Call-v0').problems))"
    )
    assert fresh(f"import runpy; runpy.run_path({str(sums_file)!r}, run_name='__main__')") == "2"


def test_the_module_form_of_gymnasium_works_for_ones_own_module(sums_file, fresh):
    code = "import gymnasium; print(gymnasium.make('my_sums:acme/Class-v0').reset(seed=0)[0][:2])"
    assert fresh(code, sums_file.parent) in ("1+", "2+")


def test_an_unknown_id_names_the_nearest():
    with pytest.raises(UnknownEnvError, match="did you mean `reasonenv/GSM8K-v0`"):
        make("reasonenv/GSMK8-v0")
    with pytest.raises(UnknownEnvError, match="did you mean `reasonenv/GSM8K-v0`"):
        make("reasonenv/gsm8k-v0")
    with pytest.raises(UnknownEnvError, match=r"registered: .*reasonenv/Arithmetic-v0"):
        make("zzz")


def test_an_id_that_a_file_or_module_does_not_register_is_said(sums_file):
    with pytest.raises(UnknownEnvError, match=r"after importing .*my_sums.py; did you mean `acme/"):
        make(f"{sums_file}:acme/Clas-v0")
    with pytest.raises(UnknownEnvError, match="after importing json"):
        make("json:acme/Nope-v0")


def test_a_file_without_an_id_says_how_to_write_it(sums_file):
    with pytest.raises(UnknownEnvError, match=r"write .*my_sums.py:namespace/Name-v0"):
        make(str(sums_file))


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("def broken(:", "SyntaxError"),
        ("1 / 0", "ZeroDivisionError"),
        ("import no_such_module", "no_such_module"),
        ("import reasonenv; reasonenv.register('a b', problems=[])", "no environment id"),
        ("raise ValueError('so')", "ValueError: so"),
    ],
)
def test_a_broken_file_or_module_is_a_registration_error_each_time(
    tmp_path, monkeypatch, body, says
):
    name = f"broken_{abs(hash(body))}"
    file = tmp_path / f"{name}.py"
    file.write_text(body)
    monkeypatch.syspath_prepend(str(tmp_path))
    for env in (f"{file}:acme/X-v0", f"{name}:acme/X-v0") * 2:
        with pytest.raises(RegistrationError, match=says):
            make(env)


def test_a_missing_file_or_module_is_a_registration_error(tmp_path):
    with pytest.raises(RegistrationError, match=r"nope.py: there is no such file"):
        make(f"{tmp_path}/nope.py:acme/X-v0")
    with pytest.raises(RegistrationError, match="cannot import the module 'no_such'"):
        make("no_such:acme/X-v0")
    folder = tmp_path / "folder.py"
    folder.mkdir()
    with pytest.raises(RegistrationError, match="importing it failed"):
        make(f"{folder}:acme/X-v0")


@pytest.mark.parametrize("point", ["no_such_module:X", "env_parts:Nope", "env_parts"])
def test_an_entry_point_that_cannot_be_imported_is_a_registration_error(point):
    register("acme/Lost-v0", point)
    with pytest.raises(RegistrationError, match=f"its entry point {point} cannot be imported"):
        make("acme/Lost-v0")


def test_an_environment_of_somebody_else_is_refused():
    with pytest.raises(RegistrationError, match="CartPoleEnv, not a reasonenv environment"):
        make("CartPole-v1", split="test")


# Plug-ins


@pytest.fixture
def plugin(tmp_path):
    """Install a fake distribution: make(entry points, {module: source}) -> its folder."""

    def install(points, modules):
        info = tmp_path / "acme_envs-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-envs\nVersion: 1.0\n")
        lines = "\n".join(f"{name} = {value}" for name, value in points.items())
        (info / "entry_points.txt").write_text(f"[reasonenv.envs]\n{lines}\n")
        for name, source in modules.items():
            (tmp_path / f"{name}.py").write_text(textwrap.dedent(source))
        return tmp_path

    return install


def test_an_installed_package_publishes_an_environment_by_its_id(plugin, fresh):
    folder = plugin(
        {"acme/Class-v0": "acme_envs:Sums"}, {"acme_envs": FILE.split("reasonenv.reg")[0]}
    )
    code = (
        "import reasonenv, sys, gymnasium; from reasonenv.envs import catalogue;"
        "assert 'acme_envs' not in sys.modules;"
        "print([i.source for i in catalogue() if i.id == 'acme/Class-v0'],"
        "len(reasonenv.make('acme/Class-v0').problems),"
        "len(gymnasium.make_vec('acme/Class-v0', num_envs=2).reset(seed=0)[0]))"
    )
    assert fresh(code, folder) == "['acme-envs'] 2 2"


def test_an_installed_package_may_name_a_module_that_registers(plugin, fresh):
    folder = plugin({"acme": "acme_envs"}, {"acme_envs": FILE})
    code = (
        "import reasonenv, sys;"
        "reasonenv.make('reasonenv/Arithmetic-v0'); assert 'acme_envs' not in sys.modules;"
        "print(len(reasonenv.make('acme/Call-v0').problems))"
    )
    assert fresh(code, folder) == "2"
    assert "acme/List-v0" in fresh(
        "from reasonenv.envs import catalogue; print(*[i.id for i in catalogue()])", folder
    )


def test_a_broken_package_stops_neither_import_nor_list_and_is_named(plugin, fresh):
    folder = plugin(
        {"acme/bad id": "acme_envs:Sums", "acme": "acme_envs", "acme/Lost-v0": "acme_envs"},
        {"acme_envs": "1 / 0"},
    )
    code = (
        "import warnings; warnings.simplefilter('always');"
        "import io, contextlib; said = io.StringIO();\n"
        "with contextlib.redirect_stderr(said):\n"
        "    import reasonenv; from reasonenv.envs import catalogue\n"
        "    ids = [i.id for i in catalogue()]\n"
        "print('reasonenv/GSM8K-v0' in ids, 'acme/Lost-v0' in ids)\n"
        "print(said.getvalue())"
    )
    said = fresh(code, folder)
    assert said.startswith("True True")
    assert "acme/bad id = acme_envs:Sums of the installed package acme-envs is left out" in said
    assert "acme = acme_envs of the installed package acme-envs cannot be imported" in said
    failed = fresh("import reasonenv; reasonenv.make('reasonenv/GSMK8-v0')", folder, fails=True)
    assert "did you mean `reasonenv/GSM8K-v0`" in failed
    assert "ZeroDivisionError" in failed

r"""How right and how fast choice extraction is, beside other extractors from PyPI, in one run.

    python benchmarks/choice_extraction.py [--bench ../shared/bench/choice] [--peers PYTHON]

Peers are no requirement of the project: install those wanted in a virtual environment of their own
and give its interpreter; what is missing is said and left out. Their extractors import with few of
their requirements:

    python -m venv peers
    peers/bin/pip install --no-deps lm_eval evalscope opencompass inspect_ai lighteval
    peers/bin/pip install numpy pydantic ...   # what the import of each extractor then asks for

Every extractor runs in a process of its own (`choice_peers.py`), so the pipe and the start cost
nothing: time is CPU time around the extraction alone, the best of the blocks.

* Right: agreement with the labels of dev.jsonl and real_dev.jsonl. "Wrong letter" is a letter where
  the label is another one or none: what a reward would be paid for where it is the gold.
* Fast: replies of about 1,500 characters: ordinary reasoning, then an ending as models write them.
  Options differ from reply to reply. Then real_dev.jsonl as it is.
* Strings of a megabyte, each of one piece again and again: ours alone, the slowest of them.

Printed is Markdown for benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from choice_peers import OURS, PATTERNS, PEERS, Row

ROOT = Path(__file__).resolve().parents[1]
SERVER = Path(__file__).with_name("choice_peers.py")
CHARS = 1500
REPLIES = 1000
BLOCKS = 5
MEGABYTE = 1_000_000


class Server:
    """An extractor in a process of its own."""

    def __init__(self, name: str, python: str) -> None:
        environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
        if name in (OURS, *PATTERNS):
            python = sys.executable
            environment["PYTHONPATH"] = str(ROOT / "src")
        else:
            environment.pop("PYTHONPATH", None)
        self.process = subprocess.Popen(
            [python, str(SERVER), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            text=True,
        )
        self.missing = self._read().get("missing", "")

    def ask(self, rows: Sequence[Row], blocks: int = 1) -> dict[str, Any]:
        """Return the letters and the CPU seconds of the fastest block."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"rows": rows, "blocks": blocks}) + "\n")
        self.process.stdin.flush()
        return self._read()

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        return dict(json.loads(line)) if line else {"missing": "it died"}

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()


def load(path: Path) -> list[dict[str, Any]]:
    """Return the cases of a table; one with "build" has its completion expanded."""
    cases = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    for case in cases:
        if case.get("build"):
            case["completion"] = "".join(piece * times for piece, times in case["build"])
        case["expected"] = case.get("expected", case.get("label"))
    return cases


def scores(cases: Sequence[dict[str, Any]], letters: Sequence[str | None]) -> dict[str, Any]:
    """Return the shares that are right, of all, of those with a letter and of those without."""
    pairs = [(case["expected"], letter) for case, letter in zip(cases, letters, strict=True)]
    plain = [
        (case["expected"], letter)
        for case, letter in zip(cases, letters, strict=True)
        if not case.get("policy")
    ]
    none = [letter for expected, letter in pairs if expected is None]
    some = [(expected, letter) for expected, letter in pairs if expected is not None]

    def share(found: Sequence[Any]) -> float:
        return sum(expected == letter for expected, letter in found) / len(found)

    return {
        "all": share(pairs),
        "without policy": share(plain),
        "letters": share(some),
        "nulls": sum(letter is None for letter in none) / len(none),
        "wrong letters": sum(
            letter is not None and letter != expected for expected, letter in pairs
        ),
    }


SENTENCES = (
    "The question asks which of these fits the description best.",
    "First, note that the passage gives two reasons for the change.",
    "This follows from the definition, since every term is positive.",
    "Dividing both sides by 3 gives 14, and the check by substitution works.",
    "The first one looks plausible, but the units do not agree.",
    "Option A would need a second assumption that is not given.",
    "Under normal pressure water boils at 100 degrees, which matters for the second step.",
    "In the second paragraph the author makes the claim explicit.",
    "A similar argument holds in the other case, where the sign is reversed.",
    "I also considered whether the rate depends on the surface area, and it does.",
    "So the energy is larger in the first case than in the second one.",
    "That rules out the last of them, because it is too small.",
)
ENDINGS = (
    ("The answer is {letter}.", 4),
    ("The answer is ({letter}).", 3),
    ("**Answer: {letter}**", 3),
    ("Answer: {letter}", 4),
    ("The correct answer is {letter}. {text}", 3),
    ("The correct answer is **{letter}) {text}**.", 2),
    ("Therefore, the correct answer is option {letter}.", 2),
    ("Final answer: {letter}", 2),
    ("The final answer is $\\boxed{{{letter}}}$.", 4),
    ("\\boxed{{{letter}}}", 3),
    ("<answer>{letter}</answer>", 4),
    ("<answer>\n{letter}\n</answer>", 3),
    ("{letter}", 1),
    ("So the answer is {text}.", 1),
    ("Thus, {letter} is correct.", 1),
    ("I would go with {letter}.", 1),
    ("This leads to the", 1),
)
"""Ways to end, and how often each comes; the last one is a reply that was cut off."""
WORDS = [
    "stone",
    "river",
    "market",
    "engine",
    "letter",
    "garden",
    "planet",
    "copper",
    "signal",
    "winter",
    "harbour",
    "mirror",
]


def typical(count: int) -> list[tuple[str, list[str]]]:
    """Return so many replies of about 1,500 characters, each with options of its own."""
    rng = random.Random(5)
    endings = [ending for ending, times in ENDINGS for _ in range(times)]
    rows = []
    for _ in range(count):
        options = [f"the {first} {rng.choice(WORDS)}" for first in rng.sample(WORDS, 4)]
        chosen = rng.randrange(4)
        ending = rng.choice(endings).format(letter="ABCD"[chosen], text=options[chosen])
        parts: list[str] = []
        while sum(map(len, parts)) + len(ending) < CHARS:
            parts.append(rng.choice(SENTENCES) + rng.choice((" ", " ", "\n\n")))
        rows.append(("".join(parts).rstrip() + "\n\n" + ending, options))
    return rows


PIECES = [
    "answer is ",
    "Answer: ",
    "Answer: A\n",
    "The answer is B. ",
    "A",
    "A ",
    "AB",
    "A, B, C or D? ",
    "\\boxed{",
    "\\boxed{A}",
    "{",
    "}",
    "((A",
    "*",
    "**A**",
    "_",
    "`",
    "$A$",
    "\n",
    " ",
    "\t",
    "<think>",
    "</think>",
    "<think></think>",
    "<answer>",
    "</answer>",
    "<answer>A</answer>",
    '"answer": "',
    '{"answer": "A"}',
    "A) Sydney\nB) Canberra\n",
    "Sydney ",
    "Canberra",
    "not A ",
    "is correct ",
    "A is correct. ",
    "so B",
    "I choose A ",
    "no, ",
    "wait, B. ",
    "####",
    "#### A\n",
    "~~A~~ ",
    "选A",
    "答案是A。",
    "А",
    "Ａ",
    "Ⓐ",
    "İ",
    "\u200b",
    "é",
    "Ответ: А\n",
    "الإجابة ",
    "उत्तर ",
    "정답은 ",
    "A ✅ ",
    "if the answer is A, then ",
    "some say the answer is A. ",
    "\nQuestion: ",
    "<",
    "im_end",
    ">",
    "</s>",
    "<",
    "\\",
    "\\frac{1}{2}",
    "1,",
    "-----",
    "= ",
    ": ",
    "'",
    "(A) or (B) ",
    "Both A and B ",
    "option 2 ",
    "\x00",
    "x\n",
    "Answer\n------\n",
    "A\nB\n",
    "A. ",
    "I ",
    "the answer would be A if ",
    "]]",
    "50% ",
]


def slowest(server: Server) -> tuple[float, str]:
    """Return the CPU seconds of the slowest string of a megabyte, and its piece."""
    options = ["Sydney", "Canberra", "Melbourne", "Perth"]
    timed = []
    for piece in filter(None, PIECES):
        text = piece * (MEGABYTE // len(piece))
        timed.append((server.ask([(text, options)], blocks=2)["seconds"], piece))
    return max(timed)


def main() -> None:
    """Run everything and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bench", type=Path, default=ROOT.parent / "shared" / "bench" / "choice")
    parser.add_argument("--peers", default=sys.executable, help="interpreter that has the peers")
    arguments = parser.parse_args()
    dev, real = load(arguments.bench / "dev.jsonl"), load(arguments.bench / "real_dev.jsonl")
    short = [case for case in dev if not case.get("build")]
    rows = typical(REPLIES)
    print(
        "| extractor | dev | without policy | letters | nulls | wrong letters | real_dev "
        "| its wrong"
        " letters | typical/s | real_dev/s |\n|---|---|---|---|---|---|---|---|---|---|"
    )
    for name in (OURS, *PEERS, *PATTERNS):
        server = Server(name, arguments.peers)
        if server.missing:
            print(f"| {name} | not installed: {server.missing} |")
            continue
        blocks = BLOCKS if name == OURS else 2
        cases = dev if name == OURS else short  # a megabyte takes some of them minutes
        on_dev = scores(
            cases, server.ask([(c["completion"], c["options"]) for c in cases])["letters"]
        )
        replies = [(c["completion"], c["options"]) for c in real]
        of_real = server.ask(replies, blocks)
        on_real = scores(real, of_real["letters"])
        speed = REPLIES / server.ask(rows, blocks)["seconds"]
        cells = [f"{on_dev[key]:.3f}" for key in ("all", "without policy", "letters", "nulls")]
        cells += [str(on_dev["wrong letters"]), f"{on_real['all']:.3f}"]
        cells += [str(on_real["wrong letters"]), f"{speed:,.0f}"]
        cells.append(f"{len(real) / of_real['seconds']:,.0f}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
        if name == OURS:
            longest, piece = slowest(server)
        server.stop()
    print(f"\nSlowest of {len(PIECES)} strings of 1 MB: {longest * 1000:.0f} ms, of {piece!r}.")
    print(f"Peers are measured on the {len(short)} of {len(dev)} dev cases that are short.")


if __name__ == "__main__":
    main()

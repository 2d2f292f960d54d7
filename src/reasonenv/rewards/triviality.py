"""How much of a program computes its results from its input, and how much is written down.

`worked_share` reads the syntax tree alone: nothing is run. See `Complexity` for the formula and
for what this cannot see.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeGuard

__all__ = ["does_something", "parsed_program", "worked_share"]

MAX_PROGRAM_CHARS = 100_000
"""Longer programs are not looked at: a table of answers, if anything."""

_MAX_ROUNDS = 20  # of the fixed point; each follows one more assignment back to the input

_READERS = frozenset({"input", "open", "stdin", "argv"})  # where a whole program's input comes from
# What turns an input into another form of itself, and works nothing out.
_CONVERTERS = frozenset({"int", "float", "str", "map", "list", "tuple", "repr", "sys"})
_MUTATORS = frozenset(
    ("add", "append", "clear", "extend", "insert", "pop", "remove", "setdefault", "update")
)
_PRINTERS = frozenset({"print", "write", "writelines"})
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Loop = ast.For | ast.AsyncFor | ast.While


def parsed_program(program: str | None) -> ast.Module | None:
    """Return the syntax tree of a program, None where it is none, or too long to be looked at."""
    if program is None or len(program) > MAX_PROGRAM_CHARS:
        return None
    try:
        return ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def does_something(tree: ast.Module) -> bool:
    """Return whether a program holds any statement but `pass`, constants and imports."""
    return any(
        not isinstance(node, ast.Pass | ast.Import | ast.ImportFrom)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant | ast.Name))
        for node in tree.body
    )


def worked_share(tree: ast.Module, free: int = 2, entry_point: str | None = None) -> float:
    """Return w / (w + max(0, h - free)): 0 where nothing is worked out, 1 where all is.

    Args:
        tree: a program.
        free: how many results may be written down without loss, as base cases are.
        entry_point: the function whose results count; all functions' do where there is none of
            that name.
    """
    try:
        counts = _Reading(tree).count(entry_point)
    except RecursionError:  # an expression that nests thousands deep: nobody's work
        return 0.0
    if not counts.worked:
        return 0.0
    return counts.worked / (counts.worked + max(0, counts.written - free))


@dataclass
class _Counts:
    worked: int = 0
    written: int = 0


@dataclass
class _Reading:
    """What the names of a program depend on, and the results that it gives."""

    tree: ast.Module
    from_input: set[str] = field(default_factory=set)
    parameters: frozenset[str] = frozenset()
    written_to: frozenset[str] = frozenset()
    raw: frozenset[str] = frozenset()  # names that hold an input as it came in
    tables: dict[str, ast.expr] = field(default_factory=dict)

    def count(self, entry_point: str | None) -> _Counts:
        """Return how many results are worked out from the input, and how many written down."""
        functions = [n for n in ast.walk(self.tree) if isinstance(n, _Function)]
        for function in functions:
            arguments = function.args
            for argument in (
                *arguments.posonlyargs,
                *arguments.args,
                *arguments.kwonlyargs,
                *filter(None, (arguments.vararg, arguments.kwarg)),
            ):
                self.from_input.add(argument.arg)
        self.parameters = frozenset(self.from_input)
        self.written_to = _written_to(self.tree)
        self.tables = _tables(self.tree)
        self.raw = _raw(self.tree, self.parameters)
        for _ in range(_MAX_ROUNDS):
            before = len(self.from_input)
            for statement, worked, _ in self._statements(self.tree.body):
                self._follow(statement, worked)
            if len(self.from_input) == before:
                break
        counts = _Counts()
        named = [f for f in functions if getattr(f, "name", None) == entry_point]
        for function in named or functions:
            if isinstance(function, ast.Lambda):
                counts.worked += self._depends(function.body)
            else:
                self._count_body(function.body, counts, whole_program=False)
        if not named:
            self._count_body(self.tree.body, counts, whole_program=True)
        return counts

    # What depends on the input

    def _depends(self, node: ast.AST) -> bool:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and (
                inner.id in self.from_input or inner.id in _READERS
            ):
                return True
            if isinstance(inner, ast.Attribute) and inner.attr in _READERS:
                return True
        return False

    def _follow(self, node: ast.stmt, worked: bool) -> None:
        """Mark the names that a statement gives a value from the input, or under its control."""
        targets: list[ast.expr] = []
        source: ast.expr | None = None
        match node:
            case ast.Assign():
                targets, source = node.targets, node.value
            case ast.AnnAssign() | ast.AugAssign():
                targets, source = [node.target], node.value
            case ast.For() | ast.AsyncFor():
                targets, source = [node.target], node.iter
            case ast.With() | ast.AsyncWith():
                targets = [item.optional_vars for item in node.items if item.optional_vars]
                source = node.items[0].context_expr
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name())) as call):
                targets, source = [call.func.value], call  # type: ignore[attr-defined]
            case _:
                return
        if worked or (source is not None and self._depends(source)):
            for target in targets:
                for inner in ast.walk(target):
                    if isinstance(inner, ast.Name):
                        self.from_input.add(inner.id)

    # Where control comes from

    def _statements(
        self, body: list[ast.stmt], worked: bool = False, looked_up: bool = False
    ) -> Iterator[tuple[ast.stmt, bool, bool]]:
        """Yield every statement with whether a condition worked out from the input governs it.

        The third value says whether the nearest condition merely compares an input with a value
        that is written down. Nested functions are not entered; `elif` chains do not recurse.
        """
        stack = [(body, worked, looked_up)]
        while stack:
            block, worked, looked_up = stack.pop()
            for node in block:
                yield node, worked, looked_up
                for inner, governs in self._blocks(node):
                    stack.append(
                        (
                            inner,
                            worked or governs == "worked",
                            governs == "looked up" or (looked_up and governs == ""),
                        )
                    )

    def _blocks(self, node: ast.stmt) -> Iterator[tuple[list[ast.stmt], str]]:
        """Yield the blocks in a statement, and how its condition governs them."""
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.body, ""
            case ast.If():
                governs = self._governs(node.test)
                yield node.body, governs
                yield node.orelse, governs
            case ast.For() | ast.AsyncFor():
                yield node.body, "worked" if self._depends(node.iter) else ""
                yield node.orelse, ""
            case ast.While():
                yield node.body, "worked" if self._depends(node.test) else ""
                yield node.orelse, ""
            case ast.With() | ast.AsyncWith():
                yield node.body, ""
            case ast.Try():
                for block in (node.body, node.orelse, node.finalbody):
                    yield block, ""
                for handler in node.handlers:
                    yield handler.body, ""
            case ast.Match():
                for case in node.cases:
                    plain = isinstance(case.pattern, ast.MatchValue | ast.MatchAs)
                    literal = plain and case.guard is None and self._is_bare(node.subject)
                    worked = self._depends(node.subject) and not literal
                    yield case.body, "worked" if worked else "looked up"

    def _governs(self, test: ast.expr) -> str:
        if not self._depends(test):
            return ""
        return "looked up" if self._looks_up(test) else "worked"

    def _looks_up(self, test: ast.expr) -> bool:
        """Return whether a condition compares bare inputs with values that are written down."""
        match test:
            case ast.BoolOp():
                return all(self._looks_up(value) for value in test.values)
            case ast.UnaryOp(op=ast.Not()):
                return self._looks_up(test.operand)
            case ast.Compare():
                sides = [test.left, *test.comparators]
                equal = all(isinstance(op, ast.Eq | ast.NotEq | ast.In | ast.Is) for op in test.ops)
                bare = all(self._is_bare(side) or not self._depends(side) for side in sides)
                return equal and bare and any(_is_literal(self._resolved(n)) for n in sides)
        return False

    # What is returned

    def _count_body(self, body: list[ast.stmt], counts: _Counts, whole_program: bool) -> None:
        statements = list(self._own(body))
        steers = any(
            (worked and isinstance(node, ast.Return | ast.Raise | ast.Break | ast.Continue))
            or (worked and whole_program and _printed(node) is not None)
            for node, worked, _ in statements
        )
        results = 0
        for node, worked, looked_up in statements:
            values = _printed(node) if whole_program else _returned(node)
            for value in values or ():
                results += 1
                self._count_value(value, counts, worked or steers, looked_up)
        changes = any(self._changes(node) for node, *_ in statements)
        if not results and not whole_program and changes:
            counts.worked += 1  # a function that changes its argument in place

    def _own(self, body: list[ast.stmt]) -> Iterator[tuple[ast.stmt, bool, bool]]:
        """Yield the statements of a body without those of functions and classes in it."""
        inside = {
            id(inner)
            for node in body
            for outer in ast.walk(node)
            if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            for inner in ast.walk(outer)
            if inner is not outer
        }
        for node, worked, looked_up in self._statements(body):
            if id(node) not in inside:
                yield node, worked, looked_up

    def _count_value(
        self, value: ast.expr, counts: _Counts, steered: bool, looked_up: bool
    ) -> None:
        stack = [(value, steered, looked_up)]
        while stack:
            value, steered, looked_up = stack.pop()
            if isinstance(value, ast.IfExp):
                governs = self._governs(value.test)
                inside = steered or governs == "worked"
                looked = governs == "looked up" or (looked_up and governs == "")
                stack += [(value.body, inside, looked), (value.orelse, inside, looked)]
                continue
            entries = self._table_entries(value)
            if entries:
                counts.written += entries
            elif self._depends(value) and not self._echoes(value):
                counts.worked += 1
            elif steered and not looked_up:
                counts.worked += 1  # `return True` behind a condition that is worked out
            else:
                counts.written += 1

    def _echoes(self, value: ast.expr) -> bool:
        """Return whether a value is an argument as it came in."""
        return (
            isinstance(value, ast.Name)
            and value.id in self.parameters
            and value.id not in self.written_to
        )

    def _table_entries(self, value: ast.expr) -> int:
        """Return how many entries a written-down table has that bare inputs look up; 0 for none."""
        match value:
            case ast.Subscript(value=table, slice=key):
                keys = [key]
            case ast.Call(func=ast.Attribute(value=table, attr="get"), args=[_, *_]):
                keys = [value.args[0]]
            case _:
                return 0
        table = self._resolved(table)
        if not (_is_literal(table) and all(self._is_bare(key) for key in keys)):
            return 0
        if isinstance(table, ast.Dict):
            return len(table.keys)
        if isinstance(table, ast.List | ast.Tuple | ast.Set):
            return len(table.elts)
        return 0

    def _resolved(self, node: ast.expr) -> ast.expr:
        """Return the literal that a name stands for, where it is given that value once for all."""
        return self.tables.get(node.id, node) if isinstance(node, ast.Name) else node

    def _is_bare(self, node: ast.expr) -> bool:
        """Return whether an expression is an input as it came in, or a tuple of such."""
        if isinstance(node, ast.Tuple | ast.List):
            return bool(node.elts) and all(self._is_bare(item) for item in node.elts)
        if isinstance(node, ast.Call):  # tuple(xs), str(n) ... make a key of an argument
            named = isinstance(node.func, ast.Name) and node.func.id in _CONVERTERS
            return named and len(node.args) == 1 and self._is_bare(node.args[0])
        return isinstance(node, ast.Name) and node.id in self.raw

    def _changes(self, node: ast.stmt) -> bool:
        match node:
            case ast.Expr(value=ast.Call() as call):
                return self._depends(call)
            case ast.Assign(targets=[ast.Subscript() | ast.Attribute(), *_]):
                return True
            case ast.AugAssign() | ast.Delete():
                return True
        return False


def _raw(tree: ast.Module, parameters: frozenset[str]) -> frozenset[str]:
    """Return the parameters that get no other value, and the names that only read an input."""
    given = Counter(n.id for n in ast.walk(tree) if _is_store(n))
    read: Counter[str] = Counter()
    known = _READERS | _CONVERTERS | parameters
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            inner = list(ast.walk(node.value))
            sources = {n.id for n in inner if isinstance(n, ast.Name)}
            computes = any(
                isinstance(n, ast.BinOp | ast.Compare | ast.comprehension) for n in inner
            )
            if sources and sources <= known and not computes:
                targets = (n for target in node.targets for n in ast.walk(target))
                read.update(n.id for n in targets if _is_store(n))
    untouched = {name for name in parameters if not given[name]}
    return frozenset(untouched | {name for name in read if read[name] == given[name]})


def _is_store(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _tables(tree: ast.Module) -> dict[str, ast.expr]:
    """Return the names that the program gives one literal and never changes."""
    stores: dict[str, int] = {}
    tables: dict[str, ast.expr] = {}
    changed: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                stores[name] = stores.get(name, 0) + 1
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_literal(value):
                tables[name] = value
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if attribute in _MUTATORS:
                changed.add(name)
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
                changed.add(name)
    return {n: v for n, v in tables.items() if stores[n] == 1 and n not in changed}


def _written_to(tree: ast.Module) -> frozenset[str]:
    """Return the names that anything but their definition gives a value, or calls a method of."""
    names = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                names.add(name)
            case ast.Attribute(value=ast.Name(id=name)):
                names.add(name)
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
                names.add(name)
            case ast.Call(args=args):
                names |= {argument.id for argument in args if isinstance(argument, ast.Name)}
    return frozenset(names)


def _is_literal(node: ast.expr) -> bool:
    """Return whether an expression is a value that is written down, with no name in it."""
    return not any(
        isinstance(inner, ast.Name | ast.Call | ast.Attribute) for inner in ast.walk(node)
    )


def _returned(node: ast.stmt) -> list[ast.expr] | None:
    match node:
        case ast.Return(value=ast.expr() as value):
            return [value]
        case ast.Return() | ast.Raise():
            return []
        case ast.Expr(value=ast.Yield(value=ast.expr() as value)):
            return [value]
        case ast.Expr(value=ast.YieldFrom(value=value)):
            return [value]
    return None


def _printed(node: ast.stmt) -> list[ast.expr] | None:
    match node:
        case ast.Expr(value=ast.Call(func=function, args=args)):
            named = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
            if named in _PRINTERS:
                return list(args)
    return None

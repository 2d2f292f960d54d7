"""Terms from functions, at a module's top level as pickling and configs need them."""

from reasonenv.rewards import term


@term(range=(0, 1))
def polite(judged):
    return float("please" in judged.rollout.completion)


@term(range=(-2, 0), name="short")
def brief(judged):
    return -min(len(judged.rollout.completion) / 10, 2)


@term(range=(0, 1))
def leaves_its_range(judged):
    return 1.5


@term(range=(0, 1))
def is_nan(judged):
    return float("nan")


@term(range=(0, 1))
def returns_text(judged):
    return "much"


@term(range=(0, 1))
def returns_nothing(judged):
    return None


def undecorated(judged):
    return 0.0

"""Reasoning environments, shaped rewards and a GRPO learner."""

__version__ = "0.1.0"

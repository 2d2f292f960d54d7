"""Judging programs: extracting one from a completion, and running the problem's tests on it."""

"""Evaluation: what an accuracy measured on samples says, and how sure it is."""

"""Where problems come from: JSONL files, Hugging Face data sets, procedural generators."""

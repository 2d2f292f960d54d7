"""vLLM as the engine that samples completions, kept in step with the adapter that is trained.

TRL merges the adapter into the trainer's base weights at each sync, sends all of them, and takes
the adapter out again. In bfloat16 that drifts the base and loses most of a small adapter by
rounding. Here the base is never written to:

* `adapters`: what of an adapter vLLM can serve, and how it is handed over.
* `generation`: TRL's `VLLMGeneration`, with a sync that sends the adapter alone, under a new name
  each time; for adapters that vLLM cannot serve, merged copies are streamed.
* `client`: the same over HTTP, for a server.
* `probe`: whether the engine really samples from the adapter.
* `checksum`: whether the base is what it was.
* `watch`: what a run does with all of them.
"""

from __future__ import annotations

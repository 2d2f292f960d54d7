"""What samples completions: transformers, vLLM, or a server that speaks OpenAI's protocol.

* `base`: `Backend`, `Asked`, `Sample`: what each of them takes and gives.
* `local`: prompts as token ids, and completions decoded, for the two that run here.
* `hf`, `vllm_engine`, `server`: the three; each loads its library when it is made.
"""

from reasonenv.evaluation.backends.base import Asked, Backend, Sample

__all__ = ["Asked", "Backend", "Sample"]

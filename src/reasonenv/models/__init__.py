"""Language models: where they come from, the prompts they see, and what they said.

* `loading`: the embedded model, a local folder or a hub id; `tiny_model/` is the embedded one.
* `prompts`: a problem as the model sees it, and a completion as the judge should see it.

Shared by the learner and by evaluation; nothing here imports torch before a model is loaded.
"""

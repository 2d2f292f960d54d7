"""The steps by which a program is found in a completion; `checkers.code.extract` joins them.

* `reply`: what of a completion is the reply: no reasoning, no special tokens, the last answer.
* `fences`: fenced and tagged blocks of Markdown.
* `variants`: readings of one block: as it stands, dedented, without REPL prompts ...
* `prose`: code lines amid prose.
* `joining`: what a program needs from the prompt and from other blocks.
* `syntax`, `lexing`: Python as seen by `ast` and by a scanner that also takes broken text.

Nothing here runs a program, and all of it takes time linear in the length of the completion.
"""

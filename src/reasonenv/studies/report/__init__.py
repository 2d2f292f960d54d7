"""A study's report, from its files alone: Markdown, one HTML page, pictures, and plain data.

* `tables`: the figures as tables; `pictures`: curves and differences.
* `pages`: the same sections as Markdown and as HTML.
* `write`: puts a study's together; `search`: that of a search.
"""

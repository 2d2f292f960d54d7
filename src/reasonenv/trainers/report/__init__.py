"""A run's report, made from the run's files alone, as often as one likes.

* `write_report` (`page`): writes `report.md` and the pictures.
* `summary`: the figures that the report shows, as plain data.
* `plots`: the pictures; `markdown`: text that no content can break out of.
"""

from reasonenv.trainers.report.page import write_report
from reasonenv.trainers.report.summary import summary

__all__ = ["summary", "write_report"]

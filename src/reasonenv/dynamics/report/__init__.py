"""The page of pictures about what training did, made from runs' files.

* `write_dynamics` (`page`): one HTML file and the PNG files, a table behind every picture.
* `weights`, `training`, `overtime`, `shift`, `signal`: one kind of picture each.
* `panels`, `style`: what a picture is, and how it looks.
"""

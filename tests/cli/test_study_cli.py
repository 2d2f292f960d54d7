from __future__ import annotations


def test_a_study_of_the_package_says_what_it_would_run(reasonenv_cli):
    said = reasonenv_cli("study", "study/group_size_tiny", "--dry-run")
    assert said.code == 0
    assert "12 runs: 4 arms x 3 seeds" in said.out
    assert "100 steps of 256 completions in groups of 2" in said.out


def test_an_unknown_study_names_the_nearest(reasonenv_cli):
    said = reasonenv_cli("study", "study/group_size_tyni")
    assert said.code == 1
    assert "did you mean `study/group_size_tiny`" in said.err


def test_a_study_without_a_name_lists_them(reasonenv_cli):
    said = reasonenv_cli("study")
    assert said.code == 1
    assert "study/placement_deep" in said.err


def test_the_studys_recipes_are_found_by_folder_and_name(reasonenv_cli):
    said = reasonenv_cli("train", "study/gsm8k", "--dry-run")
    assert said.code == 0
    assert "32 prompts x 4 completions = 128 a generation, on 8 processes" in said.out


def test_refining_what_is_no_run_says_so(reasonenv_cli, tmp_path):
    said = reasonenv_cli("refine", tmp_path)
    assert said.code == 1
    assert "no run is there" in said.err
    assert reasonenv_cli("refine", tmp_path, "--set", "cv=low").code == 1
    assert reasonenv_cli("refine", tmp_path, "--seeds", "a").code == 1

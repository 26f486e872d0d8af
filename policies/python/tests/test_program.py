# SPDX-License-Identifier: GPL-3.0-or-later
import os
import stat
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

import clustersim as cs
from clustersim.program import call_program, find_program, run_program
from small import Scratch, small_tree


def read(results, name="summary"):
    return (results.folder / f"{name}.csv").read_bytes()


class Running(Scratch):
    def plain(self, **keys):
        return cs.Experiment(small_tree(**keys), folder=self.folder)

    def test_a_file_and_an_experiment_give_the_same_bytes(self):
        path = self.experiment.save(self.folder / "file.yaml")
        for threads in (1, 2):
            results = run_program(path, threads=threads, out=self.folder / "by_file")
            for table in ("summary", "compare", "jobs"):
                self.assertEqual(read(results, table), read(self.results, table))

    def test_nothing_is_left_beside_the_experiment(self):
        run_program(self.plain(), out=self.folder / "clean", seeds=1)
        self.assertEqual([p.name for p in self.folder.glob(".*")], [])

    def test_seeds_settings_and_status(self):
        results = run_program(self.plain(), seeds=2, out=self.folder / "two",
                              settings={"workload.jobs": 5})
        self.assertEqual(results.table("summary")["jobs"], [5] * 4)
        self.assertEqual(sorted(set(results.table("summary")["seed"])), [0, 1])

    def test_policies_by_name_keep_their_keys(self):
        results = run_program(self.plain(), policies=["short"], out=self.folder / "only")
        self.assertEqual(results.policies, ["short"])
        whole = run_program(self.plain(), out=self.folder / "whole")
        self.assertEqual(list(results.table("summary")),
                         list(whole.table("summary").where(policy="short")))

    def test_other_policies_replace_those_of_the_experiment(self):
        results = run_program(self.plain(), seeds=1, out=self.folder / "others",
                              policies=["short", "ljf", {"policy": "fcfs", "name": "first"}])
        self.assertEqual(results.policies, ["short", "ljf", "first"])

    def test_a_policy_in_c_is_found_from_the_current_folder(self):
        call_program(["new", "policy", "mine"], folder=self.folder)
        before = os.getcwd()
        (self.folder / "below").mkdir()
        os.chdir(self.folder)
        try:
            experiment = cs.Experiment(small_tree(), folder=self.folder / "below")
            results = run_program(experiment, seeds=1, policies=["fcfs", "./mine.c"],
                                  out=self.folder / "c")
        finally:
            os.chdir(before)
        self.assertEqual(results.policies, ["fcfs", "mine"])
        self.assertEqual(len(results.failures), 0)

    def test_the_folder_is_that_of_the_program(self):
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            self.assertEqual(run_program(self.plain(), seeds=1).folder, Path("out/tiny"))
            named = self.plain(output={"plots": [], "dir": "results here"})
            results = run_program(named, seeds=1)
        finally:
            os.chdir(before)
        self.assertEqual(results.folder, self.folder / "results here")

    def test_failed_trials_are_listed(self):
        out = self.folder / "failed"
        results = run_program(self.plain(event_count_max=10), seeds=1, out=out)
        self.assertEqual(results.status, 5)
        failures = results.table("failures")
        self.assertEqual(failures["policy"], ["fcfs", "short"])
        self.assertIn("event_count_max", failures["message"][0])
        self.assertIn("2 failed trials", repr(results))
        self.assertIn("2 failed trials", results._repr_html_())

    def test_results_of_an_earlier_run_are_not_taken_for_new_ones(self):
        out = self.folder / "stale"
        run_program(self.plain(), seeds=1, out=out)
        broken = self.plain(policies=["fcfs", {"exec": "false", "name": "ends"}])
        error = self.error(run_program, broken, seeds=1, out=out)
        self.assertEqual(error.status, 5)
        self.assertIn("program false ended with status 1", error.message)

    def test_wrong_input_is_an_error_with_its_place(self):
        path = self.folder / "wrong.yaml"
        path.write_text(self.plain(seeds="two").to_yaml(), encoding="utf-8")
        error = self.error(run_program, path)
        self.assertEqual((error.file, error.line, error.status), (str(path), 2, 3))
        self.assertEqual(self.error(run_program, self.folder / "none.yaml").status, 4)
        self.assertEqual(self.error(run_program, self.plain(), policies=["fcsf"]).hint,
                         "Did you mean fcfs?")
        self.assertIn("found int", self.error(run_program, self.plain(), policies=[3]).message)

    def test_run_of_an_experiment(self):
        results = self.plain().run(seeds=1, out=self.folder / "method")
        self.assertEqual(len(results.table("summary")), 2)


class Finding(unittest.TestCase):
    def test_the_variable_comes_first(self):
        self.assertTrue(os.access(find_program(), os.X_OK))
        with mock.patch.dict(os.environ, CLUSTERSIM=sys.executable):
            self.assertEqual(find_program(), sys.executable)
        with mock.patch.dict(os.environ, CLUSTERSIM="/nowhere/clustersim"):
            with self.assertRaises(cs.Error) as raised:
                find_program()
        self.assertIn("/nowhere/clustersim", raised.exception.message)

    def test_a_program_that_dies_is_told(self):
        script = Path(os.environ.get("TMPDIR", "/tmp")) / f"dies-{os.getpid()}"
        script.write_text("#!/bin/sh\nkill -9 $$\n", encoding="utf-8")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        try:
            with mock.patch.dict(os.environ, CLUSTERSIM=str(script)):
                with self.assertRaises(cs.Error) as raised:
                    call_program(["list", "gpus"])
        finally:
            script.unlink()
        self.assertEqual(raised.exception.status, -9)

    def test_only_the_standard_library_is_imported(self):
        code = ("import sys, clustersim; "
                "print([m for m in ('pandas', 'matplotlib', 'gymnasium', 'yaml', 'numpy') "
                "if m in sys.modules])")
        said = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE,
                              encoding="utf-8", env={**os.environ, "PYTHONPATH": os.pathsep.join(
                                  sys.path)}).stdout
        self.assertEqual(said, "[]\n")

    def test_a_policy_in_python_needs_the_compiled_part(self):
        try:
            import clustersim.policy  # noqa: F401
        except ImportError:
            with self.assertRaises(cs.Error) as raised:
                type("Mine", (cs.Policy,), {})
            self.assertIn("clustersim._core", raised.exception.message)
        else:
            self.assertTrue(issubclass(type("Mine", (cs.Policy,), {}), cs.Policy))


if __name__ == "__main__":
    unittest.main()

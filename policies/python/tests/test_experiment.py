# SPDX-License-Identifier: GPL-3.0-or-later
import copy
import enum
import importlib.util
import json
import os
import unittest
from pathlib import Path

import clustersim as cs
from clustersim.program import read_yaml, written
from small import Scratch, small_tree

# Texts that must come back as texts, and values that must keep their types.
AWKWARD = ["", " ", "5", "1e3", "0x10", "1_000", "true", "No", "null", "~", "- a", "a: b", "#x",
           "a #b", "'", '"', "\\", "tab\there", "two\nlines", "\u00e9\u4e2d\U0001f600", "\u2028",
           "2020-01-01", "{a}", "[b]", "&c", "*d", "!e", "%f", "@g", "`h", "inf", "nan", ".5",
           "4/h", "10%", "80GB", ".inf", ".NaN", "9_", "x:", "?", "-", "\x85", "\x7f", "trailing "]


class Yaml(Scratch):
    def test_yaml_reads_as_the_same_keys_and_values(self):
        path = self.experiment.save(self.folder / "tiny.yaml")
        self.assertEqual(json.dumps(read_yaml(path)), json.dumps(self.experiment.to_dict()))
        again = cs.Experiment.from_yaml(path)
        self.assertEqual(again, self.experiment)
        self.assertEqual(again.to_yaml(), path.read_text(encoding="utf-8"))

    def test_awkward_texts_come_back(self):
        for text in AWKWARD:
            with self.subTest(text=text):
                tree = small_tree(description=text)
                path = cs.Experiment(tree, folder=self.folder).save(self.folder / "awkward.yaml")
                self.assertEqual(read_yaml(path)["description"], text)

    def test_types_come_back(self):
        for value in (7, -0.5, 1e-9, 1e22, 12345678901234567890, True, False):
            with self.subTest(value=value):
                tree = small_tree(description=value)
                path = cs.Experiment(tree, folder=self.folder).save(self.folder / "types.yaml")
                found = read_yaml(path)["description"]
                self.assertEqual((found, type(found)), (value, type(value)))

    def test_numbers_are_keys_of_maps(self):
        tree = small_tree()
        tree["workload"]["mix"][0]["gpus"] = {"choice": {1: 0.5, 8: 0.5}}
        experiment = cs.Experiment(tree, folder=self.folder)
        self.assertIn("ok: experiment tiny", experiment.validate())
        self.assertEqual(experiment["workload"]["mix"][0]["gpus"], {"choice": {"1": 0.5, "8": 0.5}})

    def test_readers_that_take_1e22_for_a_text_find_a_number(self):
        for value, text in ((1e22, "1.0e+22"), (1e-9, "1.0e-09"), (1.5e22, "1.5e+22"),
                            (-0.5, "-0.5")):
            written = cs.Experiment(small_tree(description=value)).to_yaml()
            self.assertIn(f"description: {text}\n", written)

    def test_a_key_is_given_once(self):
        tree = small_tree()
        tree["workload"]["mix"][0]["gpus"] = {"choice": {"1": 0.3, 1: 0.7}}
        error = self.error(cs.Experiment, tree)
        self.assertEqual((error.message, error.key),
                         ("key '1' is given twice", "workload.mix.0.gpus.choice.1"))

    def test_members_of_an_enum_are_their_values(self):
        class Name(str, enum.Enum):
            SHORT = "sjf"

        class Count(enum.IntEnum):
            MANY = 7

        tree = small_tree(policies=[Name.SHORT], seeds=Count.MANY)
        tree["workload"]["mix"][0]["gpus"] = {"choice": {Count.MANY: 1}}
        found = json.loads(json.dumps(cs.Experiment(tree).to_dict()))
        self.assertEqual((found["policies"], found["seeds"]), (["sjf"], 7))
        self.assertEqual(found["workload"]["mix"][0]["gpus"], {"choice": {"7": 1}})
        self.assertIn("seeds: 7\n", cs.Experiment(tree).to_yaml())

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "numpy is not installed")
    def test_arrays_are_lists(self):
        import numpy

        tree = small_tree(sweep={"workload.jobs": numpy.array([20, 30])}, seeds=numpy.int64(3))
        tree["workload"]["mix"][0]["gpus"] = {"choice": {numpy.int64(4): numpy.float64(1)}}
        found = cs.Experiment(tree).to_dict()
        self.assertEqual((found["sweep"], found["seeds"]), ({"workload.jobs": [20, 30]}, 3))
        self.assertEqual(found["workload"]["mix"][0]["gpus"], {"choice": {"4": 1.0}})
        one = cs.Experiment(small_tree(sweep={"workload.jobs": numpy.array([20])}))
        self.assertEqual(one["sweep"], {"workload.jobs": [20]})

    def test_what_is_no_value_is_refused_with_its_key(self):
        for value in (object(), {1, 2}, float("nan"), float("inf"), b"x"):
            error = self.error(cs.Experiment, small_tree(workload={"jobs": value}))
            self.assertEqual(error.key, "workload.jobs")

    def test_a_class_is_told_where_it_belongs(self):
        class Mine:
            pass
        error = self.error(cs.Experiment, small_tree(policies=["fcfs", Mine]))
        self.assertEqual(error.key, "policies.1")
        self.assertIn("found the class Mine", error.message)
        self.assertIn("run(policies=[...])", error.hint)

    def test_a_file_that_is_no_experiment_is_refused(self):
        path = self.folder / "cluster.yaml"
        path.write_text("nodes: [{name: a, count: 1, gpus: {type: generic, count: 8}}]\n",
                        encoding="utf-8")
        error = self.error(cs.Experiment.from_yaml, path)
        self.assertEqual((error.file, error.message), (str(path), "the file is no experiment"))

    def test_a_file_that_would_not_be_found_is_told(self):
        (self.folder / "lab.csv").write_text("job,submit,duration,gpus\na,0,60,1\n",
                                             encoding="utf-8")
        tree = small_tree(workload={"trace": {"file": "lab.csv", "format": "csv", "columns": {
            "job": "job", "submit": "submit", "duration": "duration", "gpus": "gpus"}}})
        experiment = cs.Experiment(tree, folder=self.folder)
        self.assertIn("ok", experiment.validate())
        (self.folder / "other").mkdir()
        error = self.error(experiment.save, self.folder / "other" / "tiny.yaml")
        self.assertIn("'lab.csv' is relative to", error.message)
        self.assertTrue(experiment.save(self.folder / "here.yaml").is_file())

    def test_a_copy_is_a_copy(self):
        before = copy.deepcopy(self.experiment.to_dict())
        self.experiment.to_dict()["cluster"]["nodes"].clear()
        self.experiment["cluster"]["nodes"].clear()
        other = self.experiment.replace(seeds=9, sweep=None)
        self.assertEqual(self.experiment.to_dict(), before)
        self.assertEqual((other["seeds"], "sweep" in other), (9, False))
        self.assertNotEqual(other, self.experiment)


TREE = os.environ.get("CLUSTERSIM_TREE")


class Shipped(unittest.TestCase):
    @unittest.skipUnless(TREE, "CLUSTERSIM_TREE names no copy of the experiments")
    def test_every_experiment_comes_back_as_it_is(self):
        count = 0
        for path in sorted((Path(TREE) / "experiments").glob("**/*.yaml")):
            text = path.read_text(encoding="utf-8")
            if "\npolicies:" not in text or "/shared/" in text:
                continue        # no experiment, or on a trace that not every checkout has
            with self.subTest(path=path):
                experiment = cs.Experiment.from_yaml(path)
                with written(experiment) as again:
                    self.assertEqual(json.dumps(read_yaml(again)), json.dumps(read_yaml(path)))
                count += 1
        self.assertGreater(count, 50)


class Keys(Scratch):
    def wrong(self, change):
        tree = small_tree()
        change(tree)
        return self.error(cs.Experiment, tree)

    def test_the_nearest_spelling_is_told_at_any_depth(self):
        changes = {
            "sedes": (lambda t: t.update(sedes=3), "seeds"),
            "cluster.nodes.0.gpus.tpye": (
                lambda t: t["cluster"]["nodes"][0]["gpus"].update(tpye="x"), "type"),
            "workload.mix.0.duratoin": (
                lambda t: t["workload"]["mix"][0].update(duratoin="1h"), "duration"),
            "policies.1.placment": (
                lambda t: t["policies"][1].update(placment="count"), "placement"),
            "output.tabels": (lambda t: t["output"].update(tabels=[]), "tables"),
        }
        for key, (change, near) in changes.items():
            with self.subTest(key=key):
                error = self.wrong(change)
                self.assertEqual((error.key, error.hint), (key, f"Did you mean '{near}'?"))
                self.assertEqual(error.others, [])

    def test_a_far_key_lists_what_is_allowed(self):
        error = self.wrong(lambda t: t["cluster"].update(zzz=1))
        self.assertIn("nodes, network", error.hint)

    def test_a_key_of_another_recipe_or_policy_is_wrong(self):
        self.assertEqual(self.wrong(lambda t: t["workload"]["mix"][0].update(prompts=4)).key,
                         "workload.mix.0.prompts")
        self.assertEqual(self.wrong(lambda t: t["policies"][1].update(reserve=0.2)).key,
                         "policies.1.reserve")

    def test_all_wrong_keys_are_told_at_once(self):
        error = self.wrong(lambda t: t.update(sedes=3, polices=[]))
        self.assertEqual([e.key for e in [error, *error.others]], ["sedes", "polices"])

    def test_missing_keys_are_told(self):
        error = self.error(cs.Experiment, experiment="x", cluster={}, workload={})
        self.assertEqual((error.key, error.hint), ("policies", "Give policies=."))

    def test_keyword_arguments_are_keys(self):
        experiment = cs.Experiment(small_tree(), seeds=7)
        self.assertEqual(experiment["seeds"], 7)
        self.assertEqual(experiment.name, "tiny")

    def test_wrong_values_are_told_by_the_program_with_line_and_hint(self):
        experiment = cs.Experiment(small_tree(seeds="two"), folder=self.folder)
        error = self.error(experiment.validate)
        self.assertEqual((error.file, error.line, error.key, error.status),
                         ("experiment tiny", 2, "seeds", 3))
        self.assertEqual(error.source, "seeds: two")
        self.assertEqual(list(self.folder.glob(".*")), [])


if __name__ == "__main__":
    unittest.main()

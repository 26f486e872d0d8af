# SPDX-License-Identifier: GPL-3.0-or-later
import csv
import importlib.util
import json
import os
import shutil
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import clustersim as cs
from clustersim.program import call_program
from clustersim.results import split_point, type_values
from clustersim.svg import interval_chart
from clustersim.table import Table
from small import Scratch, small_tree

HAS_PANDAS = importlib.util.find_spec("pandas") is not None
HAS_MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None


def raw_rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class Tables(Scratch):
    def test_every_cell_is_that_of_the_file(self):
        checked = 0
        for name in self.results.tables:
            table = self.results.table(name)
            raw = raw_rows(self.results.folder / f"{name}.csv")
            self.assertEqual(len(table), len(raw))
            for row, text in zip(table, raw):
                for column, cell in text.items():
                    value = row[column]
                    if isinstance(value, str):
                        self.assertEqual(value, cell)
                    elif cell == "":
                        self.assertIsNone(value)
                    else:
                        self.assertEqual(value, float(cell))
                    checked += 1
        self.assertGreater(checked, 5000)

    def test_types_are_those_of_the_columns(self):
        row = self.results.table("jobs")[0]
        self.assertEqual([type(row[c]) for c in ("job", "seed", "submit_s", "gpus", "status")],
                         [str, int, float, int, str])

    def test_swept_keys_are_columns_with_types_and_units(self):
        table = self.results.table("summary")
        # `jobs` is a column of summary.csv: the swept key has its full name.
        self.assertEqual(self.results.swept, ["arrival.rate", "workload.jobs"])
        self.assertEqual(table.columns[:4], ["point", "arrival.rate", "workload.jobs", "policy"])
        self.assertEqual(sorted(set(table["arrival.rate"])), [3.0, 6.0])
        self.assertEqual(table.units["arrival.rate"], "/h")
        for row in table:
            self.assertEqual(row["jobs"], row["workload.jobs"])
            self.assertEqual(row["point"], f"arrival.rate={row['arrival.rate']:.0f}/h "
                                           f"jobs={row['workload.jobs']}")

    def test_units(self):
        units = self.results.table("summary").units
        self.assertEqual((units["jct_mean_s"], units["cost_usd"], units["seed"]),
                         ("s", "USD", "count"))
        self.assertNotIn("policy", units)
        self.assertEqual(self.results.units("jobs")["gpu_seconds"], "GPU-s")

    def test_the_list_of_columns_is_that_of_the_program(self):
        said = call_program(["list", "columns", "--json"]).stdout
        packed = (cs.results.Path(cs.results.__file__).parent / "columns.json")
        self.assertEqual(packed.read_text(encoding="utf-8"), said)

    def test_a_run_has_names_points_and_no_failures(self):
        self.assertEqual(self.results.name, "tiny")
        self.assertEqual(self.results.policies, ["fcfs", "short"])
        self.assertEqual(self.results.baseline, "fcfs")
        self.assertEqual(len(self.results.points), 4)
        self.assertEqual(len(self.results.failures), 0)
        self.assertEqual(self.results.audit["violations"], 0)
        self.assertEqual(self.results.status, 0)

    def test_what_is_not_there_is_told(self):
        self.assertEqual(self.error(self.results.table, "jbos").hint, "Did you mean 'jobs'?")
        self.assertIn("output: {tables: [decisions]}",
                      self.error(self.results.table, "decisions").hint)
        self.assertIn("services", self.error(self.results.table, "services").hint)
        self.assertEqual(self.error(cs.load, self.folder / "nowhere").file,
                         str(self.folder / "nowhere"))
        self.assertIn("provenance.json", self.error(cs.load, self.folder).message)

    def test_tables_are_found_after_a_change_of_folder(self):
        before = Path.cwd()
        try:
            os.chdir(self.results.folder.parent)
            results = cs.load(self.results.folder.name)
            os.chdir(before)
            self.assertEqual(len(results.table("summary")), len(self.results.table("summary")))
        finally:
            os.chdir(before)

    def test_an_interrupted_run_is_no_result(self):
        broken = self.folder / "broken"
        shutil.copytree(self.results.folder, broken)
        (broken / "provenance.json").unlink()
        (broken / ".trials").mkdir(exist_ok=True)
        self.assertIn("--resume", self.error(cs.load, broken).hint)

    def test_results_are_those_of_their_own_run(self):
        """A table that is read after another run into the same folder would be that run's."""
        tree, out = small_tree(), self.folder / "twice"
        first = cs.run_program(cs.Experiment(tree, folder=self.folder), policies=["fcfs"], out=out)
        read = first.table("jobs").rows
        self.assertEqual(first.table("jobs").rows, read)
        second = cs.run_program(cs.Experiment(tree, folder=self.folder), policies=["short"],
                                out=out)
        self.assertEqual(set(second.table("jobs")["policy"]), {"short"})
        for look in (lambda: first.table("jobs"), lambda: first.audit, lambda: first.figures,
                     lambda: first.units("jobs"), lambda: first.table("failures")):
            error = self.error(look)
            self.assertIn("was written anew", error.message)
            self.assertIn("out=", error.hint)
        self.assertEqual((first.policies, cs.load(out).policies), (["fcfs"], ["short"]))

    def test_a_table_that_was_cut_is_refused(self):
        """Whatever is cut: within a line, within its last cell, or all of it."""
        copied = self.folder / "cut"
        shutil.copytree(self.results.folder, copied)
        whole = (copied / "jobs.csv").read_bytes()
        ways = [whole[:len(whole) // 2], whole[:-1], whole[:-3], b"", b"\xff\xfe\n",
                whole.replace(b",done", b",\xff", 1)]
        for text in ways:
            (copied / "jobs.csv").write_bytes(text)
            results = cs.load(copied)
            reads = [results.table] + ([results.frame] if HAS_PANDAS else [])
            for read in reads:
                error = self.error(read, "jobs")
                self.assertEqual(error.file, str(copied.absolute() / "jobs.csv"))
        (copied / "jobs.csv").write_bytes(whole)
        self.assertEqual(cs.load(copied).table("jobs").rows, self.results.table("jobs").rows)

    def test_a_row_of_another_length_is_refused(self):
        """An empty line, a value too many, a first line that is empty."""
        copied = self.folder / "long_rows"
        shutil.copytree(self.results.folder, copied)
        whole = (copied / "summary.csv").read_bytes()
        last = whole.splitlines()[-1]
        for text in (whole + b"\n", whole + last + b",1\n", b"\n" + whole):
            (copied / "summary.csv").write_bytes(text)
            results = cs.load(copied)
            for look in (lambda: results.table("summary"), lambda: results.points):
                error = self.error(look)
                self.assertEqual(error.file, str(copied.absolute() / "summary.csv"))
                self.assertIn("no table of results", error.message)

    def test_a_column_of_another_version_is_refused(self):
        other = self.folder / "other_version"
        shutil.copytree(self.results.folder, other)
        text = (other / "jobs.csv").read_text(encoding="utf-8")
        (other / "jobs.csv").write_text(text.replace("jct_s", "jct_d", 1), encoding="utf-8")
        error = self.error(cs.load(other).table, "jobs")
        self.assertEqual(error.key, "jct_d")

    def test_swept_keys_of_older_folders_are_those_of_the_labels(self):
        old = self.folder / "old"
        shutil.copytree(self.results.folder, old)
        provenance = json.loads((old / "provenance.json").read_text(encoding="utf-8"))
        del provenance["sweep"]
        (old / "provenance.json").write_text(json.dumps(provenance), encoding="utf-8")
        self.assertEqual(cs.load(old).swept, ["arrival.rate", "point: jobs"])
        self.assertEqual(cs.load(old).table("summary")["arrival.rate"],
                         self.results.table("summary")["arrival.rate"])
        text = (old / "summary.csv").read_text(encoding="utf-8")
        (old / "summary.csv").write_text(text.replace(" jobs=20", " steps=20"),
                                         encoding="utf-8")
        self.assertIn("no point of the swept keys", self.error(lambda: cs.load(old).swept).message)

    @unittest.skipUnless(HAS_PANDAS, "pandas is not installed")
    def test_frames_hold_what_tables_hold(self):
        for name in self.results.tables:
            table, frame = self.results.table(name), self.results.frame(name)
            self.assertEqual(list(frame.columns), table.columns)
            self.assertEqual(frame.attrs["units"], table.units)
            for column in table.columns:
                for value, other in zip(table[column], frame[column]):
                    if value is None:
                        self.assertNotEqual(other, other)       # NaN
                    else:
                        self.assertEqual(value, other)
        self.assertEqual(str(self.results.jobs["gpus"].dtype), "int64")
        self.assertEqual(str(self.results.summary["jct_mean_s"].dtype), "float64")
        self.assertEqual(str(self.results.summary["workload.jobs"].dtype), "int64")
        self.assertEqual(len(self.results.failures), 0)

    @unittest.skipIf(HAS_PANDAS, "pandas is installed")
    def test_without_pandas_there_are_tables(self):
        self.assertIsInstance(self.results.jobs, Table)
        error = self.error(self.results.frame, "jobs")
        self.assertEqual(error.hint, "Install it with: pip install pandas")


class Shown(Scratch):
    def test_a_result_shows_means_and_intervals(self):
        text = repr(self.results)
        self.assertTrue(text.startswith("tiny: 4 points, 2 policies, 3 seeds\n"))
        row = self.results.table("compare").where(point="arrival.rate=3/h jobs=10",
                                                  policy="short", metric="jct_mean_s")[0]
        half = max(row["mean"] - row["ci95_low"], row["ci95_high"] - row["mean"])
        self.assertIn(f"{row['mean']:.4g} ± {half:.2g}", text)

    def test_a_notebook_shows_a_table_and_a_picture(self):
        page = self.results._repr_html_()
        self.assertIn("<table>", page)
        self.assertIn("<svg", page)             # the run drew no chart
        self.assertEqual(page.count("<circle"), 8)
        self.assertNotIn("<script", page)

    def test_a_chart_of_the_run_is_shown_if_there_is_one(self):
        folder = self.folder / "drawn"
        shutil.copytree(self.results.folder, folder)
        (folder / "plots").mkdir(exist_ok=True)
        (folder / "plots" / "jct_cdf.png").write_bytes(b"\x89PNG made for a test")
        (folder / "plots" / "skipped.txt").write_text("cost: nothing costs anything\n",
                                                      encoding="utf-8")
        results = cs.load(folder)
        self.assertEqual(results.figures, ["jct_cdf"])
        self.assertEqual(results.figure("jct_cdf")._repr_png_(), b"\x89PNG made for a test")
        self.assertIn('<img alt="jct_cdf"', results._repr_html_())
        self.assertEqual(self.error(results.figure, "jct_cfd").hint, "Did you mean 'jct_cdf'?")
        self.assertIn("nothing costs anything", self.error(results.figure, "cost").hint)
        self.assertEqual(self.error(results.figure, "../../x").key, "../../x")

    def test_no_chart_is_told(self):
        self.assertIn("clustersim plot", self.error(self.results.figure, "cost").hint)

    @unittest.skipUnless(HAS_MATPLOTLIB, "matplotlib is not installed")
    def test_plot_draws_the_means(self):
        import matplotlib
        matplotlib.use("Agg")
        axes = self.results.plot("jct_mean_s", x="workload.jobs")
        self.assertEqual((axes.get_xlabel(), axes.get_ylabel()),
                         ("workload.jobs", "jct_mean_s (s)"))
        self.assertEqual(self.error(self.results.plot, x="workload.job").hint,
                         "Did you mean 'workload.jobs'?")
        self.assertEqual(self.error(self.results.plot, "jct_maen_s").hint,
                         "Did you mean 'jct_mean_s'?")

    @unittest.skipIf(HAS_MATPLOTLIB, "matplotlib is installed")
    def test_plot_says_what_it_needs(self):
        self.assertEqual(self.error(self.results.plot).hint,
                         "Install it with: pip install matplotlib")

    def test_an_interval_chart_is_well_formed(self):
        rows = [{"point": "a<b", "policy": f"p{i}", "mean": m, "low": m * 0.5, "high": m * 2}
                for i, m in enumerate((1e-6, 3.0, 8e8))]
        root = ElementTree.fromstring(interval_chart("t & u", rows, True))
        dots = root.findall("{http://www.w3.org/2000/svg}circle")
        places = [float(dot.get("cx")) for dot in dots]
        self.assertEqual(places, sorted(places))
        self.assertEqual(interval_chart("t", [dict(r, mean=0, low=0, high=0) for r in rows],
                                        False).count("<circle"), 3)


class Points(unittest.TestCase):
    def test_labels_are_taken_apart(self):
        self.assertEqual(split_point("a.b=4/h c=x y=z", ["a.b", "c"]), ["4/h", "x y=z"])
        self.assertEqual(split_point("a=", ["a"]), [""])
        self.assertIsNone(split_point("base", ["a"]))
        self.assertIsNone(split_point("a=1 b=2 b=3", ["a", "b"]))      # two ways

    def test_values_get_their_types(self):
        self.assertEqual(type_values(["1", "-20"]), ([1, -20], ""))
        self.assertEqual(type_values(["1", "0.5"]), ([1.0, 0.5], ""))
        self.assertEqual(type_values(["true", "false"]), ([True, False], ""))
        self.assertEqual(type_values(["2/h", "4/h"]), ([2.0, 4.0], "/h"))
        self.assertEqual(type_values(["10%", "20%"]), ([10.0, 20.0], "%"))
        self.assertEqual(type_values(["30m", "2h"]), (["30m", "2h"], ""))
        self.assertEqual(type_values(["007", "1"]), (["007", "1"], ""))
        self.assertEqual(type_values(["a100-80", "4"]), (["a100-80", "4"], ""))
        self.assertEqual(type_values(["#1", "#2"]), (["#1", "#2"], ""))


class PlainTable(unittest.TestCase):
    def setUp(self):
        self.table = Table(["policy", "jct_s"], [["fcfs", 10.5], ["a,b", None]],
                           {"jct_s": "s", "gone": "x"}, "jobs.csv")

    def test_rows_columns_and_selections(self):
        self.assertEqual(list(self.table)[1], {"policy": "a,b", "jct_s": None})
        self.assertEqual(self.table["jct_s"], [10.5, None])
        self.assertEqual(len(self.table.where(policy="fcfs")), 1)
        self.assertEqual(self.table.select("jct_s").units, {"jct_s": "s"})

    def test_no_row_can_have_a_value_of_another_kind(self):
        self.assertEqual(len(self.table.where(jct_s=None)), 1)
        self.assertEqual(len(self.table.where(jct_s=10)), 0)
        for values, message in (
                ({"jct_s": "10.5"}, "column 'jct_s' of jobs.csv has numbers, found '10.5'"),
                ({"policy": 0}, "column 'policy' of jobs.csv has texts, found 0"),
                ({"jct_s": [10.5]}, "column 'jct_s' of jobs.csv has numbers, found [10.5]")):
            with self.assertRaises(cs.Error) as caught:
                self.table.where(**values)
            self.assertEqual(caught.exception.message, message)
            self.assertEqual(caught.exception.key, next(iter(values)))
        self.assertEqual(caught.exception.hint, "The first of its values is 10.5.")
        empty = Table(["x", "b"], [[None, True]])
        self.assertEqual(len(empty.where(x="any")), 0)
        self.assertEqual(len(empty.where(b=True)), 1)

    def test_text_and_html(self):
        self.assertEqual(repr(self.table), "policy  jct_s\n            s\nfcfs     10.5\na,b")
        self.assertIn("<th>jct_s<br><small>s</small></th>", self.table._repr_html_())
        self.assertIn("... 1 more rows", self.table.to_text(1))

    def test_csv(self):
        import tempfile
        with tempfile.NamedTemporaryFile("r", encoding="utf-8") as file:
            self.table.to_csv(file.name)
            self.assertEqual(file.read(), 'policy,jct_s\nfcfs,10.5\n"a,b",\n')

    def test_wrong_names_and_rows(self):
        with self.assertRaises(cs.Error) as raised:
            self.table["jct"]
        self.assertEqual(raised.exception.hint, "Did you mean 'jct_s'?")
        with self.assertRaises(cs.Error):
            Table(["a"], [[1, 2]])


if __name__ == "__main__":
    unittest.main()

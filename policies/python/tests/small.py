# SPDX-License-Identifier: GPL-3.0-or-later
"""Small experiments for the tests, and results of one that was run."""
import tempfile
import unittest
from pathlib import Path

import clustersim as cs


def small_tree(**keys):
    """An experiment that runs in milliseconds; `keys` replace keys at its top."""
    tree = {
        "experiment": "tiny", "seeds": 3,
        "cluster": {"nodes": [{"name": "gpu", "count": 2,
                               "gpus": {"type": "generic", "count": 8}}]},
        "workload": {"arrival": {"process": "poisson", "rate": "6/h"}, "jobs": 20,
                     "mix": [{"recipe": "trace", "name": "wide", "gpus": 8,
                              "duration": {"exponential": {"mean": "1h"}}}]},
        "policies": ["fcfs", {"policy": "sjf", "name": "short"}],
        "output": {"plots": []},
    }
    tree.update(keys)
    return tree


class Scratch(unittest.TestCase):
    """A test with a folder of its own, and `results` of a sweep, run once a class."""

    sweep = {"workload.arrival.rate": ["3/h", "6/h"], "workload.jobs": [10, 20]}

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.scratch.name)
        cls.experiment = cs.Experiment(small_tree(sweep=cls.sweep), folder=cls.folder)
        cls.results = cs.run_program(cls.experiment, out=cls.folder / "swept")

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def error(self, call, *arguments, **keys):
        """The Error that the call raises."""
        with self.assertRaises(cs.Error) as raised:
            call(*arguments, **keys)
        return raised.exception

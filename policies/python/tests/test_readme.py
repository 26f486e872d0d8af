# SPDX-License-Identifier: GPL-3.0-or-later
"""The blocks of both chapters: those with `# file: NAME` are written, other Python is run as
doctest, and what `python3 NAME` prints is compared with what stands below it."""
import contextlib
import doctest
import io
import os
import re
import subprocess
import sys
import tempfile
import unittest
from importlib.util import find_spec
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
CHAPTERS = (PACKAGE / "README.md", PACKAGE / "clustersim" / "README.md")
BLOCK = re.compile(r"^```(yaml|python|console|c)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Readme(unittest.TestCase):
    def setUp(self):
        blocks = [block for chapter in CHAPTERS
                  for block in BLOCK.findall(chapter.read_text(encoding="utf-8"))]
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        self.code, self.shown = "", []
        for kind, text in blocks:
            named = re.match(r"(?:# |/\* )file: (\S+)", text)
            if named:
                Path(named[1]).write_text(text, encoding="utf-8")
            elif kind == "python":
                self.code += text + "\n"
            elif kind == "console":
                self.shown += re.findall(r"^\$ python3 (\w+\.py)\n((?:[^$].*\n)*)", text,
                                         re.MULTILINE)

    def test_what_the_manual_shows_comes_out(self):
        examples = doctest.DocTestParser().get_doctest(self.code, {}, "README.md",
                                                       str(CHAPTERS[0]), 0)
        self.assertGreater(len(examples.examples), 15)
        runner, said = doctest.DocTestRunner(optionflags=FLAGS), io.StringIO()
        with contextlib.redirect_stdout(said):
            result = runner.run(examples, out=said.write)
        self.assertEqual(result.failed, 0, said.getvalue())

    @unittest.skipIf(find_spec("clustersim._core") is None, "the compiled part is absent")
    def test_the_scripts_of_the_manual_print_what_it_shows(self):
        self.assertEqual([name for name, _ in self.shown], ["mine.py", "same.py"])
        paths = [os.environ.get("PYTHONPATH", "")]
        for tree in (os.environ.get("CLUSTERSIM_TREE"), *PACKAGE.parents):
            paths.append(str(Path(tree or "/") / "policies" / "clients" / "python"))
        with_client = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        for name, shown in self.shown:
            ran = subprocess.run([sys.executable, name], capture_output=True, text=True,
                                 env=with_client)
            self.assertEqual((ran.returncode, ran.stderr), (0, ""))
            self.assertTrue(doctest.OutputChecker().check_output(shown, ran.stdout, FLAGS),
                            ran.stdout)


if __name__ == "__main__":
    unittest.main()

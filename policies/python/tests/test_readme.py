# SPDX-License-Identifier: GPL-3.0-or-later
"""The blocks of README.md: YAML with `# file: NAME` is written, Python is run as doctest."""
import contextlib
import doctest
import io
import os
import re
import tempfile
import unittest
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "README.md"
BLOCK = re.compile(r"^```(yaml|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Readme(unittest.TestCase):
    def test_what_the_manual_shows_comes_out(self):
        blocks = BLOCK.findall(README.read_text(encoding="utf-8"))
        code = "".join(text + "\n" for kind, text in blocks if kind == "python")
        examples = doctest.DocTestParser().get_doctest(code, {}, "README.md", str(README), 0)
        self.assertGreater(len(examples.examples), 15)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS |
                                       doctest.NORMALIZE_WHITESPACE)
        said, before = io.StringIO(), os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                for kind, text in blocks:
                    named = re.match(r"# file: (\S+)\n", text)
                    if kind == "yaml" and named:
                        Path(named[1]).write_text(text, encoding="utf-8")
                with contextlib.redirect_stdout(said):
                    result = runner.run(examples, out=said.write)
            finally:
                os.chdir(before)
        self.assertEqual(result.failed, 0, said.getvalue())


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-3.0-or-later
import pickle
import unittest

from clustersim.errors import Error, parse_messages, raise_messages

SAID = """\
warning: e.yaml:1:1: schema error: this is only a warning
hint: of the warning
a b/e.yaml:2:8: schema error: 'seeds' must be a whole number such as 12, found 'two'
    2 | seeds: two
      |        ^
hint: Write it with digits only.
e.yaml: file error: cannot read the file: No such file or directory
usage error: there is no option '--sed' here
hint: Did you mean --set?
t.csv:9:1: limit reached: too long
4 errors
"""


class Errors(unittest.TestCase):
    def test_messages_have_place_key_source_and_hint(self):
        errors = parse_messages(SAID, 3)
        self.assertEqual(len(errors), 4)
        first = errors[0]
        self.assertEqual((first.file, first.line, first.column), ("a b/e.yaml", 2, 8))
        self.assertEqual(first.key, "seeds")
        self.assertEqual(first.source, "seeds: two")
        self.assertEqual(first.hint, "Write it with digits only.")
        self.assertEqual(first.status, 3)
        self.assertEqual(first.message,
                         "'seeds' must be a whole number such as 12, found 'two'")

    def test_a_place_may_be_a_file_or_nothing(self):
        _, second, third, fourth = parse_messages(SAID)
        self.assertEqual((second.file, second.line, second.hint), ("e.yaml", None, None))
        self.assertEqual(second.place, "e.yaml")
        self.assertEqual((third.place, third.hint), ("", "Did you mean --set?"))
        self.assertEqual((fourth.place, fourth.message), ("t.csv:9:1", "too long"))

    def test_an_error_prints_as_the_program_does(self):
        error = Error("seeds is wrong", "e.yaml", 2, 8, "seeds", "Write 12.")
        self.assertEqual(str(error), "e.yaml:2:8: seeds is wrong\nhint: Write 12.")

    def test_all_errors_are_raised_together(self):
        with self.assertRaises(Error) as raised:
            raise_messages(SAID, 3, "otherwise")
        self.assertEqual(len(raised.exception.others), 3)
        self.assertIn("--sed", str(raised.exception))

    def test_words_that_are_no_message_are_kept(self):
        with self.assertRaises(Error) as raised:
            raise_messages("Segmentation fault\n", 139, "it ended with status 139")
        self.assertEqual(raised.exception.message,
                         "it ended with status 139: Segmentation fault")

    def test_an_error_can_go_to_another_process(self):
        again = pickle.loads(pickle.dumps(Error("m", "f", 1, 2, "k", "h", status=3)))
        self.assertEqual(str(again), "f:1:2: m\nhint: h")
        self.assertEqual((again.key, again.status), ("k", 3))


if __name__ == "__main__":
    unittest.main()

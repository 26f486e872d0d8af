# SPDX-License-Identifier: GPL-3.0-or-later
"""The client for policies over a pipe: jobs that are read later are those that came."""
import json
import os
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = next((folder for tree in [*HERE.parents, Path(os.environ.get("CLUSTERSIM_TREE", "/"))]
               for folder in [tree / "policies" / "clients" / "python"] if folder.is_dir()), None)
if FOLDER is not None:
    sys.path.insert(0, str(FOLDER))
    import clustersim_client

# What a name may hold so that its message looks like another one.
NASTY = ['a', '],"ended":[', '"}],"waits":[{"job":7', '}],"waits":[', ',"jobs":[', '\\"],', 'ü\n']


def message(n, **keys):
    return (json.dumps({"n": n, "now": 10 * n, "free": [4], **keys},
                       separators=(",", ":")) + "\n").encode()


def messages():
    """Four jobs at each instant, all started at once; they end two instants later."""
    for n in range(2, 30):
        new = range(4 * n, 4 * n + 4)
        ended = list(range(4 * n - 8, 4 * n - 4)) if n > 3 else None
        more = {} if ended is None else {"ended": ended}
        yield n, message(
            n, jobs=[{"job": j, "form": 0, "name": NASTY[j % len(NASTY)]} for j in new], **more,
            waits=[{"job": j, "gpus": 1} for j in new],
            **({"verdicts": ["done"] * 4} if n > 2 else {}))


@unittest.skipIf(FOLDER is None, "the client is not here")
class Client(unittest.TestCase):
    def serve(self, look_at):
        """What a policy sees that looks at jobs from message `look_at` on."""
        policy, asked, kept, seen = clustersim_client.Policy(), (), [], []
        policy._begin({"pools": []})
        for n, line in messages():
            told, unread = policy._read(line)
            policy._settle(asked, told.get("verdicts", ()))
            policy._news(told, unread)
            kept += policy.waits
            asked = [{"start": task.job} for task in policy.waits]
            if n == look_at:
                seen.append([dict(task.of) for task in kept])
            if n >= look_at:
                seen.append([dict(job) for job in policy.jobs.values()])
                seen.append([(task.job, task.gpus, dict(task.of)) for task in policy.waits])
        return seen, unread

    def test_an_order_that_no_message_tells_is_an_error(self):
        for order in (("ready",), ("-ready", "job"), ("age",)):
            policy = clustersim_client.Policy()
            policy.order = order
            with self.assertRaisesRegex(ValueError, f"orders by job, .* found '{order[0]}'"):
                policy._hello(0)

    def test_a_parameter_takes_the_place_of_no_attribute(self):
        for name in ("skip", "waits", "decide", "free", "jobs"):
            policy = clustersim_client.Policy()
            policy.params = (clustersim_client.param(name, "int", 1, "a number"),)
            with self.assertRaisesRegex(ValueError, f"parameter {name} of python has the name"):
                policy._hello(0)

    def test_jobs_are_the_same_whenever_one_looks_at_them(self):
        for look_at in (2, 3, 12, 29):
            seen, unread = self.serve(look_at)
            names = [job["name"] for job in seen[0]]
            self.assertEqual(names, [NASTY[j % len(NASTY)]
                                     for j in range(8, 4 * look_at + 4)])
            self.assertEqual(seen[0][0]["submit_ns"], 20)
            self.assertEqual([job["job"] for job in seen[1]],
                             list(range(max(4 * look_at - 4, 8), 4 * look_at + 4)))
            # After the first look they are read as they come.
            self.assertEqual(unread is None, look_at < 29)

    def test_jobs_that_nobody_looks_at_are_not_read(self):
        _, unread = self.serve(99)
        self.assertIsNone(unread.jobs)

    def test_a_message_without_jobs_or_tasks_is_read_whole(self):
        policy = clustersim_client.Policy()
        policy._begin({"pools": []})
        told, unread = policy._read(message(2, jobs=[{"job": 0, "form": 0}]))
        self.assertEqual(([job["job"] for job in told["jobs"]], unread), ([0], None))
        self.assertEqual(policy._read(message(3))[0]["now"], 30)


if __name__ == "__main__":
    unittest.main()

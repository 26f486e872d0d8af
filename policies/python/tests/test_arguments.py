# SPDX-License-Identifier: GPL-3.0-or-later
"""What a policy in Python gives to the host's methods: a number that names nothing, a count
that is none, a float where a whole number belongs.  Each is an error that names the method, what
was found and what may be, and none reaches the host."""
import unittest

try:
    from test_policy import MISSING, ROOT, Case, Policy
    import clustersim as cs
    from clustersim import policy as words
except ImportError as why:          # test_policy says it too
    MISSING, ROOT, Case, Policy = str(why), None, unittest.TestCase, object

# The arguments of each method, as they stand in its help.
WHOLE = {
    "pending": ["pending"], "running": ["running"], "lease_at": ["lease_at"],
    "request": ["job"], "job_task": ["job", "role?"], "role_lease": ["job", "role"],
    "job_gpus": ["job"], "attained_gpu_s": ["job"], "left_ns": ["job"],
    "true_left_ns": ["job"], "serves": ["job"], "slot": ["job"], "switch_loss": ["job"],
    "settled": ["job"], "size_least": ["job"], "size_now": ["job"], "can_move": ["job"],
    "co_located": ["job"], "tenant": ["job"], "stop": ["job!"], "prepare": ["job!"],
    "phase_s": ["job", "phase"], "switch_s": ["job", "role"], "role_homes": ["job", "role"],
    "gpus_on": ["job", "node"], "size_below": ["job", "gpus"], "size_above": ["job", "gpus"],
    "best_speedup": ["job", "gpus"], "speedup": ["job", "pool", "gpus"],
    "lease": ["lease"], "lease_pools": ["lease"], "release": ["lease!"],
    "take_back": ["lease!", "time"], "resize": ["lease!", "gpus"], "move": ["lease!"],
    "total_gpus": ["mask"], "free_gpus": ["mask"], "idle_gpus": ["mask"],
    "room_in_s": ["mask", "gpus"], "earliest_ns": ["gpus"], "pool_name": ["pool"],
    "node": ["node"], "find_pending": ["gpus"], "wake_at": ["time"],
    "wake_when_idle": ["time"], "start": ["task"], "settle": ["task"], "continue_": ["task"],
    "forecast": ["task"], "forecast_held": ["task"], "forecast_best": ["task"],
    "site_count": ["task"], "most_gpus": ["task"], "tried": ["task"],
    "site": ["task", "site", "mask"], "home_pools": ["task", "role"],
    "start_co_located": ["task", "job"], "start_wants": ["task", "wants"],
    "set_sizes": ["sizes"], "set_node_gpus": ["spots"], "reallocate": ["key"],
}
# Methods without an argument, and those that take a text.
OTHERS = {"now_ns", "pending_count", "skips", "running_count", "lease_count", "pool_count",
          "node_count", "total_cores", "total_memory_bytes", "round_ns", "may_solve", "random",
          "limit_reached", "try_anew", "next_candidate", "weight", "fail"}
# The same with keywords: of a want, and of a filter.
KEYWORDS = {"gpus": "gpus", "cores": "gpus", "first_node": "gpus", "node_count": "gpus",
            "gpu_type": "gpus", "pools": "mask", "idle_ns": "time", "spot": "spot"}
FILTERS = {"gpus_max": "gpus", "gpus_any_estimate": "gpus", "estimate_max_ns": "int"}

# Without one of these a method says so, whatever it is given.
FLAGS = {"set_sizes": "resizes", "set_node_gpus": "resizes", "reallocate": "preempts"}

NOT_WHOLE = (1.5, float("nan"), float("inf"), None, "1", [], object())
NUMBERLESS = (-1, -2**63, 2**31, 2**32 - 1, 2**32, 2**64 + 3, 10**30)
RISING = "nodes of a job must rise"


def bad_values(kind, host):
    """(value, type of the error, what it says) for a kind of argument."""
    none = [(value, TypeError, "needed, found") for value in NOT_WHOLE]
    if kind in ("gpus", "int"):
        wrong = (-1, 2**32, 10**30) if kind == "gpus" else (10**30,)
        return none + [(value, ValueError, "needed, found " + str(value))
                       for value in wrong]
    if kind == "time":
        return none + [(-1, ValueError, "must not be negative, found -1"),
                       (2**63, ValueError, "within 2**63")]
    if kind == "mask":
        return [(value, IndexError, "must be from 0 to ") for value in NUMBERLESS] + [
            (1.5, TypeError, ""), (float("nan"), TypeError, ""), ("nowhere", LookupError,
                                                                  "no pool named 'nowhere'"),
            (["nowhere"], LookupError, "no pool named 'nowhere'"), ([1], TypeError, "")]
    if kind == "task":
        return [(value, TypeError, "a Task is needed, found")
                for value in NOT_WHOLE + NUMBERLESS + (0,)]
    if kind == "key":
        return [(value, TypeError, "needs a function") for value in (None, 1, "left_ns")]
    if kind in ("spot", "spots", "sizes", "wants"):
        return bad_lists(kind, host)
    if kind == "role?":
        none = [row for row in none if row[0] is not None]
    return none + [(value, IndexError, f"found {value}") for value in NUMBERLESS]


def bad_lists(kind, host):
    job, far = host.running(0), host.node_count()
    if kind == "wants":
        return [(5, TypeError, ""), ([5], TypeError, "a want is a dict"),
                ([{"gpus": -1}], ValueError, "needed, found -1"),
                ([{"sizes": 1}], TypeError, "has no key 'sizes'"),
                ([{"spot": [(0, 1)]}], TypeError, "its wants have no spot"),
                ([{}] * 99, TypeError, "a list of at most")]
    if kind == "sizes":
        return [(5, TypeError, "a list of"), ([5], TypeError, "a tuple of 2"),
                ([(job, 1, 1)], TypeError, "a tuple of 2"),
                ([(99999, 1)], IndexError, "found 99999"),
                ([(job, -1)], ValueError, "needed, found -1"),
                ([(job, 1.5)], TypeError, "needed, found 1.5")]
    rows = [([(0, 1), (0, 1)], ValueError, RISING), ([(1, 1), (0, 1)], ValueError, RISING),
            ([(far, 1)], IndexError, f"a node must be from 0 to {far - 1}, found {far}"),
            ([(0, 999)], ValueError, "GPUs, found 999"),
            ([(0, -1)], ValueError, "needed, found -1"),
            ([(-1, 1)], IndexError, "found -1"), ([(0.5, 1)], TypeError, "needed, found 0.5")]
    if kind == "spots":
        return [([(job, *pair) for pair in pairs], error, said) for pairs, error, said in rows
                ] + [([(99999, 0, 1)], IndexError, "found 99999"), (7, TypeError, "a list"),
                     ([(0, 1)], TypeError, "a tuple of 3")]
    return rows + [(7, TypeError, "a list"), ([7], TypeError, "found 7"),
                   ([(0, 1, 2)], TypeError, "found (0, 1, 2)"),
                   ([(0, 1)] * 2000, ValueError, "at most")]


def good_value(kind, host):
    task, job, lease = host.pending(0), host.running(0), host.lease_at(0)
    return {"task": task, "job": job, "job!": job, "lease": lease, "lease!": lease, "role": 0,
            "role?": None, "phase": 0, "node": 0, "pool": 0, "gpus": 1, "time": 5, "mask": 0,
            "site": 0, "wants": [{}], "sizes": [], "spots": [], "spot": [],
            "key": host.left_ns}.get(kind, 0)


class Wrong(Policy):
    """tries all that is wrong, once there is something to name; then ends the trial"""
    flags = ("preempts", "resizes", "packs", "draws", "clairvoyant")
    ended = None
    tried = 0

    def job_ended(self, host, job):
        self.ended = job

    def decide(self, host):
        if (host.now_ns() > 3600 * 10**9 and host.pending_count() and host.running_count()
                and self.ended is not None):
            self.try_all(host)
            host.fail(f"tried {self.tried} calls")
        while host.pending_count() and host.start(host.pending(0)) == words.DONE:
            pass

    def expect(self, host, name, arguments, keywords, error, said):
        self.tried += 1
        what = f"{name}({arguments}, {keywords})"
        try:
            found = getattr(host, name)(*arguments, **keywords)
        except error as raised:
            text = raised.args[0] if isinstance(raised, KeyError) else str(raised)
            assert said in text, f"{what}: {text}"
            assert text.startswith(name.rstrip("_")) or not said, f"{what}: {text}"
            return
        except Exception as raised:
            raise AssertionError(f"{what} raised {raised!r}") from raised
        raise AssertionError(f"{what} gave {found!r}")

    def try_all(self, host):
        for name, kinds in WHOLE.items():
            good = [good_value(kind, host) for kind in kinds]
            for i, kind in enumerate(kinds):
                if kinds[1:2] == ["site"] and host.site_count(good[0]) == 0 and kind == "mask":
                    continue            # a site that there is comes first
                if kind == "role" and name == "home_pools" and host.pending(0).role is not None:
                    continue            # the task's own role counts
                for value, error, said in bad_values(kind, host):
                    if self.is_missing(FLAGS.get(name)):
                        error, said = RuntimeError, "this needs the flag"
                    self.expect(host, name, good[:i] + [value] + good[i + 1:], {}, error, said)
            self.expect(host, name, good + [1, 2, 3], {}, TypeError, "")
        for name in ("start", "move", "prepare", "forecast", "forecast_best"):
            good = [good_value(kind, host) for kind in WHOLE[name]]
            for key, kind in KEYWORDS.items():
                for value, error, said in bad_values(kind, host):
                    self.expect(host, name, good, {key: value}, error, said)
            self.expect(host, name, good, {"size": 1}, TypeError, "has no key 'size'")
        for key, kind in FILTERS.items():
            for value, error, said in bad_values(kind, host):
                self.expect(host, "find_pending", [0], {key: value}, error, said)
        self.try_what_is_over(host)
        self.try_extremes(host)

        if self.is_missing("per_phase"):
            self.expect(host, "wake_when_idle", [5], {}, RuntimeError, "needs the flag per_phase")

    def is_missing(self, flag):
        whole = flag in ("resizes", "preempts")
        return flag is not None and (flag not in self.flags or
                                     whole and "per_phase" in self.flags)

    def try_what_is_over(self, host):
        """Of a job that ended long ago nothing is known, and a request for it is refused."""
        over = next(job for job in range(100000) if self.is_forgotten(host, job))
        for name, kinds in WHOLE.items():
            if kinds[0] == "job":
                more = [good_value(kind, host) for kind in kinds[1:]]
                self.expect(host, name, [over] + more, {}, IndexError,
                            f"job {over} has ended, and nothing is known of it any more")
        assert host.stop(over) == words.NOT_PENDING

    @staticmethod
    def is_forgotten(host, job):
        try:
            host.request(job)
        except IndexError:
            return True
        return False

    def try_extremes(self, host):
        """Counts and times that are allowed, however large: an answer, or a verdict."""
        for name, kinds in WHOLE.items():
            for large in (0, 2**31, 2**32 - 1, 2**62, 2**63 - 1):
                good = [good_value(kind, host) for kind in kinds]
                for i, kind in enumerate(kinds):
                    if name == "wake_when_idle" and self.is_missing("per_phase"):
                        continue
                    if kind in ("gpus", "time") and (kind == "time" or large < 2**32):
                        getattr(host, name)(*good[:i], large, *good[i + 1:])
                        self.tried += 1
        pending = host.pending_count()
        for key, kind in KEYWORDS.items():
            for large in (2**31, 2**32 - 1):
                if kind == "gpus" and host.pending_count() > 0:
                    host.start(host.pending(0), **{key: large})
                if kind == "gpus" and host.pending_count() > 0:
                    host.forecast(host.pending(0), **{key: large})
                    host.forecast(host.pending(0), **{key: large, "take_idle": True})
                    host.move(host.lease_at(0), **{key: large})
        for want in ({"first_node": 2**32 - 1, "node_count": 2**32 - 1}, {"role": 2**32 - 1},
                     {"gpus": 2**32 - 1, "cores": 2**32 - 1}):
            if host.pending_count() > 0:
                host.start(host.pending(0), **want)
        assert pending > 0


class WrongPhases(Wrong):
    """the same with leases for a phase"""
    flags = ("per_phase", "preempts", "draws", "clairvoyant", "homes", "forecasts")


class Plans(Policy):
    """reservations that make no sense"""
    def init(self, host):
        bad = [("find", (1, 5), RuntimeError, "find: clear() of the plan comes first"),
               ("take", (0, 5, 1), RuntimeError, "take: clear() of the plan comes first"),
               ("forget", (5,), RuntimeError, "forget: clear() of the plan comes first"),
               ("clear", (-1, 8), ValueError, "clear: a time must not be negative"),
               ("clear", (10, 8), None, None),
               ("take", (9, 20, 1), ValueError, "take: the plan begins at 10 ns, found 9"),
               ("take", (10, 20, 2**40), ValueError, "take: GPUs must be below 2**32"),
               ("take", (10, 20, -2**63), ValueError, "take: GPUs must be below 2**32"),
               ("take", (10, float("nan"), 1), TypeError, "take: whole nanoseconds"),
               ("find", (-1, 5), ValueError, "find: a number from 0"),
               ("find", (1, -5), ValueError, "find: a time must not be negative"),
               ("find", (2**32 - 1, 2**63 - 1), None, None),
               ("forget", (2**63 - 1,), ValueError, "forget: a plan begins before 2**63 - 1"),
               ("clear", (2**63 - 1, 8), ValueError, "clear: a plan begins before 2**63 - 1"),
               ("forget", (1.5,), TypeError, "forget: whole nanoseconds"),
               ("take", (10, 2**63 - 1, 8), None, None),
               ("find", (1, 2**63 - 1, 2**63 - 1), None, None)]
        plan = words.Plan(host)
        for name, arguments, error, said in bad:
            try:
                getattr(plan, name)(*arguments)
                raised = None
            except Exception as why:
                raised = why
            assert type(raised) is (error or type(None)), (name, arguments, raised)
            assert said is None or said in str(raised), (name, arguments, raised)
        host.fail("tried the plan")


class Tries(Policy):
    """says that it tried what it was not told of"""
    flags = ("per_phase",)
    way: str = "none"

    def decide(self, host):
        if host.pending_count() < 2:
            return
        first, second = host.pending(0), host.pending(1)
        if self.way == "none":
            host.tried(first)
        host.next_candidate()
        if self.way == "other":
            host.tried(second)
        if self.way == "anew":
            host.try_anew()
            host.tried(first)
        if self.way == "alike":
            host.tried(first, 3)
        host.tried(first)
        if self.way == "twice":
            host.tried(first)


class Arguments(Case):
    def failure(self, policy, **settings):
        told = self.failures(policy, settings=settings or None)
        return told[0][0]

    def test_each_method_with_an_argument_is_in_the_table(self):
        methods = {name for name in dir(words.Host) if not name.startswith("_")}
        self.assertEqual(methods, set(WHOLE) | OTHERS)

    def test_whatever_a_method_is_given_is_an_error_that_names_it(self):
        told = self.failure(Wrong, **{"workload.arrival.rate": "60/h", "workload.jobs": 300})
        self.assertRegex(told, r"tried [0-9]{4} calls")

    def test_the_same_with_leases_for_a_phase(self):
        told = self.failure(WrongPhases, **{"workload.arrival.rate": "60/h",
                                            "workload.jobs": 300})
        self.assertRegex(told, r"tried [0-9]{4} calls")

    @unittest.skipIf(ROOT is None, "no checkout is around")
    def test_the_same_where_jobs_have_several_roles_and_places(self):
        settings = {"cluster": str(ROOT / "models/clusters/mixed_64.yaml"), "until": "4h",
                    "workload": str(ROOT / "workloads/dpo_mix.yaml")}
        for policy in (Wrong, WrongPhases):
            results = self.run_small([policy], settings=settings)
            self.assertRegex(results.table("failures")[0]["message"],
                             r"tried [0-9]{4} calls")

    def test_reservations_that_make_no_sense_are_errors(self):
        self.assertIn("tried the plan", self.failure(Plans))

    def test_only_the_last_candidate_can_be_tried(self):
        for way in ("none", "other", "anew", "twice"):
            self.assertIn("is not what next_candidate() told last",
                          self.failure({"policy": Tries, "way": way}))
        self.assertIn("tried: alike must be from 0 to 2, found 3",
                      self.failure({"policy": Tries, "way": "alike"}))

    def test_random_numbers_need_their_flag(self):
        class Draws(Policy):
            """has no flag"""
            def decide(self, host):
                host.random()

        self.assertIn("random: this needs the flag draws", self.failure(Draws))


if __name__ == "__main__":
    unittest.main()

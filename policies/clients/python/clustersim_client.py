# SPDX-License-Identifier: GPL-3.0-or-later
"""A policy for clustersim in plain Python: see policies/PROTOCOL.md.

    import clustersim_client as cs

    class Widest(cs.Policy):
        name = "widest"
        def decide(self, now):
            return [cs.start(t) for t in sorted(self.waits, key=lambda t: -t.gpus)]

    cs.run(Widest())

`decide` returns requests, in their order.  The first that is refused ends them, unless
`skip` of the policy is true.  As a generator it may yield requests and questions, gets
their verdicts, and goes on: `verdicts = yield [cs.ask("earliest", 4)]`.  What it yields
as `cs.unless(...)` is the end of the decision if nothing of it is refused.
"""
import bisect
import json
import sys

PROTOCOL = 1
WHOLE = -1                      # the role of a task that is a whole job
STARTS = ("start", "continue", "settle")    # what makes a task wait no more


class Task:
    """What waits: a whole job, or a role of one.  Times are in nanoseconds."""
    __slots__ = ("job", "role", "phase", "gpus", "estimate_ns", "held", "started",
                 "gpu_milli", "of", "key")

    def __init__(self, of, job, gpus, role=WHOLE, phase=0, estimate_ns=0, held=False,
                 started=False, gpu_milli=1000, **later):
        self.of = of                        # the job as it was submitted, a dict
        self.job = job
        self.role = role
        self.phase = phase
        self.gpus = gpus
        self.estimate_ns = estimate_ns
        self.held = held                    # it has an idle lease
        self.started = started
        self.gpu_milli = gpu_milli


def start(task, **want):
    """A request to start a task; see the wants of PROTOCOL.md."""
    return do("start", task, **want)


def do(verb, task, **more):
    if task.role == WHOLE:
        return {verb: task.job, **more}
    return {verb: task.job, "role": task.role, **more}


def param(key, kind, default, help, **more):
    """A key that an entry of `policies:` may have; more: min, max, words."""
    return {"key": key, "kind": kind, "default": default, "help": help, **more}


def ask(verb, number=0, **more):
    return {verb: number, **more}


class unless:
    """Requests after which the decision goes on only if one is refused."""
    def __init__(self, requests):
        self.requests = requests


# How tasks are ordered, by the names of the protocol.
KEYS = {
    "job": lambda t: t.job, "submit": lambda t: t.of["submit_ns"],
    "estimate": lambda t: t.estimate_ns, "gpus": lambda t: t.gpus,
    "priority": lambda t: t.of.get("priority", 0),
}


class Policy:
    name = "python"
    summary = ""
    flags = ()
    order = ()                  # such as ("-priority", "job")
    skip = False                # go on after a request that was refused
    threads = False             # true: this program computes on several processors
    params = ()                 # such as (cs.param("depth", "int", 12, "tasks looked at"),);
                                # `begin` finds the entry's values in self.depth

    def begin(self, start):
        """Called once, with the cluster."""

    def decide(self, now):
        return ()

    def end(self):
        """Called when the trial is over."""

    # What decide may look at: self.waits (in order), self.free and self.idle_gpus (by
    # pool), self.jobs, self.forms, self.idle and self.ended (of this decision).

    def _hello(self, n):
        return {"n": n, "protocol": PROTOCOL, "name": self.name, "summary": self.summary,
                "flags": list(self.flags), "order": list(self.order),
                "threads": self.threads, "params": list(self.params)}

    def _begin(self, start):
        self.jobs, self.forms, self.waits, self._task = {}, {}, [], {}
        self._keys = []         # of self.waits
        self._made = 0
        self._whole = "per_phase" not in self.flags
        keys = [(KEYS[k.lstrip("-")], -1 if k[0] == "-" else 1) for k in self.order]
        tie = (lambda t: t.job) if self._whole else self._tie
        self._key = tie
        if keys:
            self._key = lambda t: (*[f(t) * sign for f, sign in keys], tie(t))
        self.pools = start["pools"]
        for key, value in start.get("params", {}).items():
            setattr(self, key, value)
        self.skip = self.skip or start.get("blocking") == "skip"
        self.begin(start)

    # Whole jobs of equal keys wait in the order in which they came, tasks of phases in
    # that in which they were made.
    def _tie(self, task):
        self._made += 1
        return self._made

    def _leaves(self, job, role):
        task = self._task.pop((job, role), None)
        if task is not None:
            at = bisect.bisect_left(self._keys, task.key)
            del self.waits[at], self._keys[at]

    def _wait(self, item):
        task = Task(self.jobs[item["job"]], **item)
        task.key = key = self._key(task)
        self._task[task.job, task.role] = task
        keys = self._keys
        if not keys or keys[-1] < key:
            keys.append(key)
            self.waits.append(task)
        else:
            at = bisect.bisect_left(keys, key)
            keys.insert(at, key)
            self.waits.insert(at, task)

    def _news(self, message):
        get = message.get
        now = message["now"]
        self.free = message["free"]
        self.idle_gpus = get("idle_gpus", ())
        for form in get("forms", ()):
            self.forms[form["form"]] = form
        for job in get("jobs", ()):
            job.setdefault("submit_ns", now)
            self.jobs[job["job"]] = job
        self.ended = get("ended", ())
        roles = (WHOLE,) if self._whole else range(6)
        for job in self.ended:
            del self.jobs[job]
            for role in roles if self._task else ():
                self._leaves(job, role)
        for gone in get("gone", ()):
            self._leaves(gone["job"], gone["role"])
        for item in get("waits", ()):
            self._wait(item)
        self.idle = get("idle", ())

    def _settle(self, requests, verdicts):
        """Takes what was started from what waits."""
        for request, verdict in zip(requests, verdicts):
            if verdict == "done":
                for verb in STARTS:
                    if verb in request:
                        self._leaves(request[verb], request.get("role", WHOLE))
                        break


def run(policy):
    """Serves one trial over stdin and stdout."""
    read, write, flush = sys.stdin.readline, sys.stdout.write, sys.stdout.flush
    sys.stdout = sys.stderr         # what is printed is no answer
    asked, going = (), None
    dumps = json.JSONEncoder(separators=(",", ":")).encode
    loads = json.JSONDecoder().raw_decode
    while line := read():
        message = loads(line)[0]
        n = message["n"]
        if "now" in message:
            verdicts = message.get("verdicts", ())
            if asked:
                policy._settle(asked, verdicts)
            policy._news(message)
            asked, again, going = _decide(policy, message, verdicts, going)
            end = ',"skip":true' if policy.skip else ""
            if again:
                end += ',"again":"%s"' % again
            write('{"n":%d,"do":%s%s}\n' % (n, dumps(asked) if asked else "[]", end))
        elif "hello" in message:
            write(dumps(policy._hello(n)) + "\n")
        elif "start" in message:
            policy._begin(message["start"])
            write('{"n":%d}\n' % n)
        else:
            policy.end()
            return
        flush()


def _decide(policy, message, verdicts, going):
    """Returns what is asked for, when to ask again, and the generator if it may go on."""
    if going is not None and "again" in message:
        result = going
    else:
        result, verdicts = policy.decide(message["now"]), None
    if not hasattr(result, "send"):
        return list(result or ()), None, None
    try:
        requests, again = result.send(verdicts), "always"
    except StopIteration as end:
        return list(end.value or ()), None, None
    if isinstance(requests, unless):
        requests, again = list(requests.requests), "refused"
        if not requests:
            return requests, None, None
    return list(requests or ()), again, result

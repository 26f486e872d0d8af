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


class Task:
    """What waits: a whole job, or a role of one.  Times are in nanoseconds."""
    __slots__ = ("job", "role", "phase", "gpus", "estimate_ns", "held", "started",
                 "gpu_milli", "of", "key")

    def __init__(self, message, of, key):
        get = message.get
        self.job = message["job"]
        self.role = get("role", WHOLE)
        self.phase = get("phase", 0)
        self.gpus = message["gpus"]
        self.estimate_ns = get("estimate_ns", 0)
        self.held = "held" in message       # it has an idle lease
        self.started = "started" in message
        self.gpu_milli = get("gpu_milli", 1000)
        self.of = of                        # the job as it was submitted, a dict
        self.key = key(self)


def start(task, **want):
    """A request to start a task; see the wants of PROTOCOL.md."""
    return do("start", task, **want)


def do(verb, task, **more):
    if task.role == WHOLE:
        return {verb: task.job, **more}
    return {verb: task.job, "role": task.role, **more}


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
                "threads": self.threads}

    def _begin(self, start):
        self.jobs, self.forms, self.waits, self._task = {}, {}, [], {}
        self._made = 0
        keys = [(KEYS[k.lstrip("-")], -1 if k[0] == "-" else 1) for k in self.order]
        if keys:
            self._key = lambda t: tuple(f(t) * sign for f, sign in keys) + self._tie(t)
        else:
            self._key = self._tie
        self.pools = start["pools"]
        self.skip = self.skip or start.get("blocking") == "skip"
        self.begin(start)

    # Whole jobs of equal keys wait in the order in which they came, tasks of phases in
    # that in which they were made.
    def _tie(self, task):
        self._made += 1
        return (task.job if task.role == WHOLE else self._made,)

    def _leaves(self, job, role):
        task = self._task.pop((job, role), None)
        if task is not None:
            at = bisect.bisect_left(self.waits, task.key, key=lambda t: t.key)
            del self.waits[at]

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
        for job in self.ended:
            for role in range(WHOLE, 6):
                if (job, role) in self._task:
                    self._leaves(job, role)
            del self.jobs[job]
        for gone in get("gone", ()):
            self._leaves(gone["job"], gone["role"])
        for item in get("waits", ()):
            task = Task(item, self.jobs[item["job"]], self._key)
            self._task[task.job, task.role] = task
            if not self.waits or self.waits[-1].key < task.key:
                self.waits.append(task)
            else:
                bisect.insort(self.waits, task, key=lambda t: t.key)
        self.idle = get("idle", ())

    def _settle(self, requests, verdicts):
        """Takes what was started from what waits."""
        for request, verdict in zip(requests, verdicts):
            if verdict == "done":
                for verb in ("start", "continue", "settle"):
                    if verb in request:
                        self._leaves(request[verb], request.get("role", WHOLE))


def run(policy):
    """Serves one trial over stdin and stdout."""
    read, write, flush = sys.stdin.readline, sys.stdout.write, sys.stdout.flush
    sys.stdout = sys.stderr         # what is printed is no answer
    asked, going = (), None
    dumps = json.JSONEncoder(separators=(",", ":")).encode
    loads = json.loads
    while line := read():
        message = loads(line)
        n = message["n"]
        if "now" in message:
            verdicts = message.get("verdicts", ())
            if asked:
                policy._settle(asked, verdicts)
            policy._news(message)
            answer, asked, going = _decide(policy, message, verdicts, going)
            write(dumps(answer) + "\n")
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
    """Returns the answer, what it asks for, and the generator if it may go on."""
    again, requests = None, ()
    if going is not None and "again" in message:
        result = going
    else:
        result, verdicts = policy.decide(message["now"]), None
    if hasattr(result, "send"):
        going = result
        try:
            requests, again = going.send(verdicts), "always"
            if isinstance(requests, unless):
                requests, again = requests.requests, "refused"
        except StopIteration as end:
            requests, going = end.value or (), None
    else:
        requests, going = result, None
    requests = list(requests or ())
    if again == "refused" and not requests:
        again = going = None
    answer = {"n": message["n"], "do": requests}
    if policy.skip:
        answer["skip"] = True
    if again:
        answer["again"] = again
    return answer, requests, going

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
import os
import signal
import sys

PROTOCOL = 1
WHOLE = -1                      # the role of a task that is a whole job

_encode = json.JSONEncoder(separators=(",", ":")).encode
_scan = json.JSONDecoder().scan_once


class Task:
    """What waits: a whole job, or a role of one.  Times are in nanoseconds.

    Its attributes are the keys of `waits`, `of` (the job as it was submitted, a dict) and
    `key` (its place in the order)."""
    role = WHOLE
    phase = estimate_ns = 0
    held = started = False      # held: it has an idle lease
    gpu_milli = 1000

    @property
    def of(self):
        if type(self._of) is _Unread:
            self._of = self._of.read()[self.job]
        return self._of


class _Unread:
    """The jobs of a message, which are read once somebody looks at one: names and tenants
    are most of a message, and many policies look at neither."""
    __slots__ = ("text", "now", "jobs")

    def __init__(self, text, now):
        self.text, self.now, self.jobs = text, now, None

    def read(self):
        if self.jobs is None:
            self.jobs = {job["job"]: job for job in _scan(self.text, 0)[0]}
            for job in self.jobs.values():
                job.setdefault("submit_ns", self.now)
            self.text = None
        return self.jobs


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


# Attributes that are set at the start and with each message.
NEWS = ("pools", "forms", "waits", "free", "idle_gpus", "ended", "idle")


class Policy:
    name = "python"
    summary = ""
    _reads = True               # jobs as they come; see `jobs`
    flags = ()
    order = ()                  # such as ("-priority", "job")
    skip = False                # go on after a request that was refused
    threads = False             # true: this program computes on several processors
    reuse = True                # each trial in a copy of this process (fork), where there is
                                # that and `threads` is false; else in a process of its own
    params = ()                 # such as (cs.param("depth", "int", 12, "tasks looked at"),);
                                # `begin` finds the entry's values in self.depth

    def begin(self, start):
        """Called once, with the cluster."""

    def decide(self, now):
        return ()

    def end(self):
        """Called when the trial is over."""

    @property
    def jobs(self):
        """By number, all that have not ended, as dicts: keys of `jobs` in PROTOCOL.md."""
        if not self._reads:
            self._reads = True          # from now on as they come
            for job, of in self._jobs.items():
                if type(of) is _Unread:
                    self._jobs[job] = of.read()[job]
        return self._jobs

    # What decide may look at: self.waits (in order), self.free and self.idle_gpus (by
    # pool), self.jobs, self.forms, self.idle and self.ended (of this decision).

    def _reuses(self):
        return bool(self.reuse) and not self.threads and hasattr(os, "fork")

    def _check_params(self):
        """A parameter is an attribute: it must not take the place of another one."""
        known = [name for name in (*dir(Policy), *NEWS) if not name.startswith("_")]
        for given in self.params:
            if given["key"] in known:
                raise ValueError(f"parameter {given['key']} of {self.name} has the name of an "
                                 "attribute that each policy has: " + ", ".join(sorted(known)))

    def _hello(self, n):
        self._check_params()
        for word in self.order:
            if word.lstrip("-") not in KEYS:    # no message says when a task was ready
                raise ValueError(f"order of {self.name}: this client orders by "
                                 f"{', '.join(KEYS)}, found {word!r}")
        return {"n": n, "protocol": PROTOCOL, "name": self.name, "summary": self.summary,
                "flags": list(self.flags), "order": list(self.order),
                "threads": self.threads, "reuse": self._reuses(),
                "params": list(self.params)}

    def _begin(self, start):
        self._jobs, self.forms, self.waits, self._task = {}, {}, [], {}
        self._keys = []         # of self.waits
        self._made = 0
        self._whole = "per_phase" not in self.flags
        self._reads = not self._whole
        keys = [(KEYS[k.lstrip("-")], -1 if k[0] == "-" else 1) for k in self.order]
        tie = (lambda t: t.job) if self._whole else self._tie
        self._key = tie
        if keys:
            self._key = lambda t: (*[f(t) * sign for f, sign in keys], tie(t))
        self._by_job = self._whole and not keys
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

    # Tasks by number of their job; with `per_phase` by that and their role.
    def _leaves(self, job, role):
        task = self._task.pop(job if self._whole else (job, role), None)
        if task is not None:
            at = bisect.bisect_left(self._keys, task.key)
            del self.waits[at], self._keys[at]

    def _wait(self, items, unread):
        new, jobs, known, waits, keys = (Task.__new__, self._jobs, self._task, self.waits,
                                         self._keys)
        by_job, whole = self._by_job, self._whole
        for item in items:
            task = new(Task)
            task.__dict__ = item
            job = item["job"]
            item["_of"] = of = jobs.get(job, unread)
            if of is unread:
                jobs[job] = of
            item["key"] = key = job if by_job else self._key(task)
            known[job if whole else (job, task.role)] = task
            if not keys or keys[-1] < key:
                keys.append(key)
                waits.append(task)
            else:
                at = bisect.bisect_left(keys, key)
                keys.insert(at, key)
                waits.insert(at, task)

    def _news(self, message, unread=None):
        get = message.get
        now, jobs = message["now"], self._jobs
        self.free = message["free"]
        self.idle_gpus = get("idle_gpus", ())
        for form in get("forms", ()):
            self.forms[form["form"]] = form
        for job in get("jobs", ()):
            if "submit_ns" not in job:
                job["submit_ns"] = now
            jobs[job["job"]] = job
        self.ended = get("ended", ())
        roles = (WHOLE,) if self._whole else range(6)
        for job in self.ended:
            del jobs[job]
            for role in roles if self._task else ():
                self._leaves(job, role)
        for gone in get("gone", ()):
            self._leaves(gone["job"], gone["role"])
        if "waits" in message:
            self._wait(message["waits"], unread)
        self.idle = get("idle", ())

    def _read(self, line):
        """Returns a message, and its jobs if they are not read yet."""
        text = line.decode()
        # A shorter message is read faster than it is taken apart: measured with one job.
        at = -1 if self._reads or len(text) < 300 else text.find(',"jobs":[')
        if at >= 0:
            # Within a text a quotation mark has a backslash before it: these are keys.
            end = max(text.find('],"ended":['), 0) or text.find('],"waits":[')
            jobs, rest = text[at + 8:end + 1], text[:at] + text[end + 1:]
            message, known = _scan(rest, 0)[0] if end > at else {}, self._jobs
            new = [0 for item in message.get("waits", ()) if item["job"] not in known]
            if new and len(new) == jobs.count('{"job":'):
                return message, _Unread(jobs, message["now"])
        return _scan(text, 0)[0], None

    def _settle(self, requests, verdicts):
        """Takes what was started from what waits."""
        known, gone, whole = self._task, [], self._whole
        for request, verdict in zip(requests, verdicts):
            if verdict == "done":
                job = request.get("start")
                if job is None:
                    job = request.get("continue", request.get("settle"))
                task = known.pop(job if whole else (job, request.get("role", WHOLE)), None)
                if task is not None:
                    gone.append(task)
        count = len(gone)
        if self.waits[:count] == gone:          # as a rule they were the first
            del self.waits[:count], self._keys[:count]
            return
        for task in gone:
            at = bisect.bisect_left(self._keys, task.key)
            del self.waits[at], self._keys[at]


def run(policy):
    """Serves trials over stdin and stdout.

    Each is served by a copy of this process: it finds everything as it was when run() was
    called, modules and class attributes included.
    """
    read = open(sys.stdin.fileno(), "rb", 1 << 16, closefd=False).readline
    sys.stdout = sys.stderr         # what is printed is no answer
    if not policy._reuses():
        _serve(policy, read, read(), None)
        return
    while b'"hello":' in (line := read()):
        told, tell = os.pipe()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            os.close(told)
            _serve(policy, read, line, tell)
            return
        os.close(tell)
        _, status = os.waitpid(pid, 0)
        n = os.read(told, 20)
        if n == b"":
            _end_as(status)             # the trial was not over
        os.close(told)
        _write('{"n":%d}\n' % int(n))
    sys.stderr.flush()
    os._exit(0)


def _end_as(status):
    if os.WIFSIGNALED(status):
        signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.WEXITSTATUS(status))


def _write(text):
    data = text.encode()
    done = os.write(1, data)
    while done < len(data):
        done += os.write(1, data[done:])


def _items(requests):
    """Requests as JSON.  Most only say what to start."""
    return ",".join([f'{{"start":{r["start"]}}}'
                     if len(r) == 1 and type(r.get("start")) is int else _encode(r)
                     for r in requests])


def _serve(policy, read, line, tell):
    """Serves one trial; `tell`: the number of its last message is written there."""
    asked, going = (), None
    while line:
        message, unread = policy._read(line)
        n = message["n"]
        if "now" in message:
            verdicts = message.get("verdicts", ())
            if asked:
                policy._settle(asked, verdicts)
            policy._news(message, unread)
            asked, again, going = _decide(policy, message, verdicts, going)
            end = ',"skip":true' if policy.skip else ""
            if again:
                end += ',"again":"%s"' % again
            _write('{"n":%d,"do":[%s]%s}\n' % (n, _items(asked), end))
        elif "hello" in message:
            _write(_encode(policy._hello(n)) + "\n")
        elif "start" in message:
            policy._begin(message["start"])
            _write('{"n":%d}\n' % n)
        else:
            if tell is not None:
                os.write(tell, b"%d" % n)
            policy.end()
            return
        line = read()


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

# SPDX-License-Identifier: GPL-3.0-or-later
"""Built-in policies once more, in Python: they must give the same bytes."""
import clustersim as cs
from clustersim.policy import (ALIKE_ALL, ALIKE_AS_LONG, ALIKE_NONE, DONE, NO_ROOM, Fraction,
                               Plan, Policy, Time)

NEVER = 2**63 - 1


class MyFcfs(Policy):
    """first come, first served"""
    flags = ("asks_blocking",)

    def decide(self, host):
        i = 0
        while i < host.pending_count():
            if host.start(host.pending(i)) == DONE:
                continue
            if not host.skips():
                return
            i += 1


class SjfKey(Policy):
    """shortest estimate first, by a key"""
    flags = ("asks_estimates",)

    def key(self, host, task):
        return task.estimate_ns


class SjfBefore(Policy):
    """shortest estimate first, by comparison"""
    flags = ("asks_estimates",)

    def before(self, host, a, b):
        return a.estimate_ns < b.estimate_ns


class MyHrrn(Policy):
    """highest response ratio first: its order moves"""
    flags = ("order_moves", "asks_estimates")

    def key(self, host, task):
        estimate = max(task.estimate_ns, 1)
        return -(host.now_ns() - task.submit_ns + estimate) / estimate


class MyEasy(Policy):
    """EASY backfill: one reservation, for the head of the queue"""
    flags = ("reserves", "asks_estimates")

    def decide(self, host):
        while host.pending_count() and host.start(host.pending(0)) == DONE:
            pass
        if host.pending_count() < 2:
            return
        promised, spare = host.earliest_ns(host.pending(0).gpus)
        in_time_ns = promised - host.now_ns()
        i = 1
        while host.free_gpus() > 0:
            i = host.find_pending(i, gpus_max=host.free_gpus(), gpus_any_estimate=spare,
                                  estimate_max_ns=in_time_ns, startable=True)
            if i >= host.pending_count():
                return
            task = host.pending(i)
            gpus, late = task.gpus, task.estimate_ns > in_time_ns
            if host.start(task) != DONE:
                i += 1
            elif late:
                spare -= gpus


class Choice:
    want = None
    over_s = 0.0
    found = held = holds = away = spares = room = False


class MyDynamic(Policy):
    """leases per phase, idle GPUs lent where switching pays"""
    flags = ("per_phase", "homes", "forecasts", "grows")
    lend: bool = True
    gain_min: float = 1.0
    lend_max: Fraction = "50%"
    release_max: Fraction = "10%"

    def before(self, host, a, b):
        if a.priority != b.priority:
            return a.priority > b.priority
        return a.job < b.job

    def decide(self, host):
        self.full = []
        host.try_anew()
        task = host.next_candidate()
        while task is not None:
            if self.too_large(host, task) or self.is_full(host, task):
                host.tried(task, ALIKE_ALL)
            else:
                self.attempt(host, task)
            task = host.next_candidate()

    def lease_idle(self, host, lease):
        idle = host.lease(lease)
        if idle.state != "idle" or host.job_task(idle.job, idle.role) is not None:
            return
        if (host.switch_loss(idle.job) <= self.release_max if idle.gpus > 0
                else not host.settled(idle.job)):
            host.release(lease)

    def too_large(self, host, task):
        if task.held is not None or (task.role is not None and
                                     host.request(task).role_chooses[task.role]):
            return False
        return task.gpus > max(host.free_gpus() + host.idle_gpus(), 1)

    def kind(self, host, task):
        return host.request(task).form, task.role, task.gpus

    def is_full(self, host, task):
        return task.held is None and self.kind(host, task) in self.full

    def attempt(self, host, task):
        if (task.gpus > 0 and not host.settled(task) and
                host.switch_loss(task) > self.lend_max):
            if host.settle(task) != DONE:
                host.tried(task)
            return
        best, alike, verdict = self.choose(host, task), ALIKE_NONE, NO_ROOM
        if best.found and best.held:
            verdict = host.continue_(task)
        elif best.found and not self.waits(host, task, best):
            verdict = host.start(task, **best.want)
        else:
            alike = ALIKE_AS_LONG if best.found or best.room else ALIKE_ALL
        if alike == ALIKE_ALL and len(self.full) < 16:
            self.full.append(self.kind(host, task))
        if verdict != DONE:
            host.tried(task, alike)

    def choose(self, host, task):
        home, best = host.home_pools(task, task.role), Choice()
        held = host.forecast_held(task)
        if held is not None:
            best.over_s, best.found, best.held, best.holds = held.run_s, True, True, True
        self.consider_sites(host, task, {"pools": home}, best)
        if not self.lend or task.gpus == 0:
            return best
        roles = sum(gpus > 0 for gpus in host.request(task).role_gpus)
        best.away = home != 0 and roles > 1 and host.switch_loss(task) > self.release_max
        best.spares = best.away
        if home:
            self.consider_sites(host, task, {"pools": 0}, best)
        if host.pending_count() == 1 and host.most_gpus(task) > task.gpus:
            self.consider_sites(host, task, {"pools": 0, "gpus": host.most_gpus(task)}, best)
        return best

    def consider_sites(self, host, task, want, best):
        count = host.site_count(task)
        if count == 0:
            self.consider_both(host, task, want, best)
        for i in range(count):
            site = host.site(task, i, want["pools"])
            if site is not None:
                self.consider_both(host, task, {**want, **site}, best)

    def consider_both(self, host, task, want, best):
        self.consider(host, task, want, best)
        want = {**want, "take_idle": True}
        f = None if best.spares else host.forecast(task, **want)
        if f is None:
            return
        best.room = True
        rest_s = self.gain_min * (f.switch_s + f.evict_s) - f.run_s
        idle_ns = int(min(rest_s, 1e6) * 1e9) if rest_s > 0 else 0
        self.consider(host, task, {**want, "idle_ns": idle_ns}, best)
        if not best.found:
            host.wake_when_idle(idle_ns)

    def consider(self, host, task, want, best):
        f = host.forecast(task, **want)
        if f is None:
            return
        switch_s = f.switch_s
        if task.started and task.gpus > 0:
            switch_s = max(switch_s, host.switch_s(task, task.role))
        over = f.run_s + switch_s + self.gain_min * f.evict_s
        if best.holds:
            over += (self.gain_min - 1) * switch_s
        if best.away:
            over += self.gain_min * switch_s
        if best.found and over >= best.over_s:
            return
        best.want, best.over_s, best.found, best.held = want, over, True, False

    def waits(self, host, task, best):
        home = host.home_pools(task, task.role)
        if not home or task.gpus == 0:
            return False
        wait = host.room_in_s(home, task.gpus)
        return wait > 0 and wait + task.estimate_ns / 1e9 < best.over_s


class MySrtf(Policy):
    """shortest remaining time first, preempting: a key that moves"""
    flags = ("preempts", "asks_estimates")

    def decide(self, host):
        host.reallocate(host.left_ns)


class Planned:
    """What a job asks for, and when it is to run; start_ns None: it has no place."""
    def __init__(self, task):
        self.job, self.gpus, self.run_ns = task.job, task.gpus, max(task.estimate_ns, 1)
        self.start_ns = self.end_ns = None


class MyConservative(Policy):
    """conservative backfill: every waiting job has a reservation, in a Plan"""
    flags = ("reserves", "asks_estimates")

    def init(self, host):
        self.plan, self.total = Plan(host), None
        self.planned, self.runs = {}, {}        # what waits, and what runs, by job
        self.early = False

    def reset(self, host):
        self.total = host.total_gpus()
        self.plan.clear(host.now_ns(), self.total)

    def job_submitted(self, host, job):
        if self.total is None:
            self.reset(host)
        self.planned[job] = Planned(host.job_task(job))

    def job_ended(self, host, job):
        run = self.runs.pop(job, None)
        if run is not None and run.end_ns > host.now_ns():
            self.plan.take(host.now_ns(), run.end_ns, -run.gpus)
            self.early = True

    def reserve(self, job):
        job.start_ns = self.plan.find(job.gpus, job.run_ns)
        job.end_ns = min(job.start_ns + job.run_ns, NEVER)
        self.plan.take(job.start_ns, job.end_ns, job.gpus)

    def advance(self, job):
        start_ns = self.plan.find(job.gpus, job.run_ns, job.start_ns)
        if start_ns == job.start_ns:
            return
        end_ns = min(start_ns + job.run_ns, NEVER)
        self.plan.take(start_ns, min(end_ns, job.start_ns), job.gpus)
        self.plan.take(max(end_ns, job.start_ns), job.end_ns, -job.gpus)
        job.start_ns, job.end_ns = start_ns, end_ns

    def replan(self, host):
        now = host.now_ns()
        self.reset(host)
        for i in range(host.running_count()):
            run = self.runs[host.running(i)]
            run.end_ns = max(run.end_ns, now + 1)
            self.plan.take(now, run.end_ns, run.gpus)
        for i in range(host.pending_count()):
            task = host.pending(i)
            self.planned[task.job] = Planned(task)
            self.reserve(self.planned[task.job])

    def is_broken(self, host):
        now = host.now_ns()
        return (host.total_gpus() != self.total or
                any(job.start_ns is not None and job.start_ns < now
                    for job in self.planned.values()) or
                any(run.end_ns <= now for run in self.runs.values()))

    def decide(self, host):
        now = host.now_ns()
        if self.total is None:
            self.reset(host)
        self.plan.forget(now)
        if self.is_broken(host):
            self.replan(host)
        else:
            for job in list(self.planned.values()):
                if job.start_ns is None:
                    self.reserve(job)
                elif self.early:
                    self.advance(job)
        self.early = False
        for job in sorted(self.planned.values(), key=lambda job: (job.start_ns, job.job)):
            if job.start_ns > now:
                break
            if host.start(host.job_task(job.job)) == DONE:
                self.runs[job.job] = self.planned.pop(job.job)
        start_ns = min((job.start_ns for job in self.planned.values()), default=NEVER)
        end_ns = min((run.end_ns for run in self.runs.values()), default=NEVER)
        if now < start_ns < min(end_ns, NEVER):
            host.wake_at(start_ns)


class Sized:
    """A job and the size that it is to have."""
    def __init__(self, host, job, room):
        least = host.size_least(job)
        self.job, self.left_s = job, 1e-9 * host.left_ns(job)
        self.gpus, self.gain = least if least <= room else 0, -1

    def look_ahead(self, host):
        speedup = host.best_speedup(self.job, self.gpus)
        self.next, self.gain = host.size_above(self.job, self.gpus), -1
        after = host.best_speedup(self.job, self.next) if self.next else 0
        if after > speedup:
            self.gain = ((self.left_s / speedup - self.left_s / after) /
                         (self.next - self.gpus))


class MyOptimus(Policy):
    """elastic: GPUs to the job whose end comes nearest by them"""
    flags = ("preempts", "resizes", "asks_estimates", "one_role", "needs_gpus")
    interval: Time = "600s"

    def decide(self, host):
        now, room = host.now_ns(), host.total_gpus()
        if host.pending_count() + host.running_count() == 0:
            return
        host.wake_at((now // self.interval + 1) * self.interval)
        if now % self.interval:
            return
        jobs = [host.running(i) for i in range(host.running_count())]
        jobs += [host.pending(i).job for i in range(host.pending_count())]
        sized = []
        for job in sorted(jobs):
            sized.append(Sized(host, job, room))
            room -= sized[-1].gpus
            if sized[-1].gpus:
                sized[-1].look_ahead(host)
        while True:
            fit = [s for s in sized if s.gpus and s.gain > 0 and s.next - s.gpus <= room]
            if not fit:
                break
            best = max(fit, key=lambda s: s.gain)
            room -= best.next - best.gpus
            best.gpus = best.next
            best.look_ahead(host)
        host.set_sizes([(s.job, s.gpus) for s in sized])


assert issubclass(MyDynamic, cs.Policy)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Leases per phase, idle GPUs lent where switching pays: as the built-in dynamic, to the
byte.  policies/phases/dynamic.c says why it does what it does."""
import clustersim_client as cs

ON_CORES = 4294967295
FULL_MAX = 16
NONE, AS_LONG, ALL = 0, 1, 2    # what is alike to a task that was tried


class Choice:
    want = over_s = None
    held = holds = away = spares = room = False


class Dynamic(cs.Policy):
    name = "dynamic"
    summary = "leases per phase, idle GPUs lent where switching pays"
    flags = ("per_phase", "homes", "forecasts", "grows")
    order = ("-priority", "job")
    skip = True
    params = (
        cs.param("lend", "bool", True, "may a phase use GPUs outside the pool of its role"),
        cs.param("gain_min", "real", 1.0, "seconds gained per second of switching, at least",
                 min=0, max=100),
        cs.param("lend_max", "fraction", "50%", "a job whose switches would take a larger "
                 "part of a step keeps its GPUs for its life", min=0, max=100),
        cs.param("release_max", "fraction", "10%", "a job whose switches take no larger part "
                 "of a step gives its GPUs back between phases", min=0, max=100))

    def decide(self, now):
        requests = []
        for idle in self.idle:
            if (idle["job"], idle["role"]) in self._task:
                continue
            verdicts = yield requests + [
                cs.ask("about", idle["job"], role=idle["role"])]
            about, requests = verdicts[-1], []
            if about != "not_pending" and (about["switch_loss"] <= self.release_max
                                           if idle["gpus"] > 0 else not about["settled"]):
                requests.append(cs.ask("release", idle["job"], role=idle["role"]))
        if self.waits:
            requests.append(cs.ask("anew"))
        full = []
        while self.waits:
            verdicts = yield requests + [cs.ask("next")]
            if verdicts[-1] is None:
                return
            task = self._task[verdicts[-1]["job"], verdicts[-1]["role"]]
            if self.too_large(task) or self.is_full(full, task):
                requests = [cs.do("tried", task, alike=ALL)]
            else:
                requests = yield from self.attempt(task, full)
        return requests

    def role_of(self, task):
        return self.forms[task.of["form"]]["roles"][task.role]

    def too_large(self, task):
        if task.held or "on_cores" in self.role_of(task):
            return False
        return task.gpus > max(sum(self.free) + sum(self.idle_gpus), 1)

    def is_full(self, full, task):
        return not task.held and (task.of["form"], task.role, task.gpus) in full

    def attempt(self, task, full):
        """Returns the requests that a task comes to."""
        about = (yield [cs.do("about", task)])[0]
        if task.gpus > 0 and not about["settled"] and about["switch_loss"] > self.lend_max:
            return [cs.do("settle", task), cs.do("tried", task, alike=NONE)]
        best = yield from self.choose(task, about)
        if best.over_s is not None and best.held:
            return [cs.do("continue", task), cs.do("tried", task, alike=NONE)]
        wakes = self.wakes
        if best.over_s is not None and not (yield from self.awaits(task, about, best)):
            return wakes + [cs.start(task, **best.want), cs.do("tried", task, alike=NONE)]
        alike = AS_LONG if best.over_s is not None or best.room else ALL
        if alike == ALL and len(full) < FULL_MAX:
            full.append((task.of["form"], task.role, task.gpus))
        return wakes + [cs.do("tried", task, alike=alike)]

    def awaits(self, task, about, best):
        """Would the phase be over earlier if it waited for its own pool?"""
        if about["home"] == 0 or task.gpus == 0:
            return False
        wait = (yield [cs.ask("room_in", task.gpus, pools=about["home"])])[0]
        if wait is None:
            return False
        return wait > 0 and wait + task.estimate_ns / 1e9 < best.over_s

    def sites(self, about, want, cores):
        """The wants of all sites within those pools."""
        if not about["sites"]:
            return [want]
        pools = want["pools"]
        return [{**want, **site} for site in about["sites"]
                if (pools == 0 or site["pools"] & ~pools == 0) and
                (cores or site["gpu_type"] != ON_CORES)]

    def choose(self, task, about):
        best, home = Choice(), about["home"]
        parts = [(False, self.sites(about, {"pools": home}, True))]
        if task.gpus > 0 and self.lend:
            if home:
                parts.append((True, self.sites(about, {"pools": 0}, True)))
            most = about["most_gpus"]
            if len(self.waits) == 1 and most > task.gpus:
                parts.append((True, self.sites(about, {"pools": 0, "gpus": most}, False)))
        wants = [want for _, sites in parts for want in sites]
        now = yield ([cs.do("forecast_held", task)] +
                     [cs.do("forecast", task, **want) for want in wants] +
                     [cs.do("forecast", task, **want, take_idle=True) for want in wants])
        held, free, taken = now[0], now[1:len(wants) + 1], now[len(wants) + 1:]
        idle_ns, later = self.idle_times(taken), {}
        asks = [i for i in range(len(wants)) if idle_ns[i] > 0]
        if asks:
            answers = yield [cs.do("forecast", task, **wants[i], take_idle=True,
                                   idle_ns=idle_ns[i]) for i in asks]
            later = dict(zip(asks, answers))
        self.wakes = []
        if isinstance(held, dict):
            best.over_s, best.held, best.holds = held["run_s"], True, True
        gpu_roles = sum(r["gpus"] > 0 for r in self.forms[task.of["form"]]["roles"])
        i = 0
        for away, sites in parts:
            if away:
                best.away = (home != 0 and gpu_roles > 1 and
                             about["switch_loss"] > self.release_max)
                best.spares = best.away
            for want in sites:
                self.consider(task, about, want, free[i], best)
                if not best.spares and isinstance(taken[i], dict):
                    best.room = True
                    more = {**want, "take_idle": True}
                    if idle_ns[i] > 0:
                        more["idle_ns"] = idle_ns[i]
                    self.consider(task, about, more, later.get(i, taken[i]), best)
                    if best.over_s is None:
                        self.wakes.append(cs.ask("wake_when_idle", idle_ns[i]))
                i += 1
        return best

    def idle_times(self, taken):
        """For how long a lease must have been idle to be taken, by forecast."""
        rest = [self.gain_min * (f["switch_s"] + f["evict_s"]) - f["run_s"]
                if isinstance(f, dict) else 0 for f in taken]
        return [int(min(r, 1e6) * 1e9) if r > 0 else 0 for r in rest]

    def consider(self, task, about, want, forecast, best):
        """Takes the want if it is over earlier; switching is charged at gain_min."""
        if not isinstance(forecast, dict):
            return
        switch_s = forecast["switch_s"]
        if task.started and task.gpus > 0:
            switch_s = max(switch_s, about["switch_s"])
        over = forecast["run_s"] + switch_s + self.gain_min * forecast["evict_s"]
        if best.holds:
            over += (self.gain_min - 1) * switch_s
        if best.away:
            over += self.gain_min * switch_s
        if best.over_s is not None and over >= best.over_s:
            return
        best.want, best.over_s, best.held = want, over, False


if __name__ == "__main__":
    cs.run(Dynamic())

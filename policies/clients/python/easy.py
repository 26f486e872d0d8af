# SPDX-License-Identifier: GPL-3.0-or-later
"""EASY backfill: as the built-in easy, to the byte."""
import clustersim_client as cs


class Easy(cs.Policy):
    name = "easy"
    summary = "EASY backfill: one reservation, for the head of the queue"
    flags = ("reserves", "estimates")

    def decide(self, now):
        # What fits is started in order; the first that does not is promised a start.
        free, head, requests = sum(self.free), 0, []
        while head < len(self.waits) and self.waits[head].gpus <= free:
            free -= self.waits[head].gpus
            requests.append({"start": self.waits[head].job})
            head += 1
        if free == 0 or not any(t.gpus <= free for t in self.waits[head + 1:]):
            if not requests:
                return
            yield cs.unless(requests)       # a node that is in pieces may refuse one
        elif requests:
            yield requests
        if len(self.waits) < 2 or sum(self.free) == 0:
            return
        verdicts = yield [cs.ask("earliest", self.waits[0].gpus)]
        in_time_ns, spare = verdicts[0]["at_ns"] - now, verdicts[0]["spare"]
        yield from self.backfill(in_time_ns, spare)

    def backfill(self, in_time_ns, spare):
        """Starts what ends in time, and what fits beside the head."""
        passed = {self.waits[0].job}
        while True:
            free, left, tasks = sum(self.free), spare, []
            for task in self.waits:
                if task.job in passed or task.gpus > free:
                    continue
                if task.estimate_ns > in_time_ns and task.gpus > left:
                    continue
                free -= task.gpus
                left -= task.gpus if task.estimate_ns > in_time_ns else 0
                tasks.append(task)
            if not tasks:
                return
            verdicts = yield cs.unless([{"start": t.job} for t in tasks])
            # They were started up to the one that was refused.
            for task in tasks[:len(verdicts) - 1]:
                spare -= task.gpus if task.estimate_ns > in_time_ns else 0
            last = tasks[len(verdicts) - 1]
            passed.add(last.job)
            # What comes before it in the order was looked at.
            passed.update(t.job for t in self.waits if t.key < last.key)


if __name__ == "__main__":
    cs.run(Easy())

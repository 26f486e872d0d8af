# SPDX-License-Identifier: GPL-3.0-or-later
"""First come, first served: as the built-in fcfs, to the byte."""
import clustersim_client as cs


class Fcfs(cs.Policy):
    name = "fcfs"
    summary = "first come, first served"
    flags = ("blocking", "estimates")

    def decide(self, now):
        """Starts in order what the free GPUs suffice for; nodes are the host's business."""
        if self.skip:
            return self.pass_over()
        free, requests = sum(self.free), []
        for task in self.waits:
            if task.gpus > free:
                break
            free -= task.gpus
            requests.append({"start": task.job})
        return requests

    def pass_over(self):
        """The same where those that do not fit are passed over (`blocking: skip`)."""
        tried = set()
        while True:
            free, requests = sum(self.free), []
            for task in self.waits:
                if task.gpus <= free and task.job not in tried:
                    free -= task.gpus
                    tried.add(task.job)
                    requests.append({"start": task.job})
            if not requests:
                return
            yield cs.unless(requests)


if __name__ == "__main__":
    cs.run(Fcfs())

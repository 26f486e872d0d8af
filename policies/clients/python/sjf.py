# SPDX-License-Identifier: GPL-3.0-or-later
"""Shortest job first: as the built-in sjf, to the byte."""
import clustersim_client as cs
from fcfs import Fcfs


class Sjf(Fcfs):
    name = "sjf"
    summary = "shortest estimate first"
    order = ("estimate",)       # self.waits and the host have this order


if __name__ == "__main__":
    cs.run(Sjf())

# SPDX-License-Identifier: GPL-3.0-or-later
"""ci.py BUILD SCRATCH: the scripts of the CI kit, run as CI systems run them.

Prints a line "ok WHAT" or "not-ok WHAT" for each thing that must hold.
"""
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

import jsonschema
import yaml

BUILD, SCRATCH = sys.argv[1:3]
KIT = "experiments/ci"

EXPERIMENT = """\
experiment: gate
seeds: 20
cluster: {nodes: [{name: gpu, count: 8, gpus: {type: generic, count: 8}}]}
workload:
  arrival: {process: poisson, rate: 20/h}
  jobs: 300
  mix:
    - recipe: trace
      gpus: {choice: {1: 0.6, 2: 0.15, 4: 0.1, 8: 0.15}}
      duration: {lognormal: {mean: 1h, cv: 1}, max: 2d}
policies:
  - fcfs
  - ./mine.c
output: {plots: [], tables: [summary, compare]}
expect:
  - {claim: all are done, metric: jobs_done, policy: mine, at_least: 300}
"""
POLICY = """\
#include "policies/policy.h"

static bool before(const void *self, const struct cs_host *host, struct task_id a,
                   struct task_id b)
{
    (void)self;
    return cs_task(host, a)->gpus < cs_task(host, b)->gpus;
}
extern const struct cs_policy mine_policy;
const struct cs_policy mine_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "mine", .summary = "fewest GPUs first", .before = before,
};
"""


def say(holds, what):
    print("ok" if holds else "not-ok", what.replace("\n", " | ")[:400])


def load(name):
    with open(os.path.join(KIT, name), encoding="utf-8") as file:
        return yaml.safe_load(file)


def write(name, text):
    with open(os.path.join(SCRATCH, "repo", name), "w", encoding="utf-8") as file:
        file.write(text)


def read(name):
    with open(os.path.join(SCRATCH, "repo", name), encoding="utf-8") as file:
        return file.read()


def run(script, env):
    """As the systems do: a shell that ends at the first failure."""
    environ = dict(os.environ, PATH=BUILD + ":" + os.environ["PATH"], **env)
    for name in ("gate.xml", "gate.md", "gate.json"):
        path = os.path.join(SCRATCH, "repo", name)
        if os.path.exists(path):
            os.remove(path)
    return subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script],
                          cwd=os.path.join(SCRATCH, "repo"), env=environ, text=True,
                          capture_output=True)


def git(*words):
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words], check=True,
                   cwd=os.path.join(SCRATCH, "repo"), capture_output=True)


def github():
    """The steps with scripts of both jobs, and what the file must have."""
    flow = load("github.yml")
    say(set(flow) == {"name", True, "env", "jobs"}, "github.yml has name, on, env and jobs")
    say({"push", "pull_request", "workflow_dispatch"} == set(flow[True]), "github.yml: on")
    for name, job in flow["jobs"].items():
        say({"runs-on", "container", "steps"} <= set(job), "github.yml: job " + name)
        for step in job["steps"]:
            say(("run" in step) != ("uses" in step), "github.yml: a step runs or uses")
    steps = {step["name"]: step["run"] for job in flow["jobs"].values()
             for step in job["steps"] if "run" in step}
    return steps, flow["env"]


def gitlab():
    flow = load("gitlab.yml")
    jobs = {name: job for name, job in flow.items() if isinstance(job, dict) and "script" in job}
    say(set(jobs) == {"clustersim", "clustersim-baseline"}, "gitlab.yml has both jobs")
    for name, job in jobs.items():
        say(job["stage"] in flow["stages"], "gitlab.yml: the stage of %s is there" % name)
    reports = jobs["clustersim"]["artifacts"]["reports"]
    script = " ".join(jobs["clustersim"]["script"])
    say(reports["junit"] in script and reports["codequality"] in script,
        "gitlab.yml: reports are the files that the script writes")
    return {name: "\n".join(job["script"]) for name, job in jobs.items()}, flow["variables"]


def suite():
    root = xml.fromstring(read("gate.xml"))
    return root, {child.get("name"): [part.tag for part in child] for child in root}


def try_github(steps, env):
    env = dict(env, GITHUB_STEP_SUMMARY=os.path.join(SCRATCH, "summary"))
    done = run(steps["gate"], env)
    say(done.returncode == 0, "github: the gate is green: " + done.stdout + done.stderr)
    say("::error" not in done.stdout, "github: nothing is annotated where all holds")
    run(steps["gate"] + steps["summary"], env)
    with open(env["GITHUB_STEP_SUMMARY"], encoding="utf-8") as file:
        say("| holds | no regression of mine (base) |" in file.read(), "github: a summary")

    write("mine.c", POLICY.replace("->gpus <", "->gpus >"))
    done = run(steps["gate"], env)
    say(done.returncode == 1, "github: a worse policy turns it red: " + done.stdout)
    marks = re.findall(r"^::error file=gate.yaml,line=(\d+),col=\d+,title=does not hold::(.*)$",
                       done.stdout, re.M)
    line = EXPERIMENT.split("\n").index("  - ./mine.c") + 1
    say(len(marks) == 1 and int(marks[0][0]) == line and "no regression of mine" in marks[0][1],
        "github: the policy's line is annotated: %s" % marks)
    root, cases = suite()
    say(cases["no regression of mine (base)"] == ["failure"], "junit: worse is a failure")
    say(cases["no regression of fcfs (base)"] == [], "junit: the other policy passed")
    say(float(root.get("time")) > 0 and root.get("failures") == "1", "junit: times and sums")

    write("mine.c", POLICY.replace("->gpus <", "->gpus <<<"))
    done = run(steps["gate"], env)
    say(done.returncode == 3 and re.search(r"^::error ", done.stdout, re.M) is not None,
        "github: what does not compile is annotated: " + done.stdout + done.stderr)
    write("mine.c", POLICY.replace("    (void)self;", "    (void)self;\n    __builtin_trap();"))
    done = run(steps["gate"], env)
    say(done.returncode == 5, "github: a policy that crashes is status 5")
    _, cases = suite()
    say(cases["no regression of mine (base)"] == ["error"], "junit: a failed trial is an error")
    write("mine.c", POLICY)


def try_undecided(steps, env):
    """Red, but a skipped test: nothing is known to be worse."""
    run(steps["gate"], env)
    done = run("grep '^base,mine,jct_mean_s,' results/compare.csv", env)
    mean = done.stdout.split(",")[8]
    write("gate.yaml", EXPERIMENT + "  - {claim: chance, metric: jct_mean_s, policy: mine, "
          "vs: fcfs, at_most: %s%%}\n" % mean)
    done = run(steps["gate"], env)
    say(done.returncode == 1 and "::warning " in done.stdout,
        "undecided: red, with a warning: " + done.stdout + done.stderr)
    root, cases = suite()
    say([tags for name, tags in cases.items() if name.startswith("chance")] == [["skipped"]] and
        root.get("failures") == "0" and root.get("skipped") == "1", "junit: undecided is skipped")
    write("gate.yaml", EXPERIMENT)


def try_gitlab(scripts, env):
    done = run(scripts["clustersim"], env)
    say(done.returncode == 0 and json.loads(read("gate.json")) == [], "gitlab: green: " +
        done.stdout + done.stderr)
    write("mine.c", POLICY.replace("->gpus <", "->gpus >"))
    done = run(scripts["clustersim"], env)
    found = json.loads(read("gate.json"))
    say(done.returncode == 1 and len(found) == 1, "gitlab: red, with one finding")
    item = found[0] if found else {}
    say(set(item) == {"description", "check_name", "fingerprint", "severity", "location"} and
        item["severity"] in ("info", "minor", "major", "critical", "blocker") and
        item["location"]["path"] == "gate.yaml" and item["location"]["lines"]["begin"] > 1,
        "gitlab: the finding has what GitLab reads: %s" % item)
    run(scripts["clustersim"], env)
    say(json.loads(read("gate.json"))[0]["fingerprint"] == item["fingerprint"],
        "gitlab: the same finding has the same fingerprint")
    done = run(scripts["clustersim-baseline"] + "\ngit diff --stat baseline", env)
    say(done.returncode == 0 and "summary.csv" in done.stdout, "gitlab: a new baseline")
    done = run(scripts["clustersim"], env)
    say(done.returncode == 0, "gitlab: green with it")
    write("mine.c", POLICY)
    run(scripts["clustersim-baseline"], env)


def try_json(env):
    """Each answer of --json is as output.schema.json says."""
    with open(os.path.join(KIT, "output.schema.json"), encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft7Validator.check_schema(schema)
    for name, command in (
            ("verdicts", "clustersim check gate.yaml --baseline baseline -o results --json"),
            ("compare", "clustersim compare baseline results --json"),
            ("compare", "clustersim compare other results --json"),
            ("list", "clustersim list policies --json"), ("list", "clustersim list gpus --json"),
            ("list", "clustersim list models --json"), ("list", "clustersim list formats --json"),
            ("list", "clustersim list metrics --json"), ("list", "clustersim list recipes --json"),
            ("list", "clustersim list instances --json"), ("list", "clustersim list cpus --json"),
            ("list", "clustersim list columns --json"), ("list", "clustersim list links --json"),
            ("list", "clustersim list prices --json"),
            ("list", "clustersim list placements --json"),
            ("list", "clustersim list semantics --json"),
            ("list", "clustersim list applications --json"),
            ("explain", "clustersim explain lending --json"),
            ("explain", "clustersim explain jct_mean_s --json"),
            ("advise", "clustersim advise job.yaml --json")):
        done = run(command, env)
        try:
            answer = json.loads(done.stdout)
            jsonschema.validate(answer, dict(schema, **{"$ref": "#/definitions/" + name}))
            say(done.returncode == 0 and len(answer) > 0, command)
        except (ValueError, jsonschema.ValidationError) as fault:
            say(False, "%s: %s %s" % (command, str(fault)[:200], done.stderr))


def try_docker():
    """Packages are those of bootstrap.sh, and each RUN is a script."""
    with open(os.path.join(KIT, "Dockerfile"), encoding="utf-8") as file:
        text = re.sub(r"^#.*\n", "", file.read(), flags=re.M).replace("\\\n", " ")
    with open("tests/bootstrap.sh", encoding="utf-8") as file:
        needs = set(re.findall(r"need (lib\S+-dev|zlib1g-dev|pkg-config|build-essential)",
                               file.read()))
    stages = text.split("FROM ")[1:]
    say(len(stages) == 2, "Dockerfile: it builds, and then keeps what runs")
    lacks = {name for name in needs if name not in stages[0]} - {
        "libcmocka-dev", "libopenmpi-dev", "libclang-rt-dev"}
    say(not lacks, "Dockerfile: what bootstrap.sh needs is installed, lacks %s" % lacks)
    for line in re.findall(r"^RUN (.*)$", text, re.M):
        say(subprocess.run(["sh", "-n", "-c", line]).returncode == 0, "Dockerfile: " + line[:60])
    say(text.strip().split("\n")[-1].startswith("CMD "), "Dockerfile: it says what it is for")


def main():
    os.mkdir(os.path.join(SCRATCH, "repo"))
    write("gate.yaml", EXPERIMENT)
    write("mine.c", POLICY)
    write("job.yaml", "arrival: {process: poisson, rate: 1/h}\njobs: 1\nmix:\n"
          "  - {recipe: lora, name: lora-8b, model: llama-3.1-8b, batch: 64, sequence: 2048,\n"
          "     micro_batch: 2, recompute: full, steps: 600, train: {gpus: 8, min: 4, max: 16}}\n")
    git("init", "-q")
    steps, env = github()
    scripts, variables = gitlab()
    say(env == variables, "both name the same files")
    done = run(steps["baseline"], env)
    size = sum(os.path.getsize(os.path.join(SCRATCH, "repo", "baseline", name))
               for name in os.listdir(os.path.join(SCRATCH, "repo", "baseline")))
    say(done.returncode == 0 and 500 < size <= 10000, "a baseline of %d bytes" % size)
    run("clustersim run gate.yaml -q -o other --set workload.jobs=200", env)
    git("add", "gate.yaml", "mine.c", "baseline")
    git("commit", "-qm", "gate")
    try_github(steps, env)
    try_undecided(steps, env)
    try_gitlab(scripts, variables)
    try_json(env)
    try_docker()


main()

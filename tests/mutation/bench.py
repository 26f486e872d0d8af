# SPDX-License-Identifier: GPL-3.0-or-later
"""bench.py - test programs that run with one object of the product replaced.

Each program is linked once, with two shared libraries: libmutant.so, which is empty, and
libproduct.so, which has all objects of a build.  A mutant is another libmutant.so, made of
one object: the dynamic linker finds its names first.  So no program is linked again, and
programs that a test starts have the mutant, too.
"""
import contextlib
import filecmp
import glob
import os
import resource
import shutil
import signal
import subprocess
import threading

from mutation.places import ROOT, planted

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = ["gsl", "yaml-0.1", "zlib", "libzstd", "libelf", "libarchive"]
# What every build of the product refuses.
STRICT = ["-Werror=int-conversion", "-Werror=incompatible-pointer-types"]
MEMORY, FILE = 6 << 30, 10 << 30        # bytes: only to end what never ends


def asked(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()


def read(path):
    """The bytes of a file; none: of one that is not there."""
    if not os.path.exists(path):
        return b""
    with open(path, "rb") as file:
        return file.read()


class Bench:
    """The programs of one build, in the folder BUILD/mutation."""

    def __init__(self, build):
        self.build = os.path.abspath(build)
        self.folder = os.path.join(self.build, "mutation")
        # Golden experiments: name, then words and what they must give (tests/golden.sh).
        self.golden = {}
        for path in glob.glob(os.path.join(ROOT, "tests/golden/*/experiment.yaml")):
            expected = glob.glob(os.path.join(os.path.dirname(path), "expected/*.csv"))
            self.golden["golden:" + path.split("/")[-2]] = ["run", path, "-j", "1"], {
                os.path.basename(csv): read(csv) for csv in expected}
        for section in read(os.path.join(ROOT, "tests/golden/claims/checks.csv"))[2:].split(
                b"\n# "):
            name, _newline, answers = section.partition(b"\n")
            path = os.path.join(ROOT, "experiments/claims", name.decode() + ".yaml")
            self.golden["golden:" + name.decode()] = ["check", path, "--seeds", "1"], {
                "checks.csv": answers.rstrip(b"\n")}
        self.compile = ["gcc", "-std=c11", "-ffp-contract=off", "-fPIC", "-pthread",
                        "-I" + ROOT, *asked("pkg-config", "--cflags", *PACKAGES),
                        "-D_POSIX_C_SOURCE=200809L", '-DCLUSTERSIM_VERSION="mutant"',
                        '-DCLUSTERSIM_FLAGS="mutant"']
        self.libs = [*asked("pkg-config", "--libs", *PACKAGES), "-lglpk", "-lxxhash", "-lm",
                     "-pthread"]
        self.room = {}                  # of each test
        for path in glob.glob(os.path.join(ROOT, "tests/*/*_test.c")):
            self.room[os.path.basename(path)[:-2]] = os.path.basename(os.path.dirname(path))
        os.makedirs(self.folder + "/tests", exist_ok=True)
        os.makedirs(self.folder + "/none", exist_ok=True)
        if self.stale("libproduct.so", self.build + "/libclustersim.a"):
            self.link("libproduct.so", "-shared", "-Wl,--whole-archive",
                      self.build + "/libclustersim.a", "-Wl,--no-whole-archive", *self.libs)
        if not os.path.exists(self.folder + "/none/libmutant.so"):
            self.link("none/libmutant.so", "-shared", "-x", "c", "/dev/null")
        for name in ("clustersim", "clustersim-bench"):
            objects = [self.build + "/experiments/main.o"] if name == "clustersim" else [
                *glob.glob(self.build + "/tests/bench/*.o"), self.build + "/tests/oracles/heap4.o"]
            self.link_program(name, objects)

    def stale(self, name, *sources):
        path = os.path.join(self.folder, name)
        return not os.path.exists(path) or any(
            os.path.getmtime(path) < os.path.getmtime(source) for source in sources)

    def link(self, name, *words):
        """Two threads may link the same program, or one while another runs it: each has its own
        file, which takes the place of the old one when it is whole."""
        path = os.path.join(self.folder, name)
        new = "%s.new%d" % (path, threading.get_ident())
        subprocess.run(["gcc", "-fuse-ld=gold", "-o", new, *words], check=True)
        os.replace(new, path)

    def link_program(self, name, objects):
        if self.stale(name, *objects):
            self.link(name, "-Wl,--no-as-needed", *objects, "-L" + self.folder + "/none",
                      "-L" + self.folder, "-lmutant", "-lproduct", "-lcmocka",
                      "-Wl,-rpath," + self.folder + "/none:" + self.folder, *self.libs)

    def prepare(self, test):
        """Links a test's program, unless it is there; returns whether it has an object."""
        if test in self.golden:
            return True
        if not os.path.exists(self.object_of(test)):
            return False
        self.link_program("tests/" + test, [self.object_of(test), self.build + "/libaids.a"])
        return True

    def object_of(self, test):
        return "%s/tests/%s/%s.o" % (self.build, self.room.get(test, "-"), test)

    def make(self, work, fault):
        """Compiles and links a mutant in the folder `work`; False: the compiler refuses it."""
        name, number, _kind, new = fault
        source = os.path.join(work, "mutant.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(planted(name, number, new))
        return subprocess.run([*self.compile, *STRICT, "-O0", "-shared", "-o",
                               work + "/libmutant.so", source],
                              capture_output=True).returncode == 0

    def same_code(self, work, fault):
        """Does the compiler make the same object of the mutant and of the product?"""
        name, number, _kind, new = fault
        with open(os.path.join(ROOT, name), encoding="utf-8") as file:
            before = file.read()
        objects = []
        for text in (before, planted(name, number, new)):
            with open(work + "/same.c", "w", encoding="utf-8") as file:
                file.write(text)
            objects.append("%s/same%d.o" % (work, len(objects)))
            if subprocess.run([*self.compile, "-O2", "-c", "-o", objects[-1], work + "/same.c"],
                              capture_output=True).returncode != 0:
                return False
        return filecmp.cmp(*objects, shallow=False)

    def run(self, test, library, limit_s, **more):
        """(did the test fail, seconds of processor time, what it said)."""
        environment = {**os.environ, "LD_LIBRARY_PATH": library, **more}
        out = os.path.join(library, "out")
        words = [os.path.join(self.folder, "tests", test)]
        if test in self.golden:
            words = [self.folder + "/clustersim", *self.golden[test][0], "-q", "-o", out]

        def limits():
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit_s) + 1, int(limit_s) + 1))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_FSIZE, (FILE, resource.RLIM_INFINITY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        with open(os.path.join(library, "said"), "wb") as said:
            child = subprocess.Popen(words, cwd=ROOT, env=environment, stdout=said, stderr=said,
                                     stdin=subprocess.DEVNULL, start_new_session=True,
                                     preexec_fn=limits)
            status, used = wait(child, 10 * limit_s + 20)
        failed = status != 0
        if test in self.golden:
            failed = status not in (0, 1) or any(
                read(os.path.join(out, name)).rstrip(b"\n") != text.rstrip(b"\n")
                for name, text in self.golden[test][1].items())
            shutil.rmtree(out, ignore_errors=True)
        with open(os.path.join(library, "said"), encoding="utf-8", errors="replace") as said:
            return failed, used, said.read()

    def all_tests(self):
        return sorted(self.room) + sorted(self.golden)


def wait(child, wall_s):
    """The status, and the processor time of the child and of what it waited for."""
    def end():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)

    timer = threading.Timer(wall_s, end)
    timer.start()
    _pid, status, used = os.wait4(child.pid, 0)
    timer.cancel()
    end()                               # what it left behind
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, used.ru_utime + used.ru_stime

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * core.c - the extension module: runs of the library, from Python.
 *
 * The interpreter's lock is let go while trials run.  A thread of the library that forks
 * for a trial takes it first, so that the process of the trial begins with it.
 */
#include "core.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef CLUSTERSIM_CHECKOUT
#include "experiments/library/clustersim.h"
#else
#include <clustersim/clustersim.h>
#endif

/* A run, as its callbacks know it. */
struct running {
    PyThreadState *state;       /* of the thread that called; saved while trials run */
    PyObject *on_trial;         /* called with each trial; NULL: none */
};

/* ---- forks ---- */

/* Called by the library in the thread that is about to fork for a trial. */
static void before_fork(void *self)
{
    (void)self;
    (void)PyGILState_Ensure();      /* a thread of the library holds no lock */
    PyOS_BeforeFork();
}

/* This thread gives the interpreter's lock back: it did not hold it before the fork. */
static void after_fork_in_parent(void *self)
{
    (void)self;
    PyOS_AfterFork_Parent();
    PyGILState_Release(PyGILState_UNLOCKED);
}

/* The lock stays with the only thread that there is now. */
static void after_fork_in_child(void *self, double event_limit_s)
{
    (void)self;
    PyOS_AfterFork_Child();
    py_event_limit_s = event_limit_s;
}

/* ---- callbacks ---- */

/* Called by the library several times a second: takes the lock back for a moment, so
 * that Ctrl-C and errors of on_trial end the run. */
static bool may_go_on(void *self, uint32_t done, uint32_t count)
{
    struct running *running = self;
    bool fine;

    (void)done;
    (void)count;
    PyEval_RestoreThread(running->state);
    fine = PyErr_Occurred() == NULL && PyErr_CheckSignals() == 0;
    running->state = PyEval_SaveThread();
    return fine;
}

/* An error of the library as a dict, from which run.py makes an exception.  NULL: a Python
 * error is set. */
static PyObject *error_dict(const struct clustersim_error *error, const char *text)
{
    return Py_BuildValue("{s:i,s:s,s:s,s:z,s:z,s:I,s:I,s:z,s:z}", "status", error->status,
                         "kind", error->kind, "message", error->message, "hint", error->hint,
                         "file", error->file, "line", error->line, "column", error->column,
                         "key", error->key, "text", text);
}

/* Tells Python of a trial that ended.  An error that on_trial raises stays
 * set, and ends the run at the next may_go_on(). */
static void trial_ended(void *self, const struct clustersim_trial *trial)
{
    struct running *running = self;
    PyObject *error = NULL, *result = NULL;

    PyEval_RestoreThread(running->state);
    if (running->on_trial != NULL && PyErr_Occurred() == NULL) {
        error = trial->error == NULL ? Py_NewRef(Py_None) : error_dict(trial->error, NULL);
        if (error != NULL)
            result = PyObject_CallFunction(
                running->on_trial, "{s:I,s:I,s:s,s:s,s:I,s:N,s:O}", "index", trial->index,
                "count", trial->count, "point", trial->point, "policy", trial->policy,
                "seed", trial->seed, "copy", PyBool_FromLong(trial->copy), "error", error);
        Py_XDECREF(result);
        Py_XDECREF(error);
    }
    running->state = PyEval_SaveThread();
}

/* ---- what is run ---- */

/* The texts of a list, to be freed; NULL: a Python error is set.  Texts are those of the items
 * of the list, which must outlive them; only the array is to be freed. */
static const char **texts_of(PyObject *list)
{
    Py_ssize_t count = PyList_GET_SIZE(list);
    const char **text = PyMem_RawCalloc((size_t)count + 1, sizeof *text);

    if (text == NULL)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; text != NULL && i < count; i++) {
        text[i] = PyUnicode_AsUTF8(PyList_GET_ITEM(list, i));
        if (text[i] == NULL) {
            PyMem_RawFree((void *)text);
            return NULL;
        }
    }
    return text;
}

/* The tables of a list of capsules, to be freed; the capsules keep them.
 * NULL: a Python error is set. */
static const struct cs_policy **tables_of(PyObject *list)
{
    Py_ssize_t count = PyList_GET_SIZE(list);
    const struct cs_policy **table = PyMem_RawCalloc((size_t)count + 1, sizeof *table);

    if (table == NULL)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; table != NULL && i < count; i++) {
        table[i] = py_table_of(PyList_GET_ITEM(list, i));
        if (table[i] == NULL) {
            PyMem_RawFree((void *)table);
            return NULL;
        }
    }
    return table;
}

/* ---- what came of it ---- */

/* A chain of errors as a list; the texts are those that the program prints. */
static PyObject *error_list(struct clustersim *run, const struct clustersim_error *error)
{
    PyObject *list = PyList_New(0);

    for (; list != NULL && error != NULL; error = error->next) {
        PyObject *item = error_dict(error, clustersim_error_text(run, error));
        if (item == NULL || PyList_Append(list, item) != 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

/* Returns what a run has to say, as a new dict; NULL: a Python error is set. */
static PyObject *make_answer(struct clustersim *run)
{
    PyObject *errors = error_list(run, clustersim_error(run));
    PyObject *warnings = errors == NULL ? NULL : error_list(run, clustersim_warnings(run));

    if (warnings == NULL) {
        Py_XDECREF(errors);
        return NULL;
    }
    return Py_BuildValue("{s:N,s:N,s:I,s:z}", "errors", errors, "warnings", warnings,
                         "failed", clustersim_failed(run, NULL), "dir", clustersim_dir(run));
}

/* Runs, without the interpreter's lock, and returns what came of it.  NULL: a
 * Python error is set, from on_trial or a signal.  `running` lives on this stack, since no
 * callback comes after clustersim_run() has returned. */
static PyObject *run_options(const char *path, struct clustersim_options *options,
                             PyObject *on_trial)
{
    struct running running = { NULL, on_trial };
    struct clustersim *run;
    PyObject *result;

    options->self = &running;
    options->go_on = may_go_on;
    options->trial_ended = trial_ended;
    running.state = PyEval_SaveThread();
    run = clustersim_run(path, options);
    PyEval_RestoreThread(running.state);
    result = PyErr_Occurred() == NULL ? make_answer(run) : NULL;
    clustersim_free(run);
    return result;
}

/* run(path, text, seeds, threads, policies, set, tables, dir, draw, check_only, on_trial)
 * -> {"errors", "warnings", "failed", "dir"} */
static PyObject *core_run(PyObject *module, PyObject *args)
{
    static const struct clustersim_fork told = {
        before_fork, after_fork_in_parent, after_fork_in_child, NULL
    };
    struct clustersim_options options = { .size_bytes = sizeof options };
    PyObject *set, *tables, *on_trial, *result = NULL;
    const char **words = NULL, *path;
    const struct cs_policy **table = NULL;
    int draw, check_only;

    (void)module;
    if (!PyArg_ParseTuple(args, "szIIzO!O!zppO", &path, &options.text, &options.seeds,
                          &options.threads, &options.policies, &PyList_Type, &set,
                          &PyList_Type, &tables, &options.dir, &draw, &check_only, &on_trial))
        return NULL;
    words = texts_of(set);
    table = words == NULL ? NULL : tables_of(tables);
    if (table != NULL) {
        options.set = words;
        options.set_count = (size_t)PyList_GET_SIZE(set);
        options.table = table;
        options.table_count = (size_t)PyList_GET_SIZE(tables);
        options.fork = options.table_count > 0 ? &told : NULL;
        options.draw = draw;
        options.usual_dir = options.dir == NULL;
        options.check_only = check_only;
        result = run_options(path, &options, on_trial == Py_None ? NULL : on_trial);
    }
    PyMem_RawFree((void *)words);
    PyMem_RawFree((void *)table);
    return result;
}

/* ---- the watch of a trial ---- */

#if defined _POSIX_TIMERS && _POSIX_TIMERS > 0
#define HAS_TIMERS

/* Sends this process a signal at each interval of wall time, in seconds, 0: no more.  By a timer
 * of its own, since alarm() and setitimer() are the policies'.  The timer is made once in each
 * process; a copy that a fork made has none, and makes its own. */
static PyObject *core_tick(PyObject *module, PyObject *arguments)
{
    static timer_t timer;
    static pid_t owner;                 /* a copy of the process has no timer */
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL };
    struct itimerspec spec;
    double tick_s;

    (void)module;
    if (!PyArg_ParseTuple(arguments, "id", &event.sigev_signo, &tick_s))
        return NULL;
    spec.it_interval = (struct timespec){ (time_t)tick_s,
                                          (long)((tick_s - (double)(time_t)tick_s) * 1e9) };
    spec.it_value = spec.it_interval;
    if (owner != getpid() && timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
        return PyErr_SetFromErrno(PyExc_OSError);
    owner = getpid();
    if (timer_settime(timer, 0, &spec, NULL) != 0)
        return PyErr_SetFromErrno(PyExc_OSError);
    Py_RETURN_NONE;
}
#endif

static PyMethodDef core_methods[] = {
#ifdef HAS_TIMERS
    { "tick", core_tick, METH_VARARGS, "Sends a signal at each interval; see policy.py." },
#endif
    { "run", core_run, METH_VARARGS, "Runs an experiment; see run.py." },
    { "table", py_table_new, METH_VARARGS, "A class as the table of a policy; see policy.py." },
    { "set_verdicts", py_host_set_verdicts, METH_O, "The members of Verdict, in their order." },
    { "replicas", py_env_replicas, METH_VARARGS, "First replica of a split, and how many." },
    { NULL, NULL, 0, NULL }
};

/* The module has no state of its own (-1), so it cannot be loaded into a second interpreter. */
static struct PyModuleDef core_module = {
    PyModuleDef_HEAD_INIT, "clustersim._core", "The library clustersim, for its package.",
    -1, core_methods, NULL, NULL, NULL, NULL
};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *module = PyModule_Create(&core_module);

    if (module != NULL &&
        (!py_host_ready(module) || !py_env_ready(module) ||
         PyModule_AddStringConstant(module, "version", clustersim_version()) != 0))
        Py_CLEAR(module);
    return module;
}

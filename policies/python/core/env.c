/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * env.c - environments for agents that learn: experiments/env/env.h, from Python.
 *
 * Arrays come from the caller, once, as writable buffers; a step then passes numbers alone.
 * One trial is stepped with the interpreter's lock held, for a step is as short as letting it
 * go; many are stepped without it.
 */
#include "core.h"

#include <string.h>

#ifdef CLUSTERSIM_CHECKOUT
#include "experiments/env/env.h"
#else
#include <clustersim/env.h>
#endif

/* The arrays of bind(), in the order of its arguments. */
enum { OBSERVATION, MASK, REWARD, TERMINATED, TRUNCATED, VERDICT, ACTION, BUFFERS };

/* An environment and the arrays that were bound to it; `out` and `action`
 * point into these. */
struct env_object {
    PyObject_HEAD
    struct clustersim_env *env; /* owned; NULL: it was closed */
    Py_buffer buffer[BUFFERS];  /* as bind() got them; held until close() */
    bool bound, busy;           /* has its arrays; is stepped, by another thread maybe */
    struct clustersim_env_out out;
    const int64_t *action;      /* one for each trial, in the caller's array */
};

static PyTypeObject env_type;

/* ---- errors ---- */

/* NULL: a Python error is set. */
static PyObject *error_dict(const struct clustersim_env_error *error)
{
    return Py_BuildValue("{s:i,s:s,s:s,s:z,s:z,s:I,s:I}", "status", error->status, "text",
                         error->text, "message", error->message, "hint", error->hint, "file",
                         error->file, "line", error->line, "column", error->column);
}

/* Raises RuntimeError with a dict, which env.py makes an Error of. */
static PyObject *raise_error(const struct env_object *self)
{
    PyObject *told = error_dict(clustersim_env_error(self->env));

    if (told != NULL) {
        PyErr_SetObject(PyExc_RuntimeError, told);
        Py_DECREF(told);
    }
    return NULL;
}

/* Has the environment its arrays, and does no other thread step it?  False: a
 * Python error is set. */
static bool check_ready(const struct env_object *self)
{
    if (!self->bound || self->env == NULL) {
        PyErr_SetString(PyExc_ValueError, "the environment is closed");
        return false;
    }
    if (self->busy) {
        PyErr_SetString(PyExc_ValueError, "another thread steps the environment");
        return false;
    }
    return true;
}

/* ---- begin and end ---- */

/* Env(path, text, set, rules, count, rows, phases, reward, split, steps_max, go_on, sizes,
 * running) */
static PyObject *env_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    struct clustersim_env_options options = { .size_bytes = sizeof options };
    const char *path, **words;
    unsigned long long steps_max;
    PyObject *set, *sizes;
    uint32_t size[64];
    int phases, go_on, split;
    struct env_object *self;

    (void)kwargs;
    if (!PyArg_ParseTuple(args, "szO!zIIpziKpO!I", &path, &options.text, &PyList_Type, &set,
                          &options.rules, &options.count, &options.rows, &phases,
                          &options.reward, &split, &steps_max, &go_on,
                          &PyTuple_Type, &sizes, &options.running))
        return NULL;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(sizes) && i < 64; i++)
        size[i] = (uint32_t)PyLong_AsUnsignedLongMask(PyTuple_GET_ITEM(sizes, i));
    if (PyErr_Occurred() != NULL)
        return NULL;
    options.sizes = size;
    options.size_count = (uint32_t)PyTuple_GET_SIZE(sizes);
    words = PyMem_Calloc((size_t)PyList_GET_SIZE(set) + 1, sizeof *words);
    if (words == NULL)
        return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(set); i++) {
        words[i] = PyUnicode_AsUTF8(PyList_GET_ITEM(set, i));
        if (words[i] == NULL) {
            PyMem_Free((void *)words);
            return NULL;
        }
    }
    options.set = words;
    options.set_count = (size_t)PyList_GET_SIZE(set);
    options.phases = phases;
    options.split = (enum clustersim_env_split)split;
    options.steps_max = steps_max;
    options.go_on = go_on;
    self = (struct env_object *)type->tp_alloc(type, 0);
    if (self != NULL)
        self->env = clustersim_env_open(path, &options);
    PyMem_Free((void *)words);
    if (self != NULL && clustersim_env_error(self->env) != NULL) {
        (void)raise_error(self);
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

/* Gives the arrays back to Python; out and action point to nothing then. */
static void unbind(struct env_object *self)
{
    for (int b = 0; b < BUFFERS; b++)
        if (self->buffer[b].obj != NULL)
            PyBuffer_Release(&self->buffer[b]);
    self->bound = false;
}

/* No thread can step it any more, as that would hold a reference. */
static void env_dealloc(struct env_object *self)
{
    unbind(self);
    clustersim_env_close(self->env);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

/* Ends the trial that is under way.  Closing twice is no error; closing while another
 * thread steps is one. */
static PyObject *env_close(struct env_object *self, PyObject *none)
{
    (void)none;
    if (self->busy) {
        PyErr_SetString(PyExc_ValueError, "another thread steps the environment");
        return NULL;
    }
    unbind(self);
    clustersim_env_close(self->env);
    self->env = NULL;
    Py_RETURN_NONE;
}

/* bind(observation, mask, reward, terminated, truncated, verdict, action): writable arrays.
 * Sizes are compared in bytes: the caller makes the arrays of the right types. */
static PyObject *env_bind(struct env_object *self, PyObject *args)
{
    const struct clustersim_env_shape *shape;
    PyObject *given[BUFFERS];

    if (!PyArg_ParseTuple(args, "OOOOOOO", &given[0], &given[1], &given[2], &given[3],
                          &given[4], &given[5], &given[6]))
        return NULL;
    if (self->bound || self->env == NULL) {
        PyErr_SetString(PyExc_ValueError, "the environment has its arrays, or is closed");
        return NULL;
    }
    shape = clustersim_env_shape(self->env);
    const size_t bytes[BUFFERS] = {
        (size_t)shape->count * shape->floats * sizeof(float),
        (size_t)shape->count * shape->actions, shape->count * sizeof(double), shape->count,
        shape->count, shape->count, shape->count * sizeof(int64_t)
    };
    for (int b = 0; b < BUFFERS; b++) {
        if (PyObject_GetBuffer(given[b], &self->buffer[b], PyBUF_CONTIG) != 0) {
            unbind(self);
            return NULL;
        }
        if ((size_t)self->buffer[b].len != bytes[b]) {
            PyErr_Format(PyExc_ValueError, "array %d must have %zu bytes, and has %zd", b,
                         bytes[b], self->buffer[b].len);
            unbind(self);
            return NULL;
        }
    }
    self->out = (struct clustersim_env_out){
        self->buffer[OBSERVATION].buf, self->buffer[MASK].buf, self->buffer[REWARD].buf,
        self->buffer[TERMINATED].buf, self->buffer[TRUNCATED].buf, self->buffer[VERDICT].buf
    };
    self->action = self->buffer[ACTION].buf;
    self->bound = true;
    Py_RETURN_NONE;
}

/* ---- episodes ---- */

/* reset(i, seed) */
static PyObject *env_reset(struct env_object *self, PyObject *args)
{
    unsigned int i;
    unsigned long long seed;

    if (!PyArg_ParseTuple(args, "IK", &i, &seed) || !check_ready(self))
        return NULL;
    if (!clustersim_env_reset(self->env, i, seed, &self->out))
        return raise_error(self);
    Py_RETURN_NONE;
}

/* step(action) -> (reward, terminated, truncated, verdict), of an environment of one trial */
static PyObject *env_step(struct env_object *self, PyObject *number)
{
    int64_t action = PyLong_AsLongLong(number);

    if ((action == -1 && PyErr_Occurred()) || !check_ready(self))
        return NULL;
    if (clustersim_env_shape(self->env)->count != 1) {
        PyErr_SetString(PyExc_ValueError, "step() is of one trial; step_all() of many");
        return NULL;
    }
    if (!clustersim_env_step(self->env, &action, &self->out))
        return raise_error(self);
    return Py_BuildValue("(dNNi)", self->out.reward[0],
                         PyBool_FromLong(self->out.terminated[0]),
                         PyBool_FromLong(self->out.truncated[0]), (int)self->out.verdict[0]);
}

/* step_all(): the actions are those of the bound array.  `busy` keeps other threads out while
 * the lock is let go. */
static PyObject *env_step_all(struct env_object *self, PyObject *none)
{
    bool fine;

    (void)none;
    if (!check_ready(self))
        return NULL;
    self->busy = true;
    Py_BEGIN_ALLOW_THREADS
    fine = clustersim_env_step(self->env, self->action, &self->out);
    Py_END_ALLOW_THREADS
    self->busy = false;
    if (!fine)
        return raise_error(self);
    Py_RETURN_NONE;
}

/* ---- what it is, and what came of it ---- */

/* shape() -> dict */
static PyObject *env_shape(struct env_object *self, PyObject *none)
{
    const struct clustersim_env_shape *shape;

    (void)none;
    if (self->env == NULL)
        return PyErr_Format(PyExc_ValueError, "the environment is closed");
    shape = clustersim_env_shape(self->env);
    return Py_BuildValue("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "count",
                         shape->count, "rows", shape->rows, "row_features",
                         shape->row_features, "places", shape->places, "place_features",
                         shape->place_features, "clock_features", shape->clock_features,
                         "actions", shape->actions, "floats", shape->floats, "points",
                         shape->points, "choices", shape->choices, "running",
                         shape->running_rows, "running_features", shape->running_features,
                         "ends", shape->ends);
}

/* names(kind) -> [(name, help)] */
static PyObject *env_names(struct env_object *self, PyObject *args)
{
    const char *kind, *name, *help = "";
    PyObject *list;

    if (!PyArg_ParseTuple(args, "s", &kind))
        return NULL;
    if (self->env == NULL)
        return PyErr_Format(PyExc_ValueError, "the environment is closed");
    list = PyList_New(0);
    for (uint32_t i = 0; list != NULL; i++) {
        name = clustersim_env_name(self->env, kind, i, &help);
        if (name == NULL)
            break;
        PyObject *pair = Py_BuildValue("(ss)", name, help);
        if (pair == NULL || PyList_Append(list, pair) != 0)
            Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}

/* Is there such a trial, and may it be looked at?  False: a Python error is
 * set. */
static bool read_trial(const struct env_object *self, unsigned int i)
{
    if (!check_ready(self))
        return false;
    if (i < clustersim_env_shape(self->env)->count)
        return true;
    PyErr_Format(PyExc_IndexError, "trial must be from 0 to %u, found %u",
                 clustersim_env_shape(self->env)->count - 1, i);
    return false;
}

/* score(i) -> the sum of the rewards of its episode, seconds */
static PyObject *env_score(struct env_object *self, PyObject *args)
{
    unsigned int i;

    if (!PyArg_ParseTuple(args, "I", &i) || !read_trial(self, i))
        return NULL;
    return PyFloat_FromDouble(clustersim_env_score(self->env, i));
}

/* seed(i), steps(i) of its episode */
static PyObject *env_seed(struct env_object *self, PyObject *args)
{
    unsigned int i;

    if (!PyArg_ParseTuple(args, "I", &i) || !read_trial(self, i))
        return NULL;
    return Py_BuildValue("(KK)", (unsigned long long)clustersim_env_seed(self->env, i),
                         (unsigned long long)clustersim_env_steps(self->env, i));
}

/* metric(i, name) -> a number, or None */
static PyObject *env_metric(struct env_object *self, PyObject *args)
{
    unsigned int i;
    const char *name;
    double value;

    if (!PyArg_ParseTuple(args, "Is", &i, &name) || !read_trial(self, i))
        return NULL;
    if (!clustersim_env_metric(self->env, i, name, &value))
        Py_RETURN_NONE;
    return PyFloat_FromDouble(value);
}

/* replicas(split) -> (first, count) */
PyObject *py_env_replicas(PyObject *module, PyObject *args)
{
    uint32_t first, count;
    int split;

    (void)module;
    if (!PyArg_ParseTuple(args, "i", &split))
        return NULL;
    if (split < 0 || split >= CLUSTERSIM_ENV_SPLIT_COUNT)
        return PyErr_Format(PyExc_ValueError, "split must be from 0 to %d, found %d",
                            CLUSTERSIM_ENV_SPLIT_COUNT - 1, split);
    clustersim_env_replicas((enum clustersim_env_split)split, &first, &count);
    return Py_BuildValue("(II)", first, count);
}

/* ---- the module ---- */

#define METHOD(NAME, HOW, HELP) { #NAME, (PyCFunction)(void *)env_##NAME, HOW, HELP }
static PyMethodDef env_methods[] = {
    METHOD(close, METH_NOARGS, "Gives everything back."),
    METHOD(bind, METH_VARARGS, "Arrays that answers are written to."),
    METHOD(reset, METH_VARARGS, "Begins an episode of a trial: reset(i, seed)."),
    METHOD(step, METH_O, "One action of one trial."),
    METHOD(step_all, METH_NOARGS, "The bound actions, one for each trial."),
    METHOD(shape, METH_NOARGS, "Sizes."),
    METHOD(names, METH_VARARGS,
           "Names and help of task, place, clock, running, reward, metric or places."),
    METHOD(score, METH_VARARGS, "The sum of the rewards of an episode, in seconds."),
    METHOD(seed, METH_VARARGS, "Seed and steps of an episode."),
    METHOD(metric, METH_VARARGS, "A metric of the last episode that came to its end."),
    { NULL, NULL, 0, NULL }
};

static PyTypeObject env_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "clustersim._core.Env", .tp_basicsize = sizeof(struct env_object),
    .tp_dealloc = (destructor)env_dealloc, .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Trials that stop where a policy decides; see env.py.",
    .tp_methods = env_methods, .tp_new = env_new,
};

bool py_env_ready(PyObject *module)
{
    if (PyType_Ready(&env_type) != 0)
        return false;
    Py_INCREF(&env_type);
    if (PyModule_AddObject(module, "Env", (PyObject *)&env_type) == 0)
        return true;
    Py_DECREF(&env_type);
    return false;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * objects.c - tasks, and what the host tells of jobs, leases and nodes.
 */
#include "objects.h"

#include <structmember.h>

#include "models/jobs/job.h"

/* ---- tasks ---- */

struct host_object *py_host_object_new(struct cs_host *host, struct self *self)
{
    struct host_object *object = PyObject_New(struct host_object, &py_host_type);

    if (object == NULL)
        return NULL;
    object->host = host;
    object->self = self;
    object->op = 1;
    object->seen = 0;
    object->asking = false;
    object->candidate = ID_NONE;
    return object;
}

void py_task_set(struct task_object *task, struct task_id id)
{
    const struct cs_task *pub = cs_task(task->host->host, id);

    task->pub = pub;
    task->op = task->host->op;
    task->id = id.i;
    task->job = pub->job.i;
    task->role = pub->role;
    task->phase = pub->phase;
}

PyObject *py_task_new(struct host_object *host, struct task_id id)
{
    struct task_object *task = PyObject_New(struct task_object, &py_task_type);

    if (task == NULL)
        return NULL;
    Py_INCREF((PyObject *)host);
    task->host = host;
    task->pub = NULL;
    task->op = 0;
    task->id = task->job = task->role = task->phase = ID_NONE;
    if (id.i != ID_NONE)
        py_task_set(task, id);
    return (PyObject *)task;
}

/* Gives back the reference to the host object. */
static void task_dealloc(PyObject *self)
{
    Py_DECREF((PyObject *)((struct task_object *)self)->host);
    PyObject_Free(self);
}

/* The host's tasks are slots that are used again, so the pointer is looked up
 * once an op, and job, role and phase say whether the slot is still the
 * task. */
const struct cs_task *py_task_pub(struct task_object *task)
{
    struct host_object *host = task->host;

    if (host->host == NULL || task->id == ID_NONE) {
        PyErr_SetString(PyExc_RuntimeError, "the trial of this task is over");
        return NULL;
    }
    if (task->op != host->op) {
        task->pub = cs_task(host->host, (struct task_id){ task->id });
        task->op = host->op;
    }
    if (task->pub->job.i == task->job && task->pub->role == task->role &&
        task->pub->phase == task->phase)
        return task->pub;
    PyErr_Format(PyExc_LookupError, "the task of job %u waits no longer", task->job);
    return NULL;
}

/* What a task has: closures of its getters. */
enum task_field {
    TASK_GPUS, TASK_HELD, TASK_SUBMIT, TASK_READY, TASK_ESTIMATE, TASK_PRIORITY,
    TASK_STARTED, TASK_MILLI
};

PyObject *py_id_or_none(uint32_t id)
{
    if (id == ID_NONE)
        Py_RETURN_NONE;
    return PyLong_FromUnsignedLong(id);
}

/* The getter of all attributes that are read from the host. */
static PyObject *task_get(PyObject *self, void *closure)
{
    const struct cs_task *pub = py_task_pub((struct task_object *)self);

    if (pub == NULL)
        return NULL;
    switch ((enum task_field)(uintptr_t)closure) {
    case TASK_GPUS: return PyLong_FromUnsignedLong(pub->gpus);
    case TASK_HELD: return py_id_or_none(pub->held.i);
    case TASK_SUBMIT: return PyLong_FromLongLong(pub->submit_ns);
    case TASK_READY: return PyLong_FromLongLong(pub->ready_ns);
    case TASK_ESTIMATE: return PyLong_FromLongLong(pub->estimate_ns);
    case TASK_PRIORITY: return PyLong_FromLong(pub->priority);
    case TASK_STARTED: return PyBool_FromLong(pub->started);
    case TASK_MILLI: return PyLong_FromUnsignedLong(pub->gpu_milli);
    }
    return NULL;
}

/* None: a task of a whole job. */
static PyObject *task_role(PyObject *self, void *closure)
{
    uint32_t role = ((struct task_object *)self)->role;

    (void)closure;
    return py_id_or_none(role == CS_ALL_ROLES ? ID_NONE : role);
}

#define FIELD(NAME, ID, HELP) { NAME, task_get, NULL, HELP, (void *)(uintptr_t)ID }
static PyGetSetDef task_getset[] = {
    FIELD("gpus", TASK_GPUS, "GPUs wanted, of all roles asked for"),
    FIELD("held", TASK_HELD, "the idle lease of its role, or None"),
    FIELD("submit_ns", TASK_SUBMIT, "when its job was submitted, ns"),
    FIELD("ready_ns", TASK_READY, "when the task was made, ns"),
    FIELD("estimate_ns", TASK_ESTIMATE, "what is left, as `estimate:` says, ns"),
    FIELD("priority", TASK_PRIORITY, "larger is more urgent"),
    FIELD("started", TASK_STARTED, "has the job held a lease before?"),
    FIELD("gpu_milli", TASK_MILLI, "below 1000: that part of its one GPU"),
    { "role", task_role, NULL, "its role; None: a whole job", NULL },
    { NULL, NULL, NULL, NULL, NULL }
};
static PyMemberDef task_members[] = {
    { "id", T_UINT, offsetof(struct task_object, id), READONLY, "its number" },
    { "job", T_UINT, offsetof(struct task_object, job), READONLY, "the number of its job" },
    { "phase", T_UINT, offsetof(struct task_object, phase), READONLY,
      "of the job's form; 0 for a whole job" },
    { NULL, 0, 0, 0, NULL }
};

/* How the task looks in messages: <Task of job 3, role 1>. */
static PyObject *task_repr(PyObject *self)
{
    const struct task_object *task = (struct task_object *)self;

    if (task->role == CS_ALL_ROLES)
        return PyUnicode_FromFormat("<Task of job %u>", task->job);
    return PyUnicode_FromFormat("<Task of job %u, role %u>", task->job, task->role);
}

/* Equal are objects of the same task, whether or not it still waits.  There is
 * no order: that is what before() and key() are for. */
static PyObject *task_compare(PyObject *a, PyObject *b, int op)
{
    const struct task_object *x = (struct task_object *)a, *y = (struct task_object *)b;

    if (!PyObject_TypeCheck(b, &py_task_type) || (op != Py_EQ && op != Py_NE))
        Py_RETURN_NOTIMPLEMENTED;
    return PyBool_FromLong((x->id == y->id && x->job == y->job && x->role == y->role &&
                            x->phase == y->phase) == (op == Py_EQ));
}

/* By what equal tasks have in common: job, role and phase.  Never -1, which Python keeps for
 * errors: the sign is cut off. */
static Py_hash_t task_hash(PyObject *self)
{
    const struct task_object *task = (struct task_object *)self;

    return (Py_hash_t)(((uint64_t)task->job << 8 ^ task->role << 4 ^ task->phase) &
                       INT64_MAX);
}

PyTypeObject py_task_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "clustersim.Task", .tp_basicsize = sizeof(struct task_object),
    .tp_flags = Py_TPFLAGS_DEFAULT, .tp_dealloc = task_dealloc, .tp_repr = task_repr,
    .tp_richcompare = task_compare, .tp_hash = task_hash,
    .tp_getset = task_getset, .tp_members = task_members,
    .tp_doc = "What waits for resources: a whole job, or a role whose phase is ready.",
};

/* ---- structs that are copied ---- */

static PyStructSequence_Field job_field[] = {
    { "id", "its number" }, { "name", "or None" }, { "tenant", "or None" },
    { "form", "the kind of job, as the workload calls it" }, { "recipe", NULL },
    { "submit_ns", NULL }, { "limit_ns", "run time that its owner asked for; 0: none" },
    { "deadline_ns", "None: none" }, { "priority", "larger is more urgent" },
    { "gpus", "of all roles, as asked" }, { "steps", "rounds" },
    { "roles", "names of its roles" }, { "role_gpus", "GPUs of each, as asked" },
    { "role_chooses", "may it run on cores in place of GPUs?" }, { NULL, NULL }
};
static PyStructSequence_Desc job_desc = {
    "clustersim.Job", "A job as its owner describes it.", job_field, 14
};
static PyStructSequence_Field lease_field[] = {
    { "id", "its number" }, { "job", "number of its job" }, { "role", NULL },
    { "gpus", NULL }, { "state", "loading, busy or idle" }, { "since_ns", "granted" },
    { "idle_since_ns", "if it is idle" }, { "expected_end_ns", "by the estimate" },
    { "nodes", "pairs of a node and its GPUs" }, { "gpu_milli", NULL }, { NULL, NULL }
};
static PyStructSequence_Desc lease_desc = {
    "clustersim.Lease", "What a role was given.", lease_field, 10
};
static PyStructSequence_Field node_field[] = {
    { "pool", NULL }, { "gpus", NULL }, { "free_gpus", NULL }, { "cores", NULL },
    { "memory_bytes", "of the host" }, { "here", "False: not rented now" }, { NULL, NULL }
};
static PyStructSequence_Desc node_desc = { "clustersim.Node", "A node.", node_field, 6 };
static PyStructSequence_Field forecast_field[] = {
    { "run_s", "the phase on that lease" }, { "switch_s", "loading, starting" },
    { "evict_s", "what idle leases in the way lose" }, { "usd", "for all of it" },
    { "gpus", NULL }, { NULL, NULL }
};
static PyStructSequence_Desc forecast_desc = {
    "clustersim.Forecast", "What a start would bring.", forecast_field, 5
};

/* Static types: they are filled in once, by add_struct(). */
static PyTypeObject job_type, lease_type, node_type, forecast_type;

/* Fills a struct from values, all of which it takes; NULL if one is missing.  References of
 * the values go over to the struct; if there is no struct, they are given back. */
static PyObject *fill_struct(PyTypeObject *type, PyObject *const *value, Py_ssize_t count)
{
    PyObject *object = PyStructSequence_New(type);
    bool whole = object != NULL;

    for (Py_ssize_t i = 0; i < count; i++) {
        whole = whole && value[i] != NULL;
        if (object != NULL)
            PyStructSequence_SetItem(object, i, value[i]);
        else
            Py_XDECREF(value[i]);
    }
    if (!whole)
        Py_CLEAR(object);
    return object;
}
#define FILL(TYPE, ...) \
    fill_struct(TYPE, (PyObject *[]){ __VA_ARGS__ }, \
                (Py_ssize_t)(sizeof (PyObject *[]){ __VA_ARGS__ } / sizeof(PyObject *)))

/* Returns a new str, or None for NULL. */
static PyObject *text_or_none(const char *text)
{
    if (text == NULL)
        Py_RETURN_NONE;
    return PyUnicode_FromString(text);
}

/* Returns a tuple of the names of the roles, by number. */
static PyObject *role_names(const struct job_form *form)
{
    PyObject *tuple = PyTuple_New(form->role_count);

    for (uint32_t r = 0; tuple != NULL && r < form->role_count; r++)
        PyTuple_SET_ITEM(tuple, r, PyUnicode_FromString(form->role[r].name));
    return tuple;
}

/* GPUs of each role, as asked; a job with a size of its own has it in its
 * first role. */
static PyObject *role_gpus(const struct job_request *request)
{
    PyObject *tuple = PyTuple_New(request->form->role_count);

    for (uint32_t r = 0; tuple != NULL && r < request->form->role_count; r++) {
        uint32_t gpus = r == 0 && request->gpus != 0 ? request->gpus
                                                     : request->form->role[r].gpus;
        PyTuple_SET_ITEM(tuple, r, PyLong_FromUnsignedLong(gpus));
    }
    return tuple;
}

/* Returns a tuple of truth values, by number of the role: may it run on cores? */
static PyObject *role_chooses(const struct job_form *form)
{
    PyObject *tuple = PyTuple_New(form->role_count);

    for (uint32_t r = 0; tuple != NULL && r < form->role_count; r++)
        PyTuple_SET_ITEM(tuple, r, PyBool_FromLong(job_role_chooses(&form->role[r])));
    return tuple;
}

/* A copy of all that the owner said; texts are not shared with the host. */
PyObject *py_job_new(const struct cs_host *host, struct job_id id)
{
    const struct job_request *r = cs_request(host, id);

    return FILL(&job_type, PyLong_FromUnsignedLong(id.i), text_or_none(r->name),
                text_or_none(r->tenant), text_or_none(r->form->name),
                text_or_none(r->form->recipe), PyLong_FromLongLong(r->submit_ns),
                PyLong_FromLongLong(r->limit_ns),
                r->deadline_ns == CLOCK_NEVER_NS ? Py_NewRef(Py_None)
                                                 : PyLong_FromLongLong(r->deadline_ns),
                PyLong_FromLong(r->priority),
                PyLong_FromUnsignedLong(cs_job_gpus(host, id)),
                PyLong_FromUnsignedLong(r->steps), role_names(r->form), role_gpus(r),
                role_chooses(r->form));
}

/* Pairs (node, GPUs there) of a placement. */
static PyObject *lease_nodes(const struct placement *placement)
{
    PyObject *tuple = PyTuple_New(placement->share_count);

    for (uint32_t i = 0; tuple != NULL && i < placement->share_count; i++)
        PyTuple_SET_ITEM(tuple, i, Py_BuildValue("II", placement->share[i].node,
                                                 mask_count(placement->share[i].gpu_mask)));
    return tuple;
}

PyObject *py_lease_new(const struct cs_host *host, struct lease_id id)
{
    static const char *const state[] = { "loading", "busy", "idle" };
    const struct cs_lease *lease = cs_lease(host, id);

    return FILL(&lease_type, PyLong_FromUnsignedLong(id.i),
                PyLong_FromUnsignedLong(lease->job.i), PyLong_FromUnsignedLong(lease->role),
                PyLong_FromUnsignedLong(lease->gpus),
                PyUnicode_InternFromString(state[lease->state]),
                PyLong_FromLongLong(lease->since_ns),
                PyLong_FromLongLong(lease->idle_since_ns),
                PyLong_FromLongLong(lease->expected_end_ns), lease_nodes(&lease->placement),
                PyLong_FromUnsignedLong(lease->gpu_milli));
}

PyObject *py_node_new(struct cs_node node)
{
    return FILL(&node_type, PyLong_FromUnsignedLong(node.pool),
                PyLong_FromUnsignedLong(node.gpus), PyLong_FromUnsignedLong(node.free_gpus),
                PyLong_FromUnsignedLong(node.cores), PyFloat_FromDouble(node.memory_bytes),
                PyBool_FromLong(node.here));
}

PyObject *py_forecast_new(const struct cs_forecast *f)
{
    return FILL(&forecast_type, PyFloat_FromDouble(f->run_s),
                PyFloat_FromDouble(f->switch_s), PyFloat_FromDouble(f->evict_s),
                PyFloat_FromDouble(f->usd), PyLong_FromUnsignedLong(f->gpus));
}

/* Makes a struct type, once a process, and adds it to the module. */
static bool add_struct(PyObject *module, const char *name, PyTypeObject *type,
                       PyStructSequence_Desc *desc)
{
    if (type->tp_name == NULL && PyStructSequence_InitType2(type, desc) != 0)
        return false;
    return PyModule_AddObject(module, name, Py_NewRef((PyObject *)type)) == 0;
}

bool py_objects_ready(PyObject *module)
{
    return PyType_Ready(&py_task_type) == 0 &&
           PyModule_AddObject(module, "Task", Py_NewRef((PyObject *)&py_task_type)) == 0 &&
           add_struct(module, "Job", &job_type, &job_desc) &&
           add_struct(module, "Lease", &lease_type, &lease_desc) &&
           add_struct(module, "Node", &node_type, &node_desc) &&
           add_struct(module, "Forecast", &forecast_type, &forecast_desc);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * policy.c - a Python class as a policy: its table, and the ops that call its methods.
 *
 * A method that raises, or returns what it must not, fails the trial with the traceback;
 * from then on no Python code of the policy is called.
 */
#include "core.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "policies/params.h"

#define CAPSULE "clustersim.table"

/* The methods that a class may have, in the order of `method_name`. */
enum method {
    M_INIT, M_BEFORE, M_KEY, M_DECIDE, M_SUBMITTED, M_ENDED, M_IDLE, M_WAKEUP, M_COUNT
};
static const char *const method_name[M_COUNT] = {
    "init", "before", "key", "decide", "job_submitted", "job_ended", "lease_idle", "wakeup",
};

/* A policy's table with what it was made of.  The capsule owns it. */
struct table {
    struct cs_policy policy;    /* first: a pointer to it is one to all */
    PyObject *cls, *names;      /* names: tuple of the attributes of the parameters */
    PyObject *texts;            /* keeps the texts of the table */
    PyObject *method[M_COUNT];  /* functions of the class; NULL: it has none */
    struct cs_param *param;     /* owned, in the order of `names` */
    struct cs_words *words;     /* owned; words of the parameters that have a choice or name
                                 * things */
};

/* A key as it was computed, and of what: a slot may be given to another task. */
struct key {
    enum { KEY_NONE, KEY_INT, KEY_REAL, KEY_OBJECT } kind;
    uint32_t job, role, phase;  /* of the task */
    bool started;               /* was it, then */
    int64_t ready_ns, estimate_ns, at; /* of the task, then; the round, if keys move, else 0 */
    union { int64_t i; double x; PyObject *object; } is;
};

/* Of a trial; parameters follow behind it. */
struct self {
    const struct table *table;  /* the class's; it outlives the trial */
    PyObject *instance;         /* of the class, made by op_init(); NULL: that failed */
    struct host_object *host;   /* owned; its host is NULL after op_fini() */
    struct task_object *spare[2]; /* for before() and key(), if Python kept neither */
    struct key *key;            /* by number of the task; owned */
    size_t key_room;            /* entries of `key` */
    int64_t round;              /* news and decisions so far: keys that move */
    int64_t *wake;              /* times of wake_at() that have not come, in no order; owned */
    size_t wake_count, wake_room; /* of `wake` */
    bool failed;                /* Python code raised: none is called any more */
};

/* Wall time that the trial may need for one event, s: that of `plugins: {event_limit: }`, by
 * default 60 s.  Set in the process of the trial, before its instance is made. */
double py_event_limit_s = 60;

/* ---- what went wrong ---- */

/* Calls a function of a module with a tuple of arguments.  NULL: a Python error is set. */
static PyObject *call_with(PyObject *module, const char *name, PyObject *arguments)
{
    PyObject *helper = PyObject_GetAttrString(module, name), *result = NULL;

    if (helper != NULL)
        result = PyObject_CallObject(helper, arguments);
    Py_XDECREF(helper);
    return result;
}

/* Calls a function of policy.py; a tuple is all of its arguments. */
static PyObject *call_helper(const char *name, PyObject *argument)
{
    PyObject *module = PyImport_ImportModule("clustersim.policy"), *result = NULL;

    if (module != NULL && argument != NULL)
        result = PyTuple_Check(argument)
            ? call_with(module, name, argument)
            : PyObject_CallMethod(module, name, "O", argument);
    else if (module != NULL)
        result = PyObject_CallMethod(module, name, NULL);
    Py_XDECREF(module);
    return result;
}

/* Ends the trial with the Python error that is set.  _tell() of policy.py makes the text of
 * the error, and a note of the traceback. */
static void fail_raised(struct self *self, const char *method)
{
    struct cs_host *host = self->host->host;
    PyObject *type, *value, *trace, *told;
    const char *why = "raised an error", *note = "";
    char text[190];

    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace != NULL)
        (void)PyException_SetTraceback(value, trace);
    told = call_helper("_tell", value);
    if (told == NULL || !PyArg_ParseTuple(told, "ss", &why, &note))
        PyErr_Clear();
    snprintf(text, sizeof text, "%s() %s", method, why);
    self->failed = true;
    if (note[0] != '\0')
        cs_note(host, note);
    cs_fail(host, text);
    Py_XDECREF(told);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

/* Ends the trial because a method returned what it must not. */
static void fail_type(struct self *self, const char *method, const char *must,
                      PyObject *found)
{
    PyObject *shown = PyObject_Repr(found);

    PyErr_Clear();              /* of a repr that raises */
    if (shown != NULL)
        PyErr_Format(PyExc_TypeError, "%s() must return %s, and returned %U", method, must,
                     shown);
    else
        PyErr_Format(PyExc_TypeError, "%s() must return %s, and returned an object of %s",
                     method, must, Py_TYPE(found)->tp_name);
    Py_XDECREF(shown);
    fail_raised(self, method);
}

/* ---- calls ---- */

/* Calls a method that returns nothing. */
static void call_method(struct self *self, enum method m, PyObject *argument)
{
    PyObject *args[3] = { self->instance, (PyObject *)self->host, argument }, *result;

    result = PyObject_Vectorcall(self->table->method[m], args, argument == NULL ? 2 : 3,
                                 NULL);
    if (result == NULL)
        fail_raised(self, method_name[m]);
    else if (result != Py_None)
        fail_type(self, method_name[m], "nothing", result);
    Py_XDECREF(result);
}

/* Returns an object for a task; one that nobody kept is used again.  `which`: 0 or 1, so that
 * before() has two.  The reference stays with self->spare. */
static PyObject *borrow_task(struct self *self, unsigned which, struct task_id id)
{
    struct task_object *task = self->spare[which];

    if (Py_REFCNT(task) > 1) {
        struct task_object *other = (struct task_object *)py_task_new(self->host, id);
        if (other == NULL)
            return NULL;
        Py_DECREF(task);
        self->spare[which] = task = other;
    }
    py_task_set(task, id);
    return (PyObject *)task;
}

/* Calls before(). The two task objects are used for every call, and requests
 * are refused while it runs, since they would change the order that is being
 * asked for. */
static bool ask_before(struct self *self, struct task_id a, struct task_id b)
{
    PyObject *args[4] = { self->instance, (PyObject *)self->host }, *result = NULL;
    bool before;

    self->host->op++;
    args[2] = borrow_task(self, 0, a);
    args[3] = borrow_task(self, 1, b);
    self->host->asking = true;
    if (args[2] != NULL && args[3] != NULL)
        result = PyObject_Vectorcall(self->table->method[M_BEFORE], args, 4, NULL);
    self->host->asking = false;
    before = result == Py_True;
    if (result == NULL)
        fail_raised(self, "before");
    else if (result != Py_True && result != Py_False)
        fail_type(self, "before", "True or False", result);
    Py_XDECREF(result);
    return before;
}

/* The host's op `before`; false once the trial has failed. */
static bool op_before(const void *me, const struct cs_host *host, struct task_id a,
                      struct task_id b)
{
    struct self *self = (struct self *)(uintptr_t)me;

    (void)host;
    return !self->failed && ask_before(self, a, b);
}

/* ---- keys ---- */

/* Was the key computed of this task as it is now?  What a key may depend on is
 * compared: that it was started, and its estimate.  `at`: the round, if keys move. */
static bool is_key_of(const struct key *key, const struct cs_task *task, int64_t at)
{
    return key->kind != KEY_NONE && key->job == task->job.i && key->role == task->role &&
           key->phase == task->phase && key->started == task->started &&
           key->ready_ns == task->ready_ns && key->estimate_ns == task->estimate_ns &&
           key->at == at;
}

/* Is it a number that counts as a float: one of Python or of NumPy, but no whole one? */
static bool is_real(PyObject *value)
{
    const PyNumberMethods *number = Py_TYPE(value)->tp_as_number;

    return PyFloat_Check(value) || (!PyIndex_Check(value) && number != NULL &&
                                    number->nb_float != NULL);
}

/* Is it NaN, or a tuple that holds one?  An item that is no number is not: comparisons say
 * what is wrong with it. */
static bool holds_nan(PyObject *value)
{
    if (PyTuple_Check(value)) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); i++)
            if (holds_nan(PyTuple_GET_ITEM(value, i)))
                return true;
        return false;
    }
    if (!is_real(value))
        return false;
    double number = PyFloat_AsDouble(value);

    if (PyErr_Occurred() == NULL)
        return isnan(number);
    PyErr_Clear();
    return false;
}

/* Keeps what key() returned: floats and small integers as C values, which
 * compare fast; tuples and large integers as objects.  NaN has no order and is
 * refused. */
static bool set_number(struct self *self, struct key *key, PyObject *value)
{
    int over = 0;

    if (is_real(value)) {
        key->kind = KEY_REAL;
        key->is.x = PyFloat_AsDouble(value);
        if (!isnan(key->is.x) && PyErr_Occurred() == NULL)
            return true;
        PyErr_Clear();
    } else if (PyLong_Check(value)) {
        key->kind = KEY_INT;
        key->is.i = PyLong_AsLongLongAndOverflow(value, &over);
        if (over == 0)
            return true;
    }
    if (over != 0 || (PyTuple_Check(value) && !holds_nan(value))) {
        key->kind = KEY_OBJECT;
        key->is.object = Py_NewRef(value);
        return true;
    }
    key->kind = KEY_NONE;
    fail_type(self, "key", "a number or a tuple, and no NaN", value);
    return false;
}

/* As set_number(); whole numbers of other types, as NumPy has them, are made Python's. */
static bool set_key(struct self *self, struct key *key, PyObject *value)
{
    PyObject *whole;
    bool ok;

    if (PyLong_Check(value) || PyTuple_Check(value) || !PyIndex_Check(value))
        return set_number(self, key, value);
    whole = PyNumber_Index(value);
    if (whole == NULL) {
        key->kind = KEY_NONE;
        fail_raised(self, "key");
        return false;
    }
    ok = set_number(self, key, whole);
    Py_DECREF(whole);
    return ok;
}

/* Makes sure that the key of a task is known.  False: the trial has failed.  Room doubles. */
static bool find_key(struct self *self, struct task_id id)
{
    const struct cs_task *task = cs_task(self->host->host, id);
    int64_t at = self->table->policy.flags & CS_ORDER_MOVES ? self->round : 0;
    PyObject *args[3] = { self->instance, (PyObject *)self->host }, *value = NULL;
    bool ok;

    if (id.i >= self->key_room) {
        size_t room = 2 * (size_t)id.i + 64;
        self->key = PyMem_RawRealloc(self->key, room * sizeof *self->key);
        if (self->key == NULL)
            Py_FatalError("no memory for keys");
        memset(self->key + self->key_room, 0, (room - self->key_room) * sizeof *self->key);
        self->key_room = room;
    }
    if (is_key_of(&self->key[id.i], task, at))
        return true;
    if (self->key[id.i].kind == KEY_OBJECT)
        Py_DECREF(self->key[id.i].is.object);
    self->key[id.i] = (struct key){
        .job = task->job.i, .role = task->role, .phase = task->phase, .at = at,
        .started = task->started, .ready_ns = task->ready_ns,
        .estimate_ns = task->estimate_ns
    };
    self->host->op++;
    self->host->asking = true;
    args[2] = borrow_task(self, 0, id);
    if (args[2] != NULL)
        value = PyObject_Vectorcall(self->table->method[M_KEY], args, 3, NULL);
    self->host->asking = false;
    ok = value != NULL && set_key(self, &self->key[id.i], value);
    if (value == NULL)
        fail_raised(self, "key");
    Py_XDECREF(value);
    return ok;
}

/* Returns a key as the Python object that it was, as a new reference. */
static PyObject *key_value(const struct key *key)
{
    return key->kind == KEY_INT ? PyLong_FromLongLong(key->is.i)
         : key->kind == KEY_REAL ? PyFloat_FromDouble(key->is.x) : Py_NewRef(key->is.object);
}

/* Compares two keys; of two kinds as Python compares them.  For example, 2 and 2.5 are made
 * Python objects and compared by Python; so are tuples. */
static bool is_less(struct self *self, const struct key *a, const struct key *b)
{
    PyObject *x, *y;
    int less;

    if (a->kind == KEY_INT && b->kind == KEY_INT)
        return a->is.i < b->is.i;
    if (a->kind == KEY_REAL && b->kind == KEY_REAL)
        return a->is.x < b->is.x;
    x = key_value(a);
    y = key_value(b);
    less = x == NULL || y == NULL ? -1 : PyObject_RichCompareBool(x, y, Py_LT);
    Py_XDECREF(x);
    Py_XDECREF(y);
    if (less < 0)
        fail_raised(self, "key");
    return less > 0;
}

/* The order by key(): each key is computed once a task, and anew at each round
 * if the class says that its order moves. */
static bool op_key(const void *me, const struct cs_host *host, struct task_id a,
                   struct task_id b)
{
    struct self *self = (struct self *)(uintptr_t)me;

    (void)host;
    return !self->failed && find_key(self, a) && find_key(self, b) &&
           is_less(self, &self->key[a.i], &self->key[b.i]);
}

/* ---- news and decisions ---- */

struct host_object *py_self_host(const void *self)
{
    return ((const struct self *)self)->host;
}

bool py_self_wakes_at(struct self *self, int64_t time_ns)
{
    if (self->table->method[M_WAKEUP] == NULL)
        return true;
    if (self->wake_count == self->wake_room) {
        size_t room = 2 * self->wake_room + 16;
        int64_t *wake = PyMem_RawRealloc(self->wake, room * sizeof *wake);
        if (wake == NULL) {
            PyErr_NoMemory();
            return false;
        }
        self->wake = wake;
        self->wake_room = room;
    }
    self->wake[self->wake_count++] = time_ns;
    return true;
}

/* Forgets the times that have come; true: there were some. */
static bool is_woken(struct self *self)
{
    int64_t now = cs_now_ns(self->host->host);
    size_t left = 0, count = self->wake_count;

    for (size_t i = 0; i < count; i++)
        if (self->wake[i] > now)
            self->wake[left++] = self->wake[i];
    self->wake_count = left;
    return left < count;
}

/* As the host does for a policy without decide. */
static void start_in_order(struct cs_host *host)
{
    uint32_t i = 0;

    while (i < cs_pending_count(host)) {
        if (cs_start(host, cs_pending(host, i)) == CS_DONE)
            continue;
        if (!cs_skips(host))
            return;
        i++;
    }
}

/* The host's op `decide`: wakeup() first, if a time of wake_at() has come. */
static void op_decide(void *me, struct cs_host *host)
{
    struct self *self = me;

    self->host->op++;
    self->round++;
    if (!self->failed && self->wake_count > 0 && is_woken(self))
        call_method(self, M_WAKEUP, NULL);
    if (self->failed)
        return;
    if (self->table->method[M_DECIDE] != NULL)
        call_method(self, M_DECIDE, NULL);
    else
        start_in_order(host);
}

/* Calls the method of an event with its number.  Any event makes keys that
 * move stale. */
static void tell_news(struct self *self, enum method m, uint32_t id)
{
    PyObject *number;

    self->host->op++;
    self->round++;
    if (self->failed || self->table->method[m] == NULL)
        return;
    number = PyLong_FromUnsignedLong(id);
    if (number == NULL)
        fail_raised(self, method_name[m]);
    else
        call_method(self, m, number);
    Py_XDECREF(number);
}

/* The host's op of that name. */
static void op_job_submitted(void *me, struct cs_host *host, struct job_id job)
{
    (void)host;
    tell_news(me, M_SUBMITTED, job.i);
}

/* The host's op of that name. */
static void op_job_ended(void *me, struct cs_host *host, struct job_id job)
{
    (void)host;
    tell_news(me, M_ENDED, job.i);
}

/* The host's op of that name. */
static void op_lease_idle(void *me, struct cs_host *host, struct lease_id lease)
{
    (void)host;
    tell_news(me, M_IDLE, lease.i);
}

/* ---- begin and end ---- */

/* A parameter as the host filled it in behind struct self. */
static PyObject *param_value(const struct self *self, const struct cs_param *param)
{
    const void *at = (const char *)self + param->offset;

    switch (param->type) {
    case CS_PARAM_INT:
    case CS_PARAM_TIME: return PyLong_FromLongLong(*(const int64_t *)at);
    case CS_PARAM_REAL:
    case CS_PARAM_FRACTION: return PyFloat_FromDouble(*(const double *)at);
    case CS_PARAM_BOOL: return PyBool_FromLong(*(const bool *)at);
    case CS_PARAM_CHOICE: return PyLong_FromLong(*(const int *)at);
    case CS_PARAM_TEXT:
        return PyUnicode_FromString(*(const char *const *)at == NULL
                                        ? "" : *(const char *const *)at);
    }
    return NULL;
}

/* All parameters, by attribute. */
static PyObject *all_params(const struct self *self)
{
    PyObject *dict = PyDict_New();

    for (uint32_t i = 0; dict != NULL && i < self->table->policy.param_count; i++) {
        PyObject *value = param_value(self, &self->table->policy.param[i]);
        if (value == NULL ||
            PyDict_SetItem(dict, PyTuple_GET_ITEM(self->table->names, i), value) != 0)
            Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    return dict;
}

/* Makes the instance, with its parameters set.  False: a Python error is set. */
static bool make_instance(struct self *self)
{
    PyObject *params = all_params(self), *pair = NULL;

    if (params != NULL)
        pair = Py_BuildValue("OOOd", self->table->cls, params, (PyObject *)self->host,
                             py_event_limit_s);
    if (pair != NULL)
        self->instance = call_helper("_make", pair);
    Py_XDECREF(params);
    Py_XDECREF(pair);
    return self->instance != NULL;
}

/* The host calls it in the process of the trial.  The arena's self is zero but
 * for the parameters. */
static bool op_init(void *me, struct cs_host *host)
{
    struct self *self = me;

    self->table = (const struct table *)(const void *)cs_table(host);
    self->host = py_host_object_new(host, self);
    for (unsigned i = 0; self->host != NULL && i < 2; i++)
        self->spare[i] = (struct task_object *)py_task_new(self->host,
                                                        (struct task_id){ ID_NONE });
    if (self->host == NULL || self->spare[0] == NULL || self->spare[1] == NULL)
        Py_FatalError("no memory for a policy");
    if (!make_instance(self))
        fail_raised(self, "__init__");
    else if (self->table->method[M_INIT] != NULL)
        call_method(self, M_INIT, NULL);
    return !self->failed;
}

/* Python code may have kept the host object: from now on it knows no host. */
static void op_fini(void *me)
{
    struct self *self = me;

    if (self->host == NULL)
        return;
    Py_XDECREF(call_helper("_end", NULL));
    PyErr_Clear();
    self->host->host = NULL;
    for (size_t i = 0; i < self->key_room; i++)
        if (self->key[i].kind == KEY_OBJECT)
            Py_DECREF(self->key[i].is.object);
    PyMem_RawFree(self->key);
    PyMem_RawFree(self->wake);
    Py_XDECREF((PyObject *)self->spare[0]);
    Py_XDECREF((PyObject *)self->spare[1]);
    Py_XDECREF(self->instance);
    Py_DECREF((PyObject *)self->host);
}

/* ---- the table ---- */

/* The destructor of the capsule; it must be right for a table that is filled
 * in part. */
static void table_free(PyObject *capsule)
{
    struct table *table = PyCapsule_GetPointer(capsule, CAPSULE);

    for (unsigned m = 0; m < M_COUNT; m++)
        Py_XDECREF(table->method[m]);
    Py_XDECREF(table->cls);
    Py_XDECREF(table->names);
    Py_XDECREF(table->texts);
    PyMem_RawFree(table->param);
    PyMem_RawFree(table->words);
    PyMem_RawFree(table);
}

/* Parameters: (attribute, key, type, min, max, fallback, help, words) each.  Each parameter
 * has 8 bytes behind struct self, whatever its type. */
static bool fill_params(struct table *table, PyObject *list)
{
    Py_ssize_t count = PyTuple_GET_SIZE(list);
    uint32_t words = 0;

    table->names = PyTuple_New(count);
    table->param = PyMem_RawCalloc((size_t)count + 1, sizeof *table->param);
    table->words = PyMem_RawCalloc((size_t)count + 1, sizeof *table->words);
    if (table->names == NULL || table->param == NULL || table->words == NULL)
        return PyErr_NoMemory() != NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        struct cs_param *param = &table->param[i];
        const char *said = NULL;
        PyObject *name;
        int type;

        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(list, i), "Usiddzsz", &name, &param->key, &type,
                              &param->min, &param->max, &param->fallback, &param->help,
                              &said))
            return false;
        PyTuple_SET_ITEM(table->names, i, Py_NewRef(name));
        param->type = (enum cs_param_type)type;
        param->offset = sizeof(struct self) + 8 * (size_t)i;
        if (said != NULL)
            table->words[words++] = (struct cs_words){ param->key, said };
    }
    table->policy.param = table->param;
    table->policy.param_count = (uint32_t)count;
    table->policy.words = table->words;
    table->policy.words_count = words;
    return true;
}

/* The functions of the class that are not those of `base`, Policy. */
static bool find_methods(struct table *table, PyObject *base)
{
    for (unsigned m = 0; m < M_COUNT; m++) {
        PyObject *own = PyObject_GetAttrString(table->cls, method_name[m]);
        PyObject *usual = own == NULL ? NULL : PyObject_GetAttrString(base, method_name[m]);

        if (own == NULL || usual == NULL) {
            Py_XDECREF(own);
            return false;
        }
        if (own != usual)
            table->method[m] = Py_NewRef(own);
        Py_DECREF(own);
        Py_DECREF(usual);
    }
    return true;
}

/* Sets only the ops that the class needs, since an op costs a call into Python
 * at each event. */
static void fill_ops(struct table *table, PyObject *const *method)
{
    struct cs_policy *policy = &table->policy;
    bool moves = method[M_KEY] != NULL && (policy->flags & CS_ORDER_MOVES) != 0;

    policy->init = op_init;
    policy->fini = op_fini;
    policy->before = method[M_BEFORE] != NULL ? op_before
                   : method[M_KEY] != NULL ? op_key : NULL;
    if (method[M_DECIDE] != NULL || method[M_WAKEUP] != NULL || moves)
        policy->decide = op_decide;
    if (method[M_DECIDE] == NULL && policy->decide != NULL)
        policy->flags |= CS_ASKS_BLOCKING;
    if (method[M_SUBMITTED] != NULL || moves)
        policy->job_submitted = op_job_submitted;
    if (method[M_ENDED] != NULL || moves)
        policy->job_ended = op_job_ended;
    if (method[M_IDLE] != NULL || (moves && policy->flags & CS_PER_PHASE))
        policy->lease_idle = op_lease_idle;
}

/* table(cls, base, name, summary, flags, params): a capsule, which owns the table.  From its
 * making on, table_free() gives back what was filled so far, also after an error. */
PyObject *py_table_new(PyObject *module, PyObject *args)
{
    struct table *table = PyMem_RawCalloc(1, sizeof *table);
    PyObject *capsule, *cls, *base, *params;
    const char *name, *summary;
    unsigned flags;

    (void)module;
    if (table == NULL)
        return PyErr_NoMemory();
    capsule = PyCapsule_New(table, CAPSULE, table_free);
    if (capsule == NULL || !PyArg_ParseTuple(args, "OOssIO!", &cls, &base, &name, &summary,
                                             &flags, &PyTuple_Type, &params)) {
        Py_XDECREF(capsule);
        return NULL;
    }
    table->cls = Py_NewRef(cls);
    table->texts = Py_NewRef(args);
    table->policy = (struct cs_policy){
        .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
        .name = name, .summary = summary, .flags = flags,
        .self_bytes = sizeof(struct self) + 8 * (size_t)PyTuple_GET_SIZE(params)
    };
    if (!find_methods(table, base) || !fill_params(table, params)) {
        Py_DECREF(capsule);
        return NULL;
    }
    fill_ops(table, table->method);
    return capsule;
}

const struct cs_policy *py_table_of(PyObject *capsule)
{
    const struct table *table = PyCapsule_GetPointer(capsule, CAPSULE);

    return table == NULL ? NULL : &table->policy;
}

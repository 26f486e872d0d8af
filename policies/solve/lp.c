/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lp.c - a tool for policies that plan: linear programs, by the GNU
 * Linear Programming Kit (the simplex method; Dantzig 1947).
 *
 * Of several best answers it gives one that is the same for the same program;
 * a policy that cares which must say so in its objective.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include <glpk.h>

#include "policies/policy.h"
#include "policies/solve.h"
#include "sim/base/arena.h"

#define NODES_MAX 2000u         /* of branch and bound, where nothing is said */
#define GAP 1e-4                /* of its answer, as Sia's solver has it */

/* Copies the program into GLPK's form, which counts rows and columns from 1. */
static void load_program(glp_prob *prob, const struct cs_lp *lp, struct arena *arena)
{
    size_t room = (size_t)lp->entries + 1;
    int *row = arena_alloc(arena, room, sizeof *row);
    int *column = arena_alloc(arena, room, sizeof *column);
    double *value = arena_alloc(arena, room, sizeof *value);

    glp_set_obj_dir(prob, GLP_MAX);
    if (lp->rows > 0)
        glp_add_rows(prob, (int)lp->rows);
    glp_add_cols(prob, (int)lp->columns);
    for (uint32_t r = 0; r < lp->rows; r++)
        glp_set_row_bnds(prob, (int)r + 1, GLP_UP, 0, lp->limit[r]);
    for (uint32_t c = 0; c < lp->columns; c++) {
        double most = lp->most ? lp->most[c] : lp->whole ? 1 : INFINITY;
        int kind = isfinite(most) ? (most > 0 ? GLP_DB : GLP_FX) : GLP_LO;
        glp_set_col_bnds(prob, (int)c + 1, kind, 0,
                         isfinite(most) ? most : 0);
        glp_set_obj_coef(prob, (int)c + 1, lp->gain[c]);
    }
    for (uint32_t e = 0; e < lp->entries; e++) {
        assert(lp->row[e] < lp->rows && lp->column[e] < lp->columns);
        row[e + 1] = (int)lp->row[e] + 1;       /* GLPK counts from 1 */
        column[e + 1] = (int)lp->column[e] + 1;
        value[e + 1] = lp->value[e];
    }
    glp_load_matrix(prob, (int)lp->entries, row, column, value);
}

/* ---- a basis to begin with ------------------------------------------------- */

#define NONE UINT32_MAX

/* A step of a choice, from one of its columns to the next that can be best: what it adds
 * to the sum for each unit of the common row. */
struct lp_step {
    double slope, units;
    uint32_t row, from, to;     /* from NONE: of no column */
};

/* Programs of choices: each column stands in the row of its choice, with 1, and in the
 * last row, with its units; columns of a row stand together. */
struct lp_choices {
    uint32_t *row;              /* by column */
    double *units;
    struct lp_step *step;
    uint32_t steps;
};

/* Reads a program as one of choices; false: it is none. */
static bool read_choices(const struct cs_lp *lp, struct arena *arena, struct lp_choices *of)
{
    uint32_t common = lp->rows - 1;

    if (lp->most == NULL || lp->rows < 2 || lp->entries != 2 * lp->columns)
        return false;
    of->row = arena_alloc(arena, lp->columns, sizeof *of->row);
    of->units = arena_alloc(arena, lp->columns, sizeof *of->units);
    of->step = arena_alloc(arena, lp->columns, sizeof *of->step);
    for (uint32_t c = 0; c < lp->columns; c++) {
        uint32_t e = 2 * c;
        if (lp->column[e] != c || lp->column[e + 1] != c || lp->row[e] >= common ||
            lp->row[e + 1] != common || lp->value[e] != 1 || !(lp->value[e + 1] > 0) ||
            lp->most[c] != lp->limit[lp->row[e]])
            return false;
        of->row[c] = lp->row[e];
        of->units[c] = lp->value[e + 1];
        if (c > 0 && (of->row[c] < of->row[c - 1] || (of->row[c] == of->row[c - 1] &&
                                                      of->units[c] <= of->units[c - 1])))
            return false;
    }
    return true;
}

/* Returns the step of a choice from one of its columns, or from none, to a later one. */
static struct lp_step step_to(const struct cs_lp *lp, const struct lp_choices *of,
                              uint32_t from, uint32_t to)
{
    double gain = from == NONE ? 0 : lp->gain[from];
    double units = of->units[to] - (from == NONE ? 0 : of->units[from]);

    return (struct lp_step) { (lp->gain[to] - gain) / units, units, of->row[to], from, to };
}

/* Lists the steps of the choice whose columns are [first, end): those of the concave hull
 * of its gains. */
static void list_steps(const struct cs_lp *lp, struct lp_choices *of, uint32_t first,
                       uint32_t end)
{
    struct lp_step *step = &of->step[of->steps];
    uint32_t count = 0;

    for (uint32_t c = first; c < end; c++) {
        while (count > 0 &&
               step_to(lp, of, step[count - 1].from, c).slope >= step[count - 1].slope)
            count--;
        struct lp_step next = step_to(lp, of, count > 0 ? step[count - 1].to : NONE, c);
        if (next.slope > 0)
            step[count++] = next;
    }
    of->steps += count;
}

/* The steepest first; the rest is by column, so that the order does not depend on the sort. */
static int compare_steps(const void *a, const void *b)
{
    const struct lp_step *x = a, *y = b;

    if (x->slope != y->slope)
        return x->slope > y->slope ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

/* A step of a choice is taken, or is about to be: what it leaves is basic, at 0 if the step
 * is whole, and the column before that is out.  The simplex method itself ends so: a column
 * that enters is stopped by its own bound first.  Search trees grow from this basis, so
 * another one for the same answer would lead to another of several good plans. */
static void leave_column(glp_prob *prob, const struct lp_step *step, uint32_t *before)
{
    if (step->from == NONE)
        return;
    glp_set_row_stat(prob, (int)step->row + 1, GLP_NU);
    glp_set_col_stat(prob, (int)step->from + 1, GLP_BS);
    if (before[step->row] != NONE)
        glp_set_col_stat(prob, (int)before[step->row] + 1, GLP_NL);
    before[step->row] = step->from;
}

/* Takes steps, the steepest first, while there are units left: the best answer of the
 * relaxation.  One more may be taken in part. */
static void take_steps(glp_prob *prob, const struct cs_lp *lp, const struct lp_choices *of,
                       uint32_t *before)
{
    double left = lp->limit[lp->rows - 1];

    for (uint32_t i = 0; i < of->steps; i++) {
        const struct lp_step *step = &of->step[i];
        double units = step->units * lp->limit[step->row];

        leave_column(prob, step, before);
        if (units > left) {
            glp_set_col_stat(prob, (int)step->to + 1, GLP_BS);
            glp_set_row_stat(prob, (int)lp->rows, GLP_NU);
            return;
        }
        left -= units;
        glp_set_col_stat(prob, (int)step->to + 1, GLP_NU);
    }
}

/* Begins with the best answer of the relaxation, which a program of choices tells without
 * pivots; of another program, with no column in the basis. */
static void set_basis(glp_prob *prob, const struct cs_lp *lp, struct arena *arena)
{
    struct lp_choices of = { .steps = 0 };

    if (!read_choices(lp, arena, &of))
        return;
    uint32_t *before = arena_alloc(arena, lp->rows, sizeof *before);
    for (uint32_t r = 0; r < lp->rows; r++)
        before[r] = NONE;
    for (uint32_t first = 0, end; first < lp->columns; first = end) {
        for (end = first + 1; end < lp->columns && of.row[end] == of.row[first]; end++)
            continue;
        list_steps(lp, &of, first, end);
    }
    qsort(of.step, of.steps, sizeof *of.step, compare_steps);
    take_steps(prob, lp, &of, before);
}

/* ---- solutions ---------------------------------------------------------------- */

/* Counts the nodes of the search: the same end on any machine. */
static void count_nodes(glp_tree *tree, void *info)
{
    uint32_t *left = info;

    if (glp_ios_reason(tree) != GLP_ISELECT)
        return;
    if (*left == 0)
        glp_ios_terminate(tree);
    else
        --*left;
}

/* After the relaxation was solved. */
static bool solve_whole(glp_prob *prob, const struct cs_lp *lp)
{
    glp_iocp how;
    uint32_t left = lp->nodes_max > 0 ? lp->nodes_max : NODES_MAX;

    for (uint32_t c = 0; c < lp->columns; c++)
        glp_set_col_kind(prob, (int)c + 1, GLP_IV);
    glp_init_iocp(&how);
    how.msg_lev = GLP_MSG_OFF;
    how.mip_gap = GAP;
    how.cb_func = count_nodes;
    how.cb_info = &left;
    int end = glp_intopt(prob, &how), status = glp_mip_status(prob);

    if (lp->cut != NULL && end == GLP_ESTOP)
        *lp->cut = true;
    if ((end != 0 && end != GLP_EMIPGAP && end != GLP_ESTOP) ||
        (status != GLP_OPT && status != GLP_FEAS))
        return false;
    for (uint32_t c = 0; c < lp->columns; c++)
        lp->x[c] = glp_mip_col_val(prob, (int)c + 1);
    return true;
}

/* False: there is no best answer, because no answer satisfies all rows or
 * because the search for a whole one was given up; x is then unspecified. */
bool cs_linear_program(const struct cs_lp *lp)
{
    struct arena *arena = arena_new(0);
    glp_smcp how;

    assert(lp->columns > 0);
    glp_term_out(GLP_OFF);
    glp_init_smcp(&how);
    how.msg_lev = GLP_MSG_OFF;
    how.presolve = lp->whole ? GLP_OFF : GLP_ON;
    glp_prob *prob = glp_create_prob();
    load_program(prob, lp, arena);
    if (lp->whole)
        set_basis(prob, lp, arena);
    int end = glp_simplex(prob, &how);
    if (end != 0 && lp->whole) {        /* not from that basis */
        glp_std_basis(prob);
        end = glp_simplex(prob, &how);
    }
    bool solved = end == 0 && glp_get_status(prob) == GLP_OPT;
    if (solved && lp->whole)
        solved = solve_whole(prob, lp);
    for (uint32_t c = 0; solved && !lp->whole && c < lp->columns; c++)
        lp->x[c] = fmax(0, glp_get_col_prim(prob, (int)c + 1));
    glp_delete_prob(prob);
    glp_free_env();             /* of this thread; it keeps no state */
    arena_free(arena);
    return solved;
}

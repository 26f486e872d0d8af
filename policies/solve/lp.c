/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lp.c - a tool for policies that plan: linear programs, by the GNU
 * Linear Programming Kit (the simplex method; Dantzig 1947).
 *
 * If a program has several best answers, it always gives the same one.  A policy that wants a
 * certain one of them must say so in its objective.
 */
#include <assert.h>
#include <math.h>

#include <glpk.h>

#include "policies/policy.h"
#include "policies/solve.h"
#include "policies/solve/lp_choices.h"
#include "sim/base/arena.h"

#define NODES_MAX 2000u         /* of branch and bound, where nothing is said */
#define GAP 1e-4                /* of its answer, as Sia's solver has it */

/* Returns the upper bound of a column.  Of whole numbers GLPK takes no other bound than a whole
 * one. */
static double most_of(const struct cs_lp *lp, uint32_t column)
{
    if (lp->most == NULL)
        return lp->whole ? 1 : INFINITY;
    return lp->whole ? floor(lp->most[column]) : lp->most[column];
}

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
        double most = most_of(lp, c);
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

/* A step of a choice is taken, or is about to be: what it leaves is basic, at 0 if the step
 * is whole, and the column before that is out.  The simplex method itself ends so: a column
 * that enters is stopped by its own bound first.  Search trees grow from this basis, so
 * another one for the same answer would lead to another of several good plans. */
static void leave_column(glp_prob *prob, const struct lp_step *step, uint32_t *before)
{
    if (step->from == LP_NONE)
        return;
    glp_set_row_stat(prob, (int)step->row + 1, GLP_NU);
    glp_set_col_stat(prob, (int)step->from + 1, GLP_BS);
    if (before[step->row] != LP_NONE)
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
 * pivots. */
static void set_basis(glp_prob *prob, const struct cs_lp *lp, const struct lp_choices *of,
                      struct arena *arena)
{
    uint32_t *before = arena_alloc(arena, lp->rows, sizeof *before);

    for (uint32_t r = 0; r < lp->rows; r++)
        before[r] = LP_NONE;
    take_steps(prob, lp, of, before);
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

/* Solves for whole numbers, by branch and bound, after the relaxation was solved.  At most
 * nodes_max nodes are visited: the best answer by then counts. */
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

/* Solves the program by GLPK.  `of`: its choices, or NULL, where it is none of choices. */
static bool solve_program(const struct cs_lp *lp, const struct lp_choices *of,
                          struct arena *arena)
{
    glp_smcp how;

    glp_term_out(GLP_OFF);
    glp_init_smcp(&how);
    how.msg_lev = GLP_MSG_OFF;
    how.presolve = lp->whole ? GLP_OFF : GLP_ON;
    glp_prob *prob = glp_create_prob();
    load_program(prob, lp, arena);
    if (of != NULL)
        set_basis(prob, lp, of, arena);
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
    return solved;
}

/* False: there is no best answer, because no answer satisfies all rows or
 * because the search for a whole one was given up; x is then unspecified.  GLPK is left out
 * where whole steps of choices are near enough to the best already. */
bool cs_linear_program(const struct cs_lp *lp)
{
    struct arena *arena = arena_new(0);
    struct lp_choices of;

    assert(lp->columns > 0);
    bool chosen = lp->whole && lp_read_choices(lp, arena, &of);
    bool solved = (chosen && lp_take_choices(lp, &of, GAP)) ||
                  solve_program(lp, chosen ? &of : NULL, arena);
    arena_free(arena);
    return solved;
}

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
    bool solved = glp_simplex(prob, &how) == 0 &&
                  glp_get_status(prob) == GLP_OPT;
    if (solved && lp->whole)
        solved = solve_whole(prob, lp);
    for (uint32_t c = 0; solved && !lp->whole && c < lp->columns; c++)
        lp->x[c] = fmax(0, glp_get_col_prim(prob, (int)c + 1));
    glp_delete_prob(prob);
    glp_free_env();             /* of this thread; it keeps no state */
    arena_free(arena);
    return solved;
}

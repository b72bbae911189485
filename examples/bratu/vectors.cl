// The vector work of the Bratu problem, beside the products: residual, Jacobian's diagonal, conjugate gradients.
//
// Every kernel is launched with the same number of groups of GROUP_SIZE items. A sum over all rows is an array with
// what each group added up; whoever needs the sum adds those up itself, always in the same order. So scalars of
// conjugate gradients never travel to the host.

#pragma OPENCL EXTENSION cl_khr_fp64 : enable

double sum_of_group(double mine, local double *scratch)
{
    const uint item = get_local_id(0);
    scratch[item] = mine;
    for (uint half_width = GROUP_SIZE / 2; half_width > 0; half_width >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < half_width)
            scratch[item] += scratch[item + half_width];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const double sum = scratch[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum;
}

double sum_of_groups(global const double *sums, local double *scratch)
{
    double mine = 0;
    for (uint group = get_local_id(0); group < get_num_groups(0); group += GROUP_SIZE)
        mine += sums[group];
    return sum_of_group(mine, scratch);
}

// r = p = -F(u), by the seven-point stencil and without the matrix: a wrong product could not make it small.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void residual(const uint edge, const double source, global const double *u, global double *r,
                     global double *p, global double *rr, global double *progress)
{
    local double scratch[GROUP_SIZE];
    const uint face = edge * edge;
    const uint rows = face * edge;
    double mine = 0;
    for (uint row = get_global_id(0); row < rows; row += get_global_size(0)) {
        const uint x = row % edge, y = row / edge % edge, z = row / face;
        double minus_f = source * exp(u[row]) - 6 * u[row];
        // u is 0 beyond the last points.
        minus_f += x > 0 ? u[row - 1] : 0;
        minus_f += x + 1 < edge ? u[row + 1] : 0;
        minus_f += y > 0 ? u[row - edge] : 0;
        minus_f += y + 1 < edge ? u[row + edge] : 0;
        minus_f += z > 0 ? u[row - face] : 0;
        minus_f += z + 1 < edge ? u[row + face] : 0;
        r[row] = minus_f;
        p[row] = minus_f;
        mine += minus_f * minus_f;
    }
    const double sum = sum_of_group(mine, scratch);
    if (get_local_id(0) == 0)
        rr[get_group_id(0)] = sum;
    if (get_global_id(0) == 0)
        progress[2] = 0;
}

// Into the order in which a plan has rows and columns: p from r, and a u of that order.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void enter_order(const uint rows, global const uint *order, global const double *r, global const double *u,
                        global double *p, global double *ordered_u)
{
    for (uint row = get_global_id(0); row < rows; row += get_global_size(0)) {
        p[row] = r[order[row]];
        ordered_u[row] = u[order[row]];
    }
}

// Back.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void leave_order(const uint rows, global const uint *order, global const double *ordered_u, global double *u)
{
    for (uint row = get_global_id(0); row < rows; row += get_global_size(0))
        u[order[row]] = ordered_u[row];
}

// Of the Jacobian only the diagonal depends on u.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void jacobian(const uint rows, const double source, global const double *u,
                     global const uint *diagonal, global double *values)
{
    for (uint row = get_global_id(0); row < rows; row += get_global_size(0))
        values[diagonal[row]] = 6 - source * exp(u[row]);
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void curvature(const uint rows, global const double *p, global const double *q, global double *pq)
{
    local double scratch[GROUP_SIZE];
    double mine = 0;
    for (uint row = get_global_id(0); row < rows; row += get_global_size(0))
        mine += p[row] * q[row];
    const double sum = sum_of_group(mine, scratch);
    if (get_local_id(0) == 0)
        pq[get_group_id(0)] = sum;
}

// u += alpha p, r -= alpha q. A system that is solved, or not positive definite, stays where it is: the host looks
// only now and then.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void advance(const uint rows, const double target, global const double *p, global const double *q,
                    global const double *pq, global const double *rr_before, global double *u,
                    global double *r, global double *rr_after)
{
    local double scratch[GROUP_SIZE];
    const double curved = sum_of_groups(pq, scratch);
    const double before = sum_of_groups(rr_before, scratch);
    const double alpha = before > target && curved > 0 ? before / curved : 0;
    double mine = 0;
    for (uint row = get_global_id(0); row < rows; row += get_global_size(0)) {
        if (alpha > 0) {
            u[row] += alpha * p[row];
            r[row] -= alpha * q[row];
        }
        mine += r[row] * r[row];
    }
    const double sum = sum_of_group(mine, scratch);
    if (get_local_id(0) == 0)
        rr_after[get_group_id(0)] = sum;
}

// p = r + beta p; and for the host: the residual's square, p A p of the last step that meant something, steps.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void turn(const uint rows, const double target, global const double *r, global const double *pq,
                 global const double *rr_before, global const double *rr_after, global double *p,
                 global double *progress)
{
    local double scratch[GROUP_SIZE];
    const double curved = sum_of_groups(pq, scratch);
    const double before = sum_of_groups(rr_before, scratch);
    const double after = sum_of_groups(rr_after, scratch);
    const double beta = after / before;
    if (before > target && curved > 0) {
        for (uint row = get_global_id(0); row < rows; row += get_global_size(0))
            p[row] = r[row] + beta * p[row];
    }
    if (get_global_id(0) == 0) {
        progress[0] = after;
        if (before > target) {
            progress[1] = curved;
            progress[2] += curved > 0 ? 1 : 0;
        }
    }
}

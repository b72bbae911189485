"""The matrices that the rules for CPUs were judged on last: none had been looked at before (more_matrices.py writes
them)."""

import itertools

import numpy as np
import scipy.sparse as sp
from scipy.spatial import Delaunay, cKDTree


def pattern(rows, cols, shape=None):
    """A matrix of ones, doubled places added up."""
    return sp.csr_matrix((np.ones(len(rows)), (rows, cols)), shape=shape)


def both_ways(edges, count):
    upper = pattern(edges[:, 0], edges[:, 1], (count, count))
    return upper + upper.T


def by_length(matrix, descending=True):
    """The same graph, its nodes in order of how many neighbours they have."""
    lengths = np.diff(sp.csr_matrix(matrix).indptr)
    order = np.argsort(-lengths if descending else lengths, kind="stable")
    return sp.csr_matrix(matrix)[order][:, order]


# Networks: some with nodes in order, as who wants hubs together stores them.


def chung_lu(count, mean, exponent, seed):
    """Each node expects a number of neighbours that falls as a power of its place: hubs come first."""
    random = np.random.default_rng(seed)
    weights = (np.arange(count) + 10.0) ** (-1 / (exponent - 1))
    ends = random.choice(count, (2, int(count * mean / 2)), p=weights / weights.sum())
    return both_ways(ends.T, count)


def recursive(levels, edges, seed):
    """R-MAT: each bit of an edge's ends falls into one of four quarters."""
    random = np.random.default_rng(seed)
    quarter = random.choice(4, (edges, levels), p=[0.57, 0.19, 0.19, 0.05])
    bits = 1 << np.arange(levels)
    return pattern((quarter // 2) @ bits, (quarter % 2) @ bits, (1 << levels,) * 2)


def networks():
    import networkx as nx

    csr = nx.to_scipy_sparse_array
    yield "hubs_first", lambda: by_length(csr(nx.barabasi_albert_graph(40_000, 3, seed=21)))
    yield "hubs_last", lambda: by_length(csr(nx.barabasi_albert_graph(70_000, 5, seed=22)), descending=False)
    yield "expected_hubs", lambda: chung_lu(50_000, 7, 2.3, 23)
    yield "clustered_hubs", lambda: csr(nx.powerlaw_cluster_graph(30_000, 4, 0.5, seed=24))
    yield "recursive", lambda: recursive(15, 300_000, 25)
    yield "hanoi", hanoi
    yield "de_bruijn", lambda: pattern(np.repeat(np.arange(3**10), 3), np.arange(3**11) % 3**10)
    yield "knights", knights


def hanoi(disks=10):
    """The towers of Hanoi: states by the moves between them."""
    states = np.arange(3**disks)
    peg = lambda disk: states // 3**disk % 3
    rows, cols = [], []
    free = [np.ones(len(states), bool) for _ in range(3)]
    for disk in range(disks):
        here = peg(disk)
        for there in range(3):
            moves = (here != there) & np.choose(here, free) & free[there]
            rows.append(states[moves])
            cols.append(states[moves] + (there - here[moves]) * 3**disk)
        for tower in range(3):
            free[tower] = free[tower] & (here != tower)
    return pattern(np.concatenate(rows), np.concatenate(cols))


def knights(side=220):
    """Where a knight goes from each square, and that it may stay."""
    squares = np.arange(side * side).reshape(side, side)
    edges = [np.c_[squares.ravel(), squares.ravel()]]
    for down, right in ((1, 2), (2, 1), (1, -2), (2, -1)):
        from_, to = slice(max(0, -right), side - max(0, right)), slice(max(0, right), side + min(0, right))
        edges.append(np.c_[squares[:-down, from_].ravel(), squares[down:, to].ravel()])
    return both_ways(np.concatenate(edges), side * side)


# Meshes and what is made of them.


def meshes():
    yield "clustered_mesh", clustered_mesh
    yield "crouzeix_raviart", lambda: elements("ElementTriCR", 6, 40)
    yield "mini", lambda: elements("ElementTriMini", 6, 30)
    yield "plate", plate
    yield "two_steps", lambda: (clustered_mesh(12_000) ** 2).astype(bool)


def clustered_mesh(count=40_000):
    """Delaunay's triangles of points in clusters, by places along one axis."""
    random = np.random.default_rng(31)
    points = random.normal(size=(60, 2))[random.integers(0, 60, count)] + 0.1 * random.normal(size=(count, 2))
    corners = Delaunay(points[np.argsort(points[:, 0])]).simplices
    edges = np.concatenate([corners[:, pair] for pair in ((0, 1), (1, 2), (0, 2))])
    return sp.csr_matrix(both_ways(edges, count) + sp.eye(count))


def dominant(matrix):
    """The same pattern, its diagonal larger than what else a row has."""
    return sp.diags(matrix.sum(1).A1 + 1) - matrix


def elements(kind, refinements, width):
    """The Laplace operator by scikit-fem's elements of a kind, on a strip."""
    import skfem
    from skfem.helpers import dot, grad

    mesh = skfem.MeshTri.init_tensor(np.linspace(0, 4, width * 4), np.linspace(0, 1, width))
    mesh = mesh.refined(np.flatnonzero(mesh.p[:, mesh.t].mean(1)[0] < 1.3)).refined(np.arange(refinements * 100))
    basis = skfem.Basis(mesh, getattr(skfem, kind)())
    return skfem.BilinearForm(lambda u, v, w: dot(grad(u), grad(v)) + u * v).assemble(basis)


def plate(side=160):
    """A plate that bends: thirteen points."""
    second = sp.diags([1.0, -2.0, 1.0], [-1, 0, 1], (side, side))
    laplace = sp.kronsum(second, second)
    return laplace @ laplace


# Levels of multigrid, and a factor.


def levels():
    import pyamg
    import scipy.sparse.linalg as solvers

    rod = lambda: pyamg.gallery.poisson((500, 90), format="csr")
    yield "root_node", lambda: pyamg.rootnode_solver(rod(), max_coarse=50).levels[1].A.tocsr()
    yield "reduction", lambda: reduction(pyamg, rod())
    yield "incomplete", lambda: solvers.spilu(dominant(clustered_mesh(15_000)).tocsc(), 1e-3, 6).L


def reduction(pyamg, matrix):
    """A level whose points were drawn by lot."""
    np.random.seed(26)
    return pyamg.ruge_stuben_solver(matrix, CF="PMIS", max_coarse=50).levels[1].A


# Choices, states, measurements, images.


def tables():
    yield "differences", differences
    yield "exact_cover", exact_cover
    yield "exact_cover_reverse", lambda: exact_cover().T
    yield "epidemic", epidemic
    yield "ratings", ratings
    yield "ratings_reverse", lambda: ratings().T
    yield "attention", attention
    yield "convolution", convolution
    yield "netlist", netlist
    yield "chemistry", chemistry
    yield "hyperlinks", hyperlinks


def differences(shape=(60, 50, 40)):
    """A gradient in space: two nonzeros a row, three rows a point."""
    parts = []
    for axis in range(3):
        one = sp.diags([-1.0, 1.0], [0, 1], (shape[axis] - 1, shape[axis]))
        factors = [sp.eye(shape[0]), sp.eye(shape[1]), sp.eye(shape[2])]
        factors[axis] = one
        parts.append(sp.kron(sp.kron(factors[0], factors[1]), factors[2]))
    return sp.vstack(parts)


def exact_cover(side=36, box=6):
    """Sudoku: each number in each cell by the four conditions it meets."""
    row, column, number = (part.ravel() for part in np.indices((side, side, side)))
    boxes = row // box * box + column // box
    places = [row * side + column, row * side + number, column * side + number, boxes * side + number]
    cols = np.concatenate([place + part * side * side for part, place in enumerate(places)])
    return pattern(np.tile(np.arange(side**3), 4), cols)


def epidemic(people=70):
    """Who is well, ill and recovered: states by what may happen next."""
    states = [(s, i) for s in range(people + 1) for i in range(people + 1 - s)]
    states = [(s, i, here) for s, i in states for here in range(9)]
    place = {state: at for at, state in enumerate(states)}
    ends = []
    for (s, i, here), at in place.items():
        following = [(s, i, here), (s - 1, i + 1, here), (s, i - 1, here), (s, i, here + 1), (s + 1, i, here)]
        following += [(s, i, here - 1), (s - 2, i + 1, here)] if i > people // 3 else []
        ends += [(at, place[after]) for after in following if after in place]
    return pattern(*np.array(ends).T)


def ratings(people=20_000, things=3_000):
    """How many things people have rated is lognormal; which, falls off as a power."""
    random = np.random.default_rng(41)
    counts = np.minimum(random.lognormal(2.6, 1.1, people).astype(int) + 1, things // 3)
    weights = (np.arange(things) + 20.0) ** -0.9
    cols = random.choice(things, counts.sum(), p=weights / weights.sum())
    return pattern(np.repeat(np.arange(people), counts), random.permutation(things)[cols], (people, things))


def attention(tokens=8_192, window=24, everywhere=16):
    """What a token attends to: those near it, some for all, some by chance."""
    random = np.random.default_rng(42)
    near = sp.diags(np.ones(2 * window + 1), np.arange(-window, window + 1), (tokens, tokens))
    known = np.sort(random.choice(tokens, everywhere, replace=False))
    for_all = pattern(np.tile(np.arange(tokens), everywhere), np.repeat(known, tokens), (tokens, tokens))
    chance = pattern(np.repeat(np.arange(tokens), 8), random.integers(0, tokens, 8 * tokens), (tokens, tokens))
    return near + for_all + for_all.T + chance


def convolution(side=150, kernel=5):
    """A picture by a kernel of 5 x 5, without padding."""
    inner = side - kernel + 1
    row, column = (part.ravel() for part in np.indices((inner, inner)))
    steps = [(row + down) * side + column + right for down, right in itertools.product(range(kernel), repeat=2)]
    return pattern(np.tile(np.arange(inner * inner), kernel * kernel), np.concatenate(steps))


def netlist(cells=60_000):
    """Transistors between wires near one another, and two wires that go to a tenth of them."""
    random = np.random.default_rng(43)
    first = np.repeat(np.arange(2, cells), 2)
    reach = np.minimum(random.pareto(1.3, len(first)) * 2 + 1, cells / 4).astype(int)
    second = 2 + (first - 2 + reach * random.choice([-1, 1], len(first))) % (cells - 2)
    supplied = np.flatnonzero(random.random(cells) < 0.1)
    supply = np.c_[random.integers(0, 2, len(supplied)), supplied]
    return both_ways(np.concatenate([np.c_[first, second], supply]), cells) + sp.eye(cells)


def chemistry(species=4, most=15):
    """A mixture's master equation: states by reactions that turn some molecules into others."""
    shape = (most,) * species
    states = np.indices(shape).reshape(species, -1)
    place = lambda found: np.ravel_multi_index(found, shape)
    rows, cols = [place(states)], [place(states)]
    for change in ((1, 0, 0, 0), (-1, 1, 0, 0), (0, -2, 1, 0), (0, 0, -1, 1), (0, 0, 0, -1), (-1, 0, -1, 2), (0, 1, 0, -1)):
        after = states + np.array(change)[:, None]
        legal = ((after >= 0) & (after < most)).all(0)
        rows.append(place(after[:, legal]))
        cols.append(place(states[:, legal]))
    return pattern(np.concatenate(rows), np.concatenate(cols))


def hyperlinks(sites=900):
    """Pages of a site know one another by menus, and few of other sites: rows of a site are of one length."""
    random = np.random.default_rng(44)
    sizes = np.minimum(random.pareto(1.1, sites) * 12 + 2, 600).astype(int)
    firsts = np.cumsum(sizes) - sizes
    ends = []
    for first, size in zip(firsts, sizes):
        menu = first + np.arange(min(size, random.integers(2, 30)))
        ends.append(np.c_[np.repeat(first + np.arange(size), len(menu)), np.tile(menu, size)])
    pages = sizes.sum()
    out = random.integers(0, pages, pages // 3)
    ends.append(np.c_[out, random.choice(firsts, len(out))])
    return pattern(*np.concatenate(ends).T, (pages, pages))


def nearest_hubs(count=25_000, neighbours=7):
    """The nearest in twelve dimensions, by who is near whom: some are near to very many."""
    points = np.random.default_rng(45).normal(size=(count, 12))
    found = cKDTree(points).query(points, k=neighbours)[1]
    return pattern(found.ravel(), np.repeat(np.arange(count), neighbours), (count, count))


def groups():
    """Names, and what makes each, by what they need."""
    yield networks()
    yield meshes()
    yield levels()
    yield tables()
    yield [("nearest_hubs", nearest_hubs)]

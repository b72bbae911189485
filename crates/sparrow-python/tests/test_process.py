"""What concerns the whole process: imports, threads, forks, memory, its end. Each in a process of its own."""

import subprocess
import sys
import textwrap

import pytest

HEAD = """
import numpy, scipy.sparse, sparrow
matrix = scipy.sparse.random_array((400, 300), density=0.03, format="csr", rng=1)
x = numpy.random.default_rng(2).standard_normal(300)
expected = matrix @ x

def check(y):
    assert abs(y - expected).max() < 1e-12
"""


def run(program, head=HEAD):
    command = [sys.executable, "-W", "error", "-X", "faulthandler", "-c"]
    ran = subprocess.run(
        [*command, head + textwrap.dedent(program)], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stderr == "", ran.stderr
    return ran.stdout


def test_an_import_touches_no_device_and_takes_no_time():
    found = run(
        """
        import sys, time
        began = time.process_time()
        import sparrow
        took = time.process_time() - began
        for module in ("numpy", "scipy", "pyopencl"):
            assert module not in sys.modules, module
        with open("/proc/self/maps") as maps:
            assert "libOpenCL" not in maps.read()
        print(took)
        """,
        head="",
    )
    assert float(found) < 0.2


def test_pyopencl_is_imported_by_nobody_but_the_user():
    run(
        """
        import sys
        check(sparrow.Matrix(matrix) @ x)
        sparrow.solve(scipy.sparse.eye_array(9), numpy.ones(9))
        assert "pyopencl" not in sys.modules
        """
    )


@pytest.mark.parametrize("first", ["sparrow.devices()", "pyopencl.get_platforms()"])
def test_either_may_open_opencl_first_and_both_see_the_same_platforms(first):
    run(
        f"""
        import pyopencl
        {first}
        import pyopencl.array
        names = [device.name for p in pyopencl.get_platforms() for device in p.get_devices()]
        assert [device.name for device in sparrow.devices()] == names
        a = sparrow.Matrix(matrix)
        check((a @ pyopencl.array.to_device(a.queue, x)).get())
        """
    )


def test_eight_threads_multiply_with_one_matrix():
    run(
        """
        import threading, pyopencl, pyopencl.array
        a = sparrow.Matrix(matrix)
        context = a.queue.context
        failures = []

        def work(number):
            try:
                queue = pyopencl.CommandQueue(context)
                on_device = pyopencl.array.to_device(queue, x)
                plan = a.plan("once" if number % 2 else "many", measure=0)
                for _ in range(20):
                    check(a @ x)
                    check((a @ on_device).get())
                    check(plan @ x)
                    check((a @ numpy.stack([x, x], 1))[:, 1])
            except BaseException as failure:
                failures.append(failure)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures, failures
        """
    )


def test_other_threads_go_on_while_one_solves():
    run(
        """
        import threading
        n = 40000
        slow = scipy.sparse.diags_array([[-1.0] * (n - 1), [2.0] * n, [-1.0] * (n - 1)], offsets=[-1, 0, 1])
        solver = sparrow.Solver(slow)
        done = threading.Event()

        def work():
            solver.solve(numpy.ones(n), max_iterations=400)
            done.set()

        thread = threading.Thread(target=work)
        thread.start()
        turns = 0
        while not done.wait(0.0005):
            turns += 1
        thread.join()
        assert turns > 3, turns
        """
    )


def test_a_child_that_was_forked_before_any_device_was_opened_computes():
    run(
        """
        import os
        child = os.fork()
        if child == 0:
            check(sparrow.Matrix(matrix) @ x)
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        check(sparrow.Matrix(matrix) @ x)
        """
    )


def test_a_child_that_was_forked_afterwards_is_told_why_it_cannot():
    found = run(
        """
        import os, sys, warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        a = sparrow.Matrix(matrix)
        plan, solver, batch = a.plan(), sparrow.Solver(scipy.sparse.eye_array(9)), sparrow.Batch([matrix])
        check(a @ x)
        child = os.fork()
        if child == 0:
            for use in (
                lambda: a @ x,
                lambda: a @ numpy.stack([x, x], 1),
                lambda: a @ a.T,
                lambda: a.T @ numpy.ones(400),
                lambda: plan @ x,
                lambda: a.plan(),
                lambda: a.update_values(matrix.data),
                lambda: a.to_scipy(),
                lambda: solver.solve(numpy.ones(9)),
                lambda: batch @ x,
                lambda: sparrow.Matrix(matrix),
                lambda: sparrow.devices(),
            ):
                try:
                    use()
                except RuntimeError as error:
                    assert "was forked from process" in str(error) and "spawn" in str(error)
                else:
                    os._exit(1)
            # It ends as any process does, and leaves the parent's objects alone.
            sys.exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        check(a @ x)
        print("parent goes on")
        """
    )
    assert found == "parent goes on\n"


def test_a_process_ends_with_work_in_flight():
    run(
        """
        import pyopencl.array
        large = scipy.sparse.random_array((20000, 20000), density=0.003, format="csr", rng=1)
        a = sparrow.Matrix(large)
        y = pyopencl.array.to_device(a.queue, numpy.ones(20000))
        for _ in range(50):
            y = a @ y
        """
    )


def test_memory_is_flat_over_many_products():
    run(
        """
        import pyopencl.array, resource
        a = sparrow.Matrix(matrix)
        on_device = pyopencl.array.to_device(a.queue, x)
        out, of_y = numpy.empty(400), pyopencl.array.to_device(a.queue, numpy.empty(400))
        b = numpy.stack([x, x, x], 1)

        def turn():
            a @ x
            a.dot(x, out=out)
            a.dot(on_device, out=of_y)
            a @ on_device
            a @ b

        def used():
            a.queue.finish()
            with open("/proc/self/statm") as statm:
                return int(statm.read().split()[1]) * resource.getpagesize()

        for _ in range(300):
            turn()
        before = used()
        for _ in range(1500):
            turn()
        grown = used() - before
        assert grown < 1 << 20, grown
        """
    )


def test_matrices_and_plans_give_their_memory_back():
    run(
        """
        import gc, resource
        large = scipy.sparse.random_array((3000, 3000), density=0.02, format="csr", rng=1)
        ones = numpy.ones(3000)

        def turn():
            a = sparrow.Matrix(large)
            a.plan("many", measure=0) @ ones
            a.T @ ones
            (a @ a).shape

        def used():
            gc.collect()
            with open("/proc/self/statm") as statm:
                return int(statm.read().split()[1]) * resource.getpagesize()

        for _ in range(3):
            turn()
        before = used()
        for _ in range(10):
            turn()
        # One turn takes more than 100 MB.
        grown = used() - before
        assert grown < 60 << 20, grown
        """
    )


def test_the_default_device_is_named_by_function_and_variable():
    run(
        """
        import os
        os.environ["SPARROW_DEVICE"] = "no such device"
        try:
            sparrow.Matrix(matrix)
        except ValueError as error:
            assert "no such device" in str(error)
        else:
            raise AssertionError
        sparrow.set_default_device(sparrow.devices()[0].position)
        check(sparrow.Matrix(matrix) @ x)
        sparrow.set_default_device(None)
        del os.environ["SPARROW_DEVICE"]
        check(sparrow.Matrix(matrix, device=sparrow.devices()[0].name) @ x)
        """
    )


def test_without_opencl_there_is_an_error_and_no_crash(monkeypatch, tmp_path):
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))
    found = run(
        """
        try:
            print(sparrow.Matrix(matrix))
        except sparrow.DeviceError as error:
            print(error, error.code)
        """
    )
    assert "device" in found or "platform" in found.lower() or "PLATFORM" in found

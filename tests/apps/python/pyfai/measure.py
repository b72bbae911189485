"""Times pyFAI's OpenCL integration with its own sums and with Sparrow's, in turn in one process.

    python measure.py [--rounds 9] [--detectors Pilatus1M,Eiger4M]

`whole` is `integrate1d` or `integrate2d` of an image that lies in numpy's memory, errors by `poisson`; `sums` is what
replaces the kernel `csr_integrate4`, from the corrected pixels on the device to the bins on the device. Both are the best
of the rounds, in milliseconds.
"""

import argparse
import logging
import time

import numpy
import pyFAI.opencl.azim_csr
import sparrow_pyfai
from pyFAI.detectors import detector_factory
from pyFAI.integrator.azimuthal import AzimuthalIntegrator

KERNEL = "csr_integrate4"


def integrator(detector):
    made = detector_factory(detector)
    rows, cols = made.shape
    centre = {"poni1": rows * made.pixel1 / 2, "poni2": cols * made.pixel2 / 2}
    return AzimuthalIntegrator(dist=0.1, **centre, detector=made, wavelength=1e-10)


class Timed:
    """A kernel that is waited for, and how long that took."""

    def __init__(self, kernel):
        self.kernel, self.seconds = kernel, []

    def __call__(self, queue, *arguments):
        queue.finish()
        began = time.perf_counter()
        event = self.kernel(queue, *arguments)
        queue.finish()
        self.seconds.append(time.perf_counter() - began)
        return event


def integration(detector, image, dim, split, install):
    """A function that integrates; its sums, timed; the seconds of the first integration; and the engine."""
    class_ = pyFAI.opencl.azim_csr.OCL_CSR_Integrator
    original = class_.__init__
    install()
    try:
        ai = integrator(detector)
        named = {"unit": "2th_deg", "method": (split, "csr", "opencl"), "error_model": "poisson"}
        if dim == 1:
            run = lambda: ai.integrate1d(image, 1000, **named)  # noqa: E731
        else:
            run = lambda: ai.integrate2d(image, 500, 360, **named)  # noqa: E731
        began = time.perf_counter()
        run()
        first = time.perf_counter() - began
    finally:
        class_.__init__ = original
    (engine,) = (e.engine for e in ai.engines.values() if isinstance(e.engine, class_))
    names = [KERNEL, f"{KERNEL}_single"]
    timed = {name: Timed(getattr(engine.kernels, name)) for name in names}
    for name, kernel in timed.items():
        setattr(engine.kernels, name, kernel)
    return run, lambda: [s for kernel in timed.values() for s in kernel.seconds], first, engine


WAYS = {
    "pyFAI": lambda: None,
    "Sparrow": sparrow_pyfai.install,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--detectors", default="Pilatus1M,Eiger4M")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    for detector in arguments.detectors.split(","):
        ai = integrator(detector)
        mean = 1000 * numpy.exp(-ai.center_array(unit="2th_deg") / 20)
        image = numpy.random.default_rng(52).poisson(mean).astype(numpy.int32)
        for dim, split in ((1, "no"), (1, "bbox"), (2, "no"), (2, "bbox")):
            made = {
                way: integration(detector, image, dim, split, install)
                for way, install in WAYS.items()
            }
            whole = {way: [] for way in made}
            for _ in range(arguments.rounds):
                for way, (run, *_rest) in made.items():
                    began = time.perf_counter()
                    run()
                    whole[way].append(time.perf_counter() - began)
            engine = made["pyFAI"][3]
            device = engine.ctx.devices[0]
            print(f"{detector} {dim}-d, {split} split: {engine.bins} bins, {engine.data_size} nonzeros, {device.platform.name}")
            for way, (_, sums, first, _) in made.items():
                print(
                    f"  {way:8} whole {1e3 * min(whole[way]):8.1f}  sums {1e3 * min(sums()):8.1f}"
                    f"  first {first:5.2f} s",
                    flush=True,
                )


if __name__ == "__main__":
    main()

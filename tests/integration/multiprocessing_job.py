"""multiprocessing_job.py METHOD: a pool of four workers, started by fork, spawn or forkserver, each task in an NVTX range.
Prints the sum of the results. The pool ends as most do, by terminate().
"""

import multiprocessing
import sys
import threading

import nvtx

N_TASKS = 100


def square(i):
    with nvtx.annotate(f"task {i}", domain="workers"):
        return i * i


def emit(n_ranges):
    for i in range(n_ranges):
        with nvtx.annotate(f"range {i}", domain="threads"):
            pass


if __name__ == "__main__":
    threads = [threading.Thread(target=emit, args=(50,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    with nvtx.annotate("pool", domain="parent"), multiprocessing.get_context(sys.argv[1]).Pool(4) as pool:
        print(sum(pool.map(square, range(N_TASKS), chunksize=5)))
    for thread in threads:
        thread.join()

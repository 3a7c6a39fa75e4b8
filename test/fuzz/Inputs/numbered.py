"""What fuzzers share whose kernels have numbers: their command line, and the walk over the numbers asked for."""
import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor


def arguments(text_of):
    """-show N prints the text of one, and ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("tkc")
    parser.add_argument("device")
    parser.add_argument("-first", type=int, default=1)
    parser.add_argument("-n", type=int, default=20)
    parser.add_argument("-seconds", type=float)
    parser.add_argument("-seed", type=int, default=0)
    parser.add_argument("-jobs", type=int, default=2)
    parser.add_argument("-show", type=int)
    args = parser.parse_args()
    if args.show is not None:
        print(text_of(args.show))
        sys.exit()
    return args


def results(args, judge):
    """Each number and what judge gives for it, several at once: from -first on, -n of them at least, or for -seconds."""
    number, end = args.first, time.time() + args.seconds if args.seconds else None
    with ThreadPoolExecutor(args.jobs) as pool:
        while time.time() < end if end else number < args.first + args.n:
            batch = range(number, number + 2 * args.jobs)
            yield from zip(batch, pool.map(judge, batch))
            number = batch.stop

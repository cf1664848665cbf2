"""Does the jobs of a dataset in this process, or in several at once."""

import concurrent.futures
import functools
import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures.process import BrokenProcessPool

from electra_tf.data.shard_jobs import ShardJob, ShardResult, ShardSettings
from electra_tf.errors import WorkError
from electra_tf.runtime.tensorflow_start import import_tensorflow

_POLL_SECONDS = 0.5


def run_jobs(
    jobs: Sequence[ShardJob],
    settings: ShardSettings,
    *,
    num_workers: int,
    on_progress: Callable[[int], None],
) -> list[ShardResult]:
    """Builds shards.

    Args:
        jobs: one for each shard.
        settings: of all of them.
        num_workers: int; with 1 no process is started.
        on_progress: called with the bytes of corpus read so far.

    Returns:
        The results in the order of `jobs`.

    Raises:
        DataError: the corpus cannot be read.
        OSError: a file cannot be written.
        WorkError: a worker died.
    """
    if num_workers > 1:
        return _run_in_pool(jobs, settings, num_workers, on_progress)
    # A dataset that is there already does not need it.
    import_tensorflow()
    from electra_tf.data.shard_building import ShardBuilder

    done = 0

    def on_bytes(count):
        nonlocal done
        done += count
        on_progress(done)

    builder = ShardBuilder(settings, on_bytes)
    return [builder.build(job) for job in jobs]


def _run_in_pool(jobs, settings, num_workers, on_progress):
    # TensorFlow's threads do not survive a fork.
    context = multiprocessing.get_context("spawn")
    counter = context.Value("q", 0)
    pool = concurrent.futures.ProcessPoolExecutor(
        num_workers, context, _start_worker, (settings, counter)
    )
    try:
        futures = [pool.submit(_build, job) for job in jobs]
        waiting = set(futures)
        while waiting:
            finished, waiting = concurrent.futures.wait(
                waiting, _POLL_SECONDS, concurrent.futures.FIRST_COMPLETED
            )
            on_progress(counter.value)
            for future in finished:
                future.result()  # raises what went wrong, without waiting for the rest
        return [future.result() for future in futures]
    except BrokenProcessPool as error:
        raise WorkError(
            "a worker process was killed or could not start (out of memory?); no dataset "
            "was made. Try again with a lower --num_workers"
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


# Of a worker process: made by `_start_worker`, used by `_build`.
_builders = []


def _start_worker(settings, counter):
    tf = import_tensorflow()
    from electra_tf.data.shard_building import ShardBuilder

    # One core each; TensorFlow would otherwise start threads for all of them.
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    _builders.append(ShardBuilder(settings, functools.partial(_add, counter)))


def _build(job):
    return _builders[0].build(job)


def _add(counter, count):
    with counter.get_lock():
        counter.value += count

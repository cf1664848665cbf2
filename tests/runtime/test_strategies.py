import pytest

from electra_tf.errors import ConfigError, UserError
from electra_tf.runtime.precision import dtype_policy
from electra_tf.runtime.strategies import check_batch_size, make_devices


def test_batches_must_divide_among_replicas():
    check_batch_size(64, 8)
    with pytest.raises(ConfigError, match=r"66 .* 8 replicas; use 64 or 72"):
        check_batch_size(66, 8)
    with pytest.raises(ConfigError, match="use 4 or 4"):
        check_batch_size(3, 4)


def test_auto_takes_what_there_is(caplog):
    devices = make_devices("auto")
    assert devices.num_replicas == 1
    assert not devices.jit_compile
    assert devices.max_steps_per_call == 1


@pytest.mark.parametrize("name", ["gpu", "mirrored"])
def test_a_missing_gpu_is_refused(name):  # G04
    with pytest.raises(UserError, match="sees no GPU"):
        make_devices(name)


def test_unknown_names_are_refused():
    with pytest.raises(ConfigError, match="should be one of auto"):
        make_devices("cuda")
    with pytest.raises(ConfigError, match="should be one of float32"):
        dtype_policy("fp16")
    with pytest.raises(ConfigError, match="does not go with"):
        make_devices("tpu", logical_cpus=2)

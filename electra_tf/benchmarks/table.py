"""The result of a benchmark for people."""

from rich.console import Console
from rich.table import Table


def print_result(result: dict, console: Console | None = None) -> None:
    """Prints ours, each peer with the ratio to it, and the machine's limit.

    Args:
        result: what a benchmark returned.
        console: where to print; standard output by default.
    """
    console = console or Console(soft_wrap=True, highlight=False)
    table = Table(title=_title(result), title_justify="left", box=None)
    for heading in ("", "seconds", "spread", "tokens/s", "ours is"):
        table.add_column(heading, justify="left" if not heading else "right")
    ours = result.get("step") or result["build"]
    table.add_row(
        "electra_tf", *_times(ours), f"{result['tokens_per_second']:,.0f}", ""
    )
    for name, peer in result["peers"].items():
        if "missing" in peer:
            table.add_row(name, f"not measured ({peer['missing']})")
            continue
        rate = peer.get("tokens_per_second")
        table.add_row(
            name,
            *_times(peer),
            f"{rate:,.0f}" if rate else "",
            f"{result['ratios'][name]:.1f} x as fast",
        )
    console.print(table)
    if "matmul_utilization" in result:
        console.print(
            f"model: {result['model_flops'] / 1e9:,.1f} GFLOP a step, "
            f"{result['model_flops_per_second'] / 1e9:,.1f} GFLOP/s; matrix products "
            f"alone: {result['matmul_flops_per_second'] / 1e9:,.1f} GFLOP/s; "
            f"utilization {result['matmul_utilization']:.0%}"
        )
        first = result["first_step"]
        console.print(
            f"before the second step: {first['build']:.1f} s building the model, "
            f"{first['trace']:.1f} s tracing, {first['first_run']:.1f} s first run"
        )


def _title(result: dict) -> str:
    machine = result["machine"]
    parts = [result["benchmark"], f"{machine['processor']}, {machine['cores']} cores"]
    if "batch_size" in result:
        parts.append(
            f"{result['config']}, {result['batch_size']} x {result['max_length']}, "
            f"{result['precision']}"
        )
    return "; ".join(parts)


def _times(timing: dict) -> tuple[str, str]:
    spread = f"{timing['fastest']:.2f}-{timing['slowest']:.2f}"
    return f"{timing['seconds']:.2f}", spread

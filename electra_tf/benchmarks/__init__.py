"""Speeds, always as ratios: ours, a peer's and the machine's limit in one run."""

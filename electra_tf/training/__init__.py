"""A pre-training run: its data, loop, checkpoints, alarms and reports."""

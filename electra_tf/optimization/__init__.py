"""Adam as BERT has it, schedules and layer-wise rates."""

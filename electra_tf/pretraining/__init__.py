"""The pre-training task: masking, sampling, losses, objectives and the train step."""

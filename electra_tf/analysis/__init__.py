"""Looking at trained models: what a masked language model fills in."""

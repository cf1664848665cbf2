"""From text to shuffled batches: corpus, examples, records, manifest, pipeline."""

"""BERT's tokenization, exact, in the TensorFlow graph and in plain Python.

`pretokenization`, `special_tokens` and `wordpiece` need TensorFlow, `tokenizer` KerasHub
too; all other modules import neither.
"""

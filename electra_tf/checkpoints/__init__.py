"""Weights of others: the official TF1, Hugging Face's and KerasHub's, read and written.

Names and layouts of other programs never leave this package. Everything is read into a
`Model`: our names, our layout, each tensor when it is needed.
"""

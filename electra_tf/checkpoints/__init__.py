"""Weights of others: reading and writing the official TF1, Hugging Face's and KerasHub's.

Names and layouts of other programs never leave this package. Everything is read into a
`Model`: our names, our layout, tensor by tensor when it is needed.
"""

"""Packaging of electra_tf; the presets of `configs/` travel inside the wheel."""

import pathlib

import setuptools

ROOT = pathlib.Path(__file__).parent
TENSORFLOW = ">=2.21,<2.22"

setuptools.setup(
    name="electra_tf",
    version="0.1.0",
    description="ELECTRA for TensorFlow and Keras: pre-training, fine-tuning, serving",
    long_description=(ROOT / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    license_files=["LICENSE"],
    python_requires=">=3.11",
    packages=[
        *setuptools.find_packages(include=["electra_tf", "electra_tf.*"]),
        "electra_tf.configs",
    ],
    # The top-level folder is what people edit and read; in an installed wheel it is
    # found beside the modules that load it.
    package_dir={"electra_tf.configs": "configs"},
    package_data={
        "electra_tf.configs": ["*/*.yaml"],
        "electra_tf.training": ["report.html.jinja"],
    },
    install_requires=[
        "absl-py>=2.1",
        # Versions of the environment, in `doctor`.
        "packaging>=23",
        # The package that keras-nlp became; keras-nlp itself only re-exports it.
        "keras-nlp>=0.26",
        "keras-hub>=0.26",
        "keras>=3.13,<4",
        "numpy>=1.26",
        "pydantic>=2.7,<3",
        "pyyaml>=6.0",
        f"tensorflow{TENSORFLOW}",
        "tensorflow-datasets>=4.9.9",
        # tensorflow-datasets imports it without requiring it.
        "importlib_resources>=6",
        "tensorflow-serving-api>=2.19",
        # 2.21.0 cannot be imported beside TensorFlow 2.21.
        "tensorflow-text>=2.21.1,<2.22",
        # Weights of Hugging Face's; the dtypes of older files of theirs.
        "safetensors>=0.4.3",
        "ml_dtypes>=0.4",
        # Learns WordPiece vocabularies.
        "tokenizers>=0.20",
        # Checksums of record files, in C.
        "google-crc32c>=1.5",
        # Progress lines and coloured summaries.
        "rich>=13.7",
        "tensorboard>=2.19",
        # Curves of report.html.
        "matplotlib>=3.8",
        "jinja2>=3.1",
        # Rank statistics of the held-out measures.
        "scikit-learn>=1.4",
    ],
    extras_require={
        "test": ["pytest>=8", "hypothesis>=6.100", "ruff>=0.12", "import-linter>=2.1"],
        "dev": ["pytest>=8", "hypothesis>=6.100", "ruff>=0.12", "import-linter>=2.1"],
        "beam": ["apache-beam>=2.60"],
        "bench": ["torch>=2.4", "transformers>=5"],
    },
)

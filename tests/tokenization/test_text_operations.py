import sys

import pytest

from electra_tf.errors import UserError
from electra_tf.modeling.backbone import ElectraBackbone
from electra_tf.tokenization.text_operations import text_operations
from electra_tf.tokenization.vocabulary import SPECIAL_TOKENS, Vocabulary
from electra_tf.tokenization.wordpiece import WordPieceTokenizer
from tests.micro import batch_of


def test_what_needs_no_tokenizer_works_without_tensorflow_text(monkeypatch):  # G01
    monkeypatch.setitem(sys.modules, "tensorflow_text", None)
    with pytest.raises(UserError, match=r"electra_tf\.doctor"):
        text_operations()
    with pytest.raises(UserError, match="tensorflow-text"):
        WordPieceTokenizer(Vocabulary(SPECIAL_TOKENS))
    backbone = ElectraBackbone(
        vocabulary_size=50, num_layers=1, num_heads=1, hidden_dim=4, intermediate_dim=4
    )
    assert backbone(batch_of([5])).shape == (1, 16, 4)

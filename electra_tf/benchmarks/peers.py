"""The same work as others do it: Hugging Face's modules and tokenizer."""

import importlib.util
import pathlib
from collections.abc import Callable, Mapping

import numpy as np

from electra_tf.config import PretrainConfig
from electra_tf.modeling.encoder import EncoderSize
from electra_tf.pretraining.masking import SpecialTokens
from electra_tf.pretraining.pretrainer import discriminator_size, generator_size
from electra_tf.tokenization.vocabulary import Vocabulary


def missing_packages(names: tuple[str, ...]) -> list[str]:
    """Those of `names` that cannot be imported."""
    return [name for name in names if importlib.util.find_spec(name) is None]


def hugging_face_step(
    config: PretrainConfig, special: SpecialTokens, batch: Mapping[str, np.ndarray]
) -> Callable[[], object]:
    """A function that makes one update in PyTorch's eager mode.

    Generator and discriminator are `ElectraForMaskedLM` and `ElectraForPreTraining` with
    shared embeddings, dropout on, AdamW and a clipped norm. The generator scores the
    vocabulary at every position, which is what its module does.

    Args:
        config: `PretrainConfig`.
        special: `SpecialTokens`.
        batch: `token_ids`, `segment_ids`, `padding_mask`, int32 `[B, T]`.
    """
    import torch
    import transformers

    transformers.logging.set_verbosity_error()
    discriminator = transformers.ElectraForPreTraining(
        _hugging_face_config(discriminator_size(config))
    )
    generator = transformers.ElectraForMaskedLM(
        _hugging_face_config(generator_size(config))
    )
    generator.electra.embeddings = discriminator.electra.embeddings
    generator.tie_weights()
    both = torch.nn.ModuleList([discriminator, generator]).train()
    optimizer = torch.optim.AdamW(both.parameters(), lr=config.training.learning_rate)
    token_ids, segment_ids, padding_mask = (
        torch.from_numpy(batch[name]).long()
        for name in ("token_ids", "segment_ids", "padding_mask")
    )
    ordinary = padding_mask.bool()
    for excluded in vars(special).values():
        ordinary &= token_ids != excluded
    inputs = {"token_type_ids": segment_ids, "attention_mask": padding_mask}
    rate, weight = config.objective.mask_rate, config.objective.discriminator_weight

    def step():
        selected = ordinary & (torch.rand(token_ids.shape) < rate)
        hidden = selected & (torch.rand(token_ids.shape) < 0.85)
        predicted = generator(
            input_ids=token_ids.masked_fill(hidden, special.mask_id),
            labels=token_ids.masked_fill(~selected, -100),
            **inputs,
        )
        with torch.no_grad():
            logits = predicted.logits[selected]
            noise = -torch.log(-torch.log(torch.rand(logits.shape) + 1e-9) + 1e-9)
            corrupted = token_ids.clone()
            corrupted[selected] = (logits + noise).argmax(-1)
        detected = discriminator(
            input_ids=corrupted, labels=(corrupted != token_ids).long(), **inputs
        )
        loss = predicted.loss + weight * detected.loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(both.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        return loss.item()

    return step


def _hugging_face_config(size: EncoderSize):
    from transformers import ElectraConfig

    return ElectraConfig(
        vocab_size=size.vocabulary_size,
        embedding_size=size.embedding_dim,
        hidden_size=size.hidden_dim,
        num_hidden_layers=size.num_layers,
        num_attention_heads=size.num_heads,
        intermediate_size=size.intermediate_dim,
        max_position_embeddings=size.max_sequence_length,
        type_vocab_size=size.num_segments,
        hidden_dropout_prob=size.dropout,
        attention_probs_dropout_prob=size.attention_dropout,
    )


def python_bert_tokenizer(
    vocabulary: Vocabulary, path: pathlib.Path
) -> Callable[[str], list[int]]:
    """BERT's uncased tokenizer as transformers keeps it in plain Python.

    Args:
        vocabulary: `Vocabulary`.
        path: file to put the vocabulary in for it.

    Returns:
        A function from text to ids, without special tokens.
    """
    from transformers.models.bert.tokenization_bert_legacy import BertTokenizerLegacy

    vocabulary.save(path)
    tokenizer = BertTokenizerLegacy(str(path), do_lower_case=True)
    return lambda text: tokenizer.convert_tokens_to_ids(tokenizer.tokenize(text))

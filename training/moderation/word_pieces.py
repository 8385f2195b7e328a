"""Linear model of a text's word pieces and pairs of adjacent ones, for slang and slurs that the encoder blurs. Its log odds are averaged with the network's."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse
from sklearn.linear_model import LogisticRegression

import encoder
from calibrate import to_logit
from deobfuscate import deobfuscate
from hidden_states import LONGEST
from labels import LEARNT, Example

CATEGORY = "hate"
VOCABULARY = 30_522
# Pairs are hashed into the rest, by FACTOR * first + second. In 8 bits, the table keeps the exported graph below a megabyte.
SIZE, FACTOR = 49_152, 31
# Weight of these log odds; the network has the rest.
SHARE = 0.375
# Inverse strength of the regularization.
STRENGTH = 16.0


@dataclass(frozen=True)
class WordPieces:
    weights: np.ndarray  # [SIZE], 8 bits
    scale: float
    bias: float

    def combine(self, scored: np.ndarray, texts: list[str], model: Path) -> np.ndarray:
        """Scores of the network and of this model, combined in its category."""
        column = LEARNT.index(CATEGORY)
        own = features(texts, model) @ (self.weights.astype(np.float32) * self.scale) + self.bias
        combined = scored.copy()
        combined[:, column] = 1 / (1 + np.exp(-((1 - SHARE) * to_logit(scored[:, column]) + SHARE * own)))
        return combined


def learn_word_pieces(examples: list[Example], shares: np.ndarray, model: Path) -> WordPieces:
    """`shares` weigh the examples. Labels between 0 and 1 count for both sides."""
    rows = [i for i, e in enumerate(examples) if CATEGORY in e.known]
    label, share = np.array([examples[i].known[CATEGORY] for i in rows]), shares[rows]
    found = features([examples[i].text for i in rows], model)
    weight = np.concatenate([label * share, (1 - label) * share])
    counted = weight > 0
    fitted = LogisticRegression(C=STRENGTH, max_iter=200).fit(
        scipy.sparse.vstack([found, found])[counted], np.repeat([1, 0], len(rows))[counted], sample_weight=weight[counted])
    scale = float(np.abs(fitted.coef_).max() / 127)
    return WordPieces(np.round(fitted.coef_[0] / scale).astype(np.int8), scale, float(fitted.intercept_[0]))


def features(texts: list[str], model: Path) -> scipy.sparse.csr_matrix:
    """Counts of pieces and of hashed pairs, over the square root of the number of tokens."""
    columns, values, ends = [], [], [0]
    for encoded in encoder.load_tokenizer(model, LONGEST).encode_batch([deobfuscate(t) for t in texts]):
        ids = np.array(encoded.ids)
        found = np.concatenate([ids[1:-1], VOCABULARY + (FACTOR * ids[:-1] + ids[1:]) % (SIZE - VOCABULARY)])
        columns.append(found)
        values.append(np.full(len(found), len(ids) ** -0.5, np.float32))
        ends.append(ends[-1] + len(found))
    counts = scipy.sparse.csr_matrix((np.concatenate(values), np.concatenate(columns), ends), shape=(len(texts), SIZE))
    counts.sum_duplicates()
    return counts

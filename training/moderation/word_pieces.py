"""Linear model of a text's word pieces and pairs of adjacent ones, for slang that the encoder blurs. Part of its log odds is mixed with the network's. It is not trained here."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import encoder
from calibrate import to_logit
from deobfuscate import deobfuscate
from hidden_states import LONGEST
from labels import LEARNT

CATEGORY = "hate"
COLUMN = LEARNT.index(CATEGORY)
VOCABULARY = 30_522
# Pairs are hashed into the rest, by FACTOR * first + second.
SIZE, FACTOR = 49_152, 31
# Weight of these log odds; the network has the rest. Chosen among seven on the validation part.
SHARE = 0.2


@dataclass(frozen=True)
class WordPieces:
    weights: np.ndarray  # [SIZE], 8 bits
    scale: float
    bias: float

    @staticmethod
    def load(path: Path = Path(__file__).parent / "word-pieces.npz") -> "WordPieces":
        stored = np.load(path)
        return WordPieces(stored["weights"], float(stored["scale"]), float(stored["bias"]))

    def log_odds(self, ids: list[int]) -> float:
        tokens = np.array(ids)
        pairs = VOCABULARY + (FACTOR * tokens[:-1] + tokens[1:]) % (SIZE - VOCABULARY)
        return (self.weights[tokens].sum() + self.weights[pairs].sum()) / np.sqrt(len(tokens)) * self.scale + self.bias

    def combine(self, scored: np.ndarray, texts: list[str], model: Path) -> np.ndarray:
        """Scores of the network and of this model, combined in its category."""
        encoded = encoder.load_tokenizer(model, LONGEST).encode_batch([deobfuscate(text) for text in texts])
        pieces = np.array([self.log_odds(e.ids) for e in encoded])
        combined = scored.copy()
        combined[:, COLUMN] = 1 / (1 + np.exp(-((1 - SHARE) * to_logit(scored[:, COLUMN]) + SHARE * pieces)))
        return combined

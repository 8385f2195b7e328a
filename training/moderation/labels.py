"""Categories, and examples with their known labels."""

from dataclasses import dataclass

CATEGORIES = [
    "harassment", "harassment/threatening", "hate", "hate/threatening", "illicit", "illicit/violent", "self-harm",
    "self-harm/instructions", "self-harm/intent", "sexual", "sexual/minors", "violence", "violence/graphic",
]
# sexual/minors is not trained: when serving, it is derived from the sexual score and cues of age.
LEARNT = [name for name in CATEGORIES if name != "sexual/minors"]


@dataclass(frozen=True)
class Example:
    text: str
    # Category to 1, 0, or a share between; a missing category is unknown and does not count in training.
    known: dict[str, float]
    source: str
    # Measures only false positives: benign text that looks harmful.
    look_alike: bool = False
    # Label of the source, if a second reading disagreed with it.
    given: dict[str, float] | None = None


def labelled(yes: list[str], unknown: list[str] = ()) -> dict[str, float]:
    """Labels categories that are neither in `yes` nor in `unknown` as 0."""
    return {name: 1.0 if name in yes else 0.0 for name in LEARNT if name in yes or name not in unknown}

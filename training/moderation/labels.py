"""The categories, and an example with what is known about it."""

from dataclasses import dataclass

CATEGORIES = [
    "harassment", "harassment/threatening", "hate", "hate/threatening", "illicit", "illicit/violent", "self-harm",
    "self-harm/instructions", "self-harm/intent", "sexual", "sexual/minors", "violence", "violence/graphic",
]
# sexual/minors is not learnt: it is derived from the sexual score and cues of age when serving.
LEARNT = [name for name in CATEGORIES if name != "sexual/minors"]


@dataclass(frozen=True)
class Example:
    text: str
    # Category to 1, 0, or a share between; a category that is absent is unknown and teaches nothing.
    known: dict[str, float]
    source: str
    # Only counted for false positives: benign text that looks harmful.
    look_alike: bool = False
    # What the source itself says, where reading again came to another view.
    given: dict[str, float] | None = None


def labelled(yes: list[str], unknown: list[str] = ()) -> dict[str, float]:
    """Everything that is neither in `yes` nor `unknown` is known to be absent."""
    return {name: 1.0 if name in yes else 0.0 for name in LEARNT if name in yes or name not in unknown}

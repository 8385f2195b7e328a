/**
 * Compares the recognizers with Presidio's on the same texts: precision and recall by entity, and false alarms on hard
 * negatives. Usage: node bench/text-privacy/compare.ts FILE, which `generate.py` wrote. `--misses`: lists what differs.
 */

import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { personalDataFinder } from "@parlance-inference/text-privacy/personal-data/find-personal-data";

interface Span {
  type: string;
  start: number;
  end: number;
  score?: number;
}

interface Sample {
  text: string;
  spans: Span[];
  presidio: Span[];
  isNegative?: boolean;
}

/** Structured entities that both find, by the generator's names. */
const STRUCTURED = [
  "EMAIL_ADDRESS",
  "PHONE_NUMBER",
  "CREDIT_CARD",
  "IBAN_CODE",
  "US_SSN",
  "IP_ADDRESS",
  "US_DRIVER_LICENSE",
];
/** All structured entities of Presidio, which count as false alarms on hard negatives. */
const NAMES: ReadonlySet<string> = new Set(["PERSON", "NRP", "DATE_TIME", "LOCATION", "ORGANIZATION", "URL"]);

const [file = "", flag] = process.argv.slice(2);
const samples = readFileSync(file, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Sample);
const find = personalDataFinder();
for (const { text } of samples) find(text);
const beganAt = performance.now();
const matches = samples.map(({ text }) => find(text) as Span[]);
const milliseconds = performance.now() - beganAt;

function overlaps(one: Span, other: Span): boolean {
  return one.start < other.end && other.start < one.end;
}

function score(name: string, predict: (sample: Sample, index: number) => readonly Span[]): void {
  let [found, expected, right, predicted] = [0, 0, 0, 0];
  const byType = new Map<string, [found: number, expected: number]>();
  for (const [index, sample] of samples.entries()) {
    if (sample.isNegative) continue;
    const spans = sample.spans.filter(({ type }) => STRUCTURED.includes(type));
    const predictions = predict(sample, index).filter(({ type }) => STRUCTURED.includes(type));
    for (const span of spans) {
      const isFound = predictions.some((each) => overlaps(each, span));
      const counts = byType.get(span.type) ?? [0, 0];
      byType.set(span.type, [counts[0] + Number(isFound), counts[1] + 1]);
      expected += 1;
      found += Number(isFound);
      if (!isFound && flag === "--misses") console.log(name, "missed", span.type, JSON.stringify(sample.text));
    }
    for (const each of predictions) {
      const isRight = spans.some((span) => overlaps(span, each));
      predicted += 1;
      right += Number(isRight);
      if (!isRight && flag === "--misses")
        console.log(name, "wrong", each.type, sample.text.slice(each.start, each.end), JSON.stringify(sample.text));
    }
  }
  const percent = (part: number, all: number) => `${((100 * part) / Math.max(1, all)).toFixed(1)} %`;
  console.log(`${name}: recall ${percent(found, expected)} of ${expected}, precision ${percent(right, predicted)}`);
  for (const [type, [hits, all]] of [...byType].sort()) console.log(`  ${type}: ${percent(hits, all)} of ${all}`);
  const negatives = samples.flatMap((sample, index) =>
    sample.isNegative ? [predict(sample, index).filter(({ type }) => !NAMES.has(type))] : [],
  );
  const alarms = negatives.filter((each) => each.length > 0);
  console.log(`  hard negatives: ${alarms.length} of ${negatives.length} texts with a false alarm`);
  const types = new Map<string, number>();
  for (const { type } of alarms.flat()) types.set(type, (types.get(type) ?? 0) + 1);
  console.log(`  ${JSON.stringify(Object.fromEntries(types))}`);
}

score("text-privacy", (_, index) => matches[index] ?? []);
for (const threshold of [0, 0.4, 0.6]) {
  score(`Presidio from ${threshold}`, ({ presidio }) => presidio.filter((each) => (each.score ?? 0) >= threshold));
}
console.log(`${(milliseconds / samples.length).toFixed(3)} ms for a text`);

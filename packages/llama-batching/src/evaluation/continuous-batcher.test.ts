import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

test("a context that is lost between two batches ends the process, as one that is lost before a batch does", async () => {
  const script = `
    import { ContinuousBatcher } from ${JSON.stringify(new URL("./continuous-batcher.ts", import.meta.url).href)};
    const batcher = new ContinuousBatcher({ batchSize: 1, pace: {}, threads: {}, decoder: {}, context: {} });
    batcher.betweenBatches(() => Promise.reject(new Error("lost"))).catch(() => {});
    setTimeout(() => process.exit(0), 10_000);
  `;
  const ended = promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script]);
  await expect(ended).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining("Error: lost") });
});

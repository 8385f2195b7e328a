import { getPriority } from "node:os";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";

test.runIf(process.platform === "linux")(
  "lowers the priority of a worker thread, not that of the process",
  async () => {
    const before = getPriority(process.pid);
    const module = new URL("./lower-priority.ts", import.meta.url).href;
    const code = `
    import { getPriority } from "node:os";
    import { parentPort } from "node:worker_threads";
    import { lowerPriority } from "${module}";
    lowerPriority();
    parentPort.postMessage(getPriority(0));
  `;
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`));
    const lowered = await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
    expect(lowered).toBe(Math.min(19, before + 5));
    expect(getPriority(process.pid)).toBe(before);
  },
);

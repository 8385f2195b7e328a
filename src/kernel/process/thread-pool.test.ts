import { expect, test } from "vitest";
import { runWithoutDescriptors } from "../../../test/support/service/without-descriptors.ts";

test.runIf(process.platform === "linux")("refuses a task without file descriptors, and runs the next one", async () => {
  const outcome = await runWithoutDescriptors(`
    const { ThreadPool } = await import("${new URL("./thread-pool.ts", import.meta.url).href}");
    const entry = new URL("${new URL("../json/json-worker.ts", import.meta.url).href}");
    const write = (pool, value) => pool.run({ type: "write", value }, { project: "" });
    // Loads what a first task loads.
    await write(new ThreadPool(entry), "");
    const pool = new ThreadPool(entry);
    const release = exhaust();
    const failures = await Promise.all(["a", "b", "c"].map((value) => failureOf(() => write(pool, value))));
    release();
    report({ failures, next: new TextDecoder().decode(await write(pool, "d")) });
  `);
  const failure = { name: "Fault", code: "server_is_overloaded" };
  expect(outcome).toEqual({ failures: [failure, failure, failure], next: '"d"' });
});

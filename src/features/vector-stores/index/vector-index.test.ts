import { expect, test } from "vitest";
import { runWithoutDescriptors } from "../../../../test/support/service/without-descriptors.ts";

test.runIf(process.platform === "linux")("refuses a search without file descriptors for its thread", async () => {
  const outcome = await runWithoutDescriptors(`
    const { VectorIndex } = await import("${new URL("./vector-index.ts", import.meta.url).href}");
    let losses = 0;
    const index = new VectorIndex(() => { losses += 1; });
    const release = exhaust();
    const failure = await failureOf(() => index.search("store", {}));
    release();
    report({ failure, losses });
  `);
  expect(outcome).toEqual({ failure: { name: "Fault", code: "server_is_overloaded" }, losses: 1 });
});

import { expect, test } from "vitest";
import { scanInput } from "./scan-input.ts";

const LIMITS = { maxLines: 10, maxLineBytes: 1000 };

test("stops a scan at the next chunk once it is aborted", async () => {
  const controller = new AbortController();
  let chunks = 0;
  async function* endless() {
    for (;;) {
      chunks += 1;
      if (chunks === 3) controller.abort(new Error("cancelled"));
      // A line that never ends.
      yield Buffer.alloc(1000, "x");
    }
  }
  await expect(scanInput(endless(), "/v1/embeddings", LIMITS, controller.signal)).rejects.toThrow("cancelled");
  expect(chunks).toBe(3);
});

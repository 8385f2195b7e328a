import { expect, test } from "vitest";
import { onAbort } from "./on-disconnect.ts";

test("calls back when the signal aborts, and at once if it has aborted before", () => {
  const calls: string[] = [];
  const { signal, abort } = withAbort();
  onAbort(signal)(() => calls.push("first"));
  expect(calls).toEqual([]);
  abort();
  onAbort(signal)(() => calls.push("second"));

  expect(calls).toEqual(["first", "second"]);
});

function withAbort() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

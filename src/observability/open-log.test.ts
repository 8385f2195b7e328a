import { expect, test } from "vitest";
import { openLog } from "./open-log.ts";

test("listens once for the process's exit, however many logs are opened", () => {
  openLog("silent");
  const listeners = process.listenerCount("exit");
  for (let log = 0; log < 20; log += 1) openLog("silent");
  expect(process.listenerCount("exit")).toBe(listeners);
});

import { join } from "node:path";
import { expect, test } from "vitest";
import { recordedStates } from "../../test/support/unchanged/passed-states.ts";
import { nativeSuites } from "./native-suites.ts";

const ROOT = join(import.meta.dirname, "../..");

test("the recorded states are those of suites that exist", () => {
  const suites = new Set(nativeSuites(ROOT));
  expect(suites.size).toBeGreaterThan(20);
  expect(Object.keys(recordedStates()).filter((file) => !suites.has(file))).toEqual([]);
});

import { expect, test } from "vitest";
import { failedTests } from "./failed-tests.ts";

const file = (name: string, status: string, ...tests: [fullName: string, status: string][]) => ({
  ...{ name, status },
  assertionResults: tests.map(([fullName, state]) => ({ fullName, status: state })),
});
const report = (...testResults: ReturnType<typeof file>[]) => JSON.stringify({ testResults });

test.each([
  [report(file("a.test.ts", "passed", ["one", "passed"])), false, []],
  [report(file("a.test.ts", "failed", ["one", "failed"], ["two", "passed"])), true, ["a.test.ts > one"]],
  [report(file("a.test.ts", "failed")), true, ["a.test.ts"]],
  [report(file("a.test.ts", "passed")), true, ["the run failed outside its tests"]],
  ["", true, ["the run wrote no report"]],
])("reads %j", (json, hasFailed, failed) => {
  expect(failedTests(json, hasFailed)).toEqual(failed);
});

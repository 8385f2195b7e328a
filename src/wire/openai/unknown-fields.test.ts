import { expect, test } from "vitest";
import { firstHostedTool } from "../responses/responses-tools.ts";
import { firstRefusedField } from "./unknown-fields.ts";

/** What one request may take from others. */
const MAX_CPU_MS = 100;
const NAMES = Array.from({ length: 9000 }, (_, index) => `request_format_of_item_${index}`);
const TOOLS = Array.from({ length: 45_000 }, (_, index) => ({ type: `image_gen${index}` }));
const fieldNames = Array.from({ length: 60 }, (_, index) => `response_format_of_${"abc"[index % 3]}_${index}`);
const rules = { known: fieldNames, unsupported: {}, policy: "ignore" } as const;

test.each([
  ["fields", () => firstRefusedField(Object.fromEntries(NAMES.map((name) => [name, 1])), rules)],
  ["types of tools", () => firstHostedTool(TOOLS, "ignore")],
])("thousands of unknown %s are not all compared with the known ones", (_name, check) => {
  // A busy machine makes one run longer, what is computed all of them.
  const runs = Array.from({ length: 4 }, () => {
    const before = process.threadCpuUsage();
    expect(check()).toBeUndefined();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  });
  expect(Math.min(...runs)).toBeLessThan(MAX_CPU_MS);
});

test("a misspelled field is refused, and one without a known name beside it is not", () => {
  expect(firstRefusedField({ other: 1, temprature: 1 }, { ...rules, known: ["temperature"] })?.message).toContain(
    "Did you mean 'temperature'?",
  );
  expect(firstRefusedField({ other: 1 }, { ...rules, known: ["temperature"] })).toBeUndefined();
});

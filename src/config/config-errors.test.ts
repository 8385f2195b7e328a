import { expect, test } from "vitest";
import { ConfigErrors } from "./config-errors.ts";
import { parseFile } from "./parse-file.ts";

/** What one request may take from others. */
const MAX_CPU_MS = 150;
const COUNT = 20_000;

test("collects thousands of errors in time that grows with their number, each once", () => {
  // A busy machine makes one run longer, what is computed all of them.
  const runs = Array.from({ length: 4 }, () => {
    const errors = new ConfigErrors();
    const before = process.threadCpuUsage();
    for (let index = 0; index < COUNT; index += 1) {
      const path = ["models", index % (COUNT / 2)];
      if (!errors.has(path)) errors.add(path, "must be a mapping");
      errors.add(path, "must be a mapping");
    }
    const { user, system } = process.threadCpuUsage(before);
    expect(errors.below([])).toHaveLength(COUNT / 2);
    return (user + system) / 1000;
  });
  expect(Math.min(...runs)).toBeLessThan(MAX_CPU_MS);
});

test("knows paths, and messages at one path apart", () => {
  const errors = new ConfigErrors();
  errors.add(["models", 0], "a");
  errors.add(["models", 0], "b");
  errors.add(["models", 0], "a");
  expect(errors.below(["models"])).toEqual(["[0]: a", "[0]: b"]);
  expect([["models", 0], ["models"], ["models", "0"]].map((path) => errors.has(path))).toEqual([true, false, false]);
});

test("compares the first hundred unknown keys with the known ones", () => {
  const keys = Object.fromEntries(Array.from({ length: 9000 }, (_, index) => [`guardrail_${index}`, 1]));
  const runs = Array.from({ length: 4 }, () => {
    const errors = new ConfigErrors();
    const before = process.threadCpuUsage();
    parseFile({ modles: [], ...keys }, {}, errors);
    const { user, system } = process.threadCpuUsage(before);
    const messages = errors.below([]);
    expect(messages).toHaveLength(9001);
    expect(messages[0]).toBe("modles: is not a known key; did you mean models?");
    expect(messages.at(-1)).toBe("guardrail_8999: is not a known key");
    return (user + system) / 1000;
  });
  expect(Math.min(...runs)).toBeLessThan(MAX_CPU_MS);
});

import { expect, test } from "vitest";
import { LATE, outputOf } from "./machine.ts";

test("tells a program that is missing from one that does not end in time", async () => {
  expect(await outputOf(process.execPath, ["-e", "console.log(1)"])).toBe("1");
  expect(await outputOf("parlance-no-such-program", [])).toBeUndefined();
  expect(await outputOf(process.execPath, ["-e", "setInterval(() => {}, 1000)"], 1)).toBe(LATE);
});

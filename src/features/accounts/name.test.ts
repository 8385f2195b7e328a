import { expect, test } from "vitest";
import { checkName } from "./name.ts";

test.each(["Team A", "Équipe 🦉🏳️‍🌈", "数学", "o'Brien; drop table projects --", "x".repeat(256)])(
  "takes %j",
  (name) => {
    expect(checkName(name)).toBe(name);
  },
);

test("trims surrounding spaces", () => {
  expect(checkName("  Team A ")).toBe("Team A");
});

test.each(["", "   ", "x".repeat(257), "x".repeat(10_000), "a\u0000b", "a\nb", "a\u001b[31mb", "half \ud83e"])(
  "refuses %j and names the field",
  (name) => {
    expect(() => checkName(name)).toThrow(expect.objectContaining({ kind: "invalid-request", param: "name" }));
  },
);

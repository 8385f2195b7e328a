import { expect, test } from "vitest";
import { findViolations } from "./check-imports.ts";
import { floorViolation, misplacedNeighbours, partOf } from "./floors.ts";

test("names the part of a path", () => {
  expect(partOf("features/quota/rate-limits.ts")).toBe("features/quota");
  expect(partOf("main.ts")).toBe("main");
});

test("lets a part import lower floors and the neighbours of the table, and nothing above", () => {
  expect(floorViolation("features/quota", "inference")).toBeUndefined();
  expect(floorViolation("features/quota", "features/accounts")).toBeUndefined();
  expect(floorViolation("features/accounts", "features/quota")).toContain("not below");
  expect(floorViolation("kernel", "storage")).toContain("not below");
  expect(floorViolation("features/unheard-of", "kernel")).toContain("stands on no floor");
});

test("refuses neighbours that could form a cycle", () => {
  expect(misplacedNeighbours()).toEqual([]);
  const floors = [{ name: "Any", parts: { a: ["b"], b: ["a"] } }];
  expect(misplacedNeighbours(floors)).toEqual(["b does not stand before a"]);
});

test("reports an import of a higher floor", () => {
  const imports = new Map([["src/storage/page.ts", ["../features/files/file-store.ts"]]]);
  expect(findViolations(imports)).toEqual([
    "src/storage/page.ts imports ../features/files/file-store.ts: features/files is not below storage in scripts/imports/floors.ts.",
  ]);
});

test("reports a feature that reaches past another one's index.ts", () => {
  const reach = (target: string) =>
    findViolations(new Map([["src/features/quota/rate-limits.ts", [`../accounts/${target}`]]]));
  expect(reach("index.ts")).toEqual([]);
  expect(reach("accounts.ts")).toEqual([
    "src/features/quota/rate-limits.ts imports ../accounts/accounts.ts: Features use others through their index.ts: export it from features/accounts/index.ts.",
  ]);
});

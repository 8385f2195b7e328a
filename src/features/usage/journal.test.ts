import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Journal } from "./journal.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "parlance-journal-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test("stays below its maximum while lines are consumed, even when never empty", () => {
  const path = join(directory, "lines");
  const journal = new Journal(path, 4_000);
  const passed: string[] = [];
  journal.append("line 0");
  for (let number = 1; number < 2_000; number += 1) {
    const { lines, bytes } = journal.read();
    // The next line arrives while those are being written.
    expect(journal.append(`line ${number}`)).toBe(true);
    passed.push(...lines);
    journal.advance(bytes);
  }
  expect(passed).toEqual(Array.from({ length: 1_999 }, (_, number) => `line ${number}`));
  expect(statSync(path).size).toBeLessThan(1_000);
  expect(readFileSync(path, "utf8").endsWith("line 1999\n")).toBe(true);
  journal.close();
  expect(readdirSync(directory)).toEqual(["lines"]);
});

test("recreates a removed file", () => {
  const path = join(directory, "lines");
  const journal = new Journal(path, 4_000);
  journal.append("one");
  journal.advance(journal.read().bytes);
  rmSync(path);
  journal.append("two");
  expect(readFileSync(path, "utf8")).toBe("two\n");
  rmSync(directory, { recursive: true });
  journal.append("three");
  expect(readFileSync(path, "utf8")).toBe("two\nthree\n");
  rmSync(path);
  journal.close();
  expect(readFileSync(path, "utf8")).toBe("two\nthree\n");
});

test("rejects lines beyond its maximum while none are consumed", () => {
  const journal = new Journal(join(directory, "lines"), 20);
  expect([journal.append("0123456789"), journal.append("0123456789")]).toEqual([true, false]);
  journal.advance(journal.read().bytes);
  expect(journal.append("0123456789")).toBe(true);
  journal.close();
});

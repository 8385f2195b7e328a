import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../service/executable.ts";
import { reportTasks } from "./task-reporter.ts";
import { CONSOLE_TASKS } from "./tasks.ts";

const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
/** Files of cases belong to the suite that calls them. */
const CASES = globSync("test/long/console/*.ts", { cwd: ROOT }).map(read).join("\n");

function namesOf(suite: string): string[] {
  const text = read(`test/long/${suite}.test.ts`) + (suite === "console" ? CASES : "");
  return [...text.matchAll(/\btest\(\s*"([^"]+)"/g)].map(([, name = ""]) => name);
}

describe("the tasks of the console", () => {
  test.each(CONSOLE_TASKS)("$task: has a test", ({ suite, test: name }) => {
    expect(namesOf(suite)).toContain(name);
  });

  test("differ", () => {
    const tasks = CONSOLE_TASKS.map(({ task }) => task);
    expect(tasks.filter((task, at) => tasks.indexOf(task) !== at)).toEqual([]);
  });

  test("are on every page, and on no other", () => {
    const routes = [...read("console/src/router.tsx").matchAll(/\b(?:page\(|path:)\s*"([^"]+)"/g)].map(
      ([, path]) => path,
    );
    expect(routes.length).toBeGreaterThan(30);
    expect(new Set(CONSOLE_TASKS.map(({ page }) => page))).toEqual(new Set(routes));
  });

  test("are counted, with those that were not done", () => {
    const tasks = [
      { task: "Ask", page: "/chat", suite: "console", test: "asks" },
      { task: "Talk", page: "/talk", suite: "console", test: "talks" },
      { task: "Invite", page: "/people", suite: "console-kit", test: "invites" },
    ];
    const states: Readonly<Record<string, string>> = { "console asks": "passed", "console talks": "failed" };
    expect(reportTasks(tasks, (suite, name) => states[`${suite} ${name}`] ?? "not run")).toBe(
      "1 of 3 tasks of the console\n  failed: Talk (/talk)\n  not run: Invite (/people)",
    );
  });
});

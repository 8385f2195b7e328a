/** Says how many tasks of the console the tests of a run did, and which ones they did not. */

import { relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";
import { ROOT } from "../service/executable.ts";
import { CONSOLE_TASKS, type ConsoleTask } from "./tasks.ts";

/** One line, and one for each task that was not done. */
export function reportTasks(tasks: readonly ConsoleTask[], stateOf: (suite: string, test: string) => string): string {
  const states = tasks.map(({ page, task, suite, test }) => ({ page, task, state: stateOf(suite, test) }));
  const failures = states.filter(({ state }) => state !== "passed");
  const lines = failures.map(({ page, task, state }) => `  ${state}: ${task} (${page})`);
  return [`${tasks.length - failures.length} of ${tasks.length} tasks of the console`, ...lines].join("\n");
}

export default class TaskReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const states = new Map<string, string>();
    for (const module of modules) {
      const suite = relative(`${ROOT}/test/long`, module.moduleId).replace(/\.test\.ts$/, "");
      for (const test of module.children.allTests()) states.set(`${suite}\n${test.name}`, test.result().state);
    }
    console.log(reportTasks(CONSOLE_TASKS, (suite, test) => states.get(`${suite}\n${test}`) ?? "not run"));
  }
}

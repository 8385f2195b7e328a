/**
 * Suites of native models and of Python take minutes of CPU time. Once all tests of such a file have passed, here or where
 * `npm run test:native` recorded it, `npm test` runs only its first test until something changes that the file imports, the
 * lock file or Node.js.
 */

import { join } from "node:path";
import { afterAll, type RunnerTestSuite, type TestAPI, test } from "vitest";
import { hasPassed, notePassed } from "./passed-states.ts";
import { stateOf } from "./state-of.ts";

const ROOT = join(import.meta.dirname, "../../..");

/** Returns `test` for a file (`import.meta.filename`). `npx vitest run FILE` always runs all of them. */
export function oncePerState(file: string): TestAPI {
  const state = stateOf(file, ROOT);
  const isShort = process.env.npm_lifecycle_event === "test" && hasPassed(file, state);
  // Registered first, it runs after the file's own hooks.
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads the parameter
  afterAll(({}, suite) => {
    if (isShort || !isComplete(suite)) return;
    notePassed(file, state);
  });
  return isShort ? firstOnly() : test;
}

/** A test that the environment skips, such as without FFmpeg, may run tomorrow. */
function isComplete(suite: Readonly<RunnerTestSuite>): boolean {
  return suite.tasks.every((task) => (task.type === "test" ? task.result?.state === "pass" : isComplete(task)));
}

/** The other properties are variants of `test` again. */
const METHODS: readonly string[] = ["each", "for", "skipIf", "runIf"] satisfies (keyof TestAPI)[];

function firstOnly(): TestAPI {
  let isFirst = true;
  const next = () => {
    const api = isFirst ? test : test.skip;
    isFirst = false;
    return api as TestAPI;
  };
  return new Proxy((() => {}) as unknown as TestAPI, {
    apply: (_target, _this, input) => Reflect.apply(next(), undefined, input),
    get: (_target, name) => {
      if (typeof name === "symbol") return Reflect.get(test, name);
      const api = next();
      const value = Reflect.get(api, name);
      return METHODS.includes(name) ? value.bind(api) : value;
    },
  });
}

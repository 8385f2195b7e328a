/** Runs in a worker thread: compiles and validates within a limit of CPU time. */

import { LRUCache } from "lru-cache";
import { compileRules } from "./grammar.ts";
import { TimeoutError } from "./run-with-timeout.ts";
import { SchemaError, type SchemaErrorCode } from "./schema-error.ts";
import { threadCpuMs } from "./thread-cpu.ts";
import { compileValidator, type Validator } from "./validator.ts";

export type SchemaTask = {
  /** As JSON, which is cheaper to transfer than the object, and the key of the cache. */
  schema: string;
  path: string;
  timeoutMs: number;
} & (
  | { type: "rules"; ruleName: string; values: "any" | "objects" }
  | { type: "check" }
  /** `text`: the JSON to validate. */
  | { type: "validate"; text: string }
);

export interface Refusal {
  code: SchemaErrorCode;
  message: string;
  path: string;
  /** What it ran out of, which also depends on the value. */
  exhausted?: "time" | "memory";
}

export interface SchemaResult {
  cpuMs: number;
  /** The rules, or the first violation. */
  value?: string | undefined;
  /** Paths of keywords that the rules do not enforce. */
  unenforced?: readonly string[];
  refusal?: Refusal;
}

const validators = new LRUCache<string, Validator>({
  maxSize: 4_000_000,
  sizeCalculation: (_validator, key) => key.length,
});

export default function runTask(task: SchemaTask): SchemaResult {
  const startedMs = threadCpuMs();
  const cpuMs = () => threadCpuMs() - startedMs;
  try {
    const unenforced = new Set<string>();
    const value = perform(task, cpuMs, unenforced);
    return { value, unenforced: [...unenforced], cpuMs: cpuMs() };
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    const { code, path } = error;
    const isTimeout = error.cause instanceof TimeoutError;
    return {
      // The pool names the budget of the request, not the remainder that this task exceeded.
      refusal: isTimeout ? { code, message: "", path, exhausted: "time" } : { code, message: error.message, path },
      cpuMs: cpuMs(),
    };
  }
}

function perform(task: SchemaTask, cpuMs: () => number, unenforced: Set<string>): string | undefined {
  const { schema, path, timeoutMs } = task;
  if (task.type === "rules") {
    return compileRules(JSON.parse(schema), path, task.ruleName, { values: task.values, timeoutMs, unenforced });
  }
  const key = `${path}\n${schema}`;
  const validate = validators.get(key) ?? compileValidator(JSON.parse(schema), path, timeoutMs);
  validators.set(key, validate);
  if (task.type === "check") return undefined;
  let value: unknown;
  try {
    value = JSON.parse(task.text);
  } catch {
    return "it is not JSON";
  }
  return validate(value, timeoutMs - cpuMs());
}

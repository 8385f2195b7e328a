import type { EngineServices } from "../../../src/contracts/engine.ts";
import { createLogger } from "../../../src/kernel/logger.ts";

/** Services for opening an engine, with the lines that it logs. */
export function makeEngineServices(overrides: Partial<EngineServices> = {}): EngineServices & { logged: string[] } {
  const logged: string[] = [];
  return {
    name: "test-model",
    catalogId: "test-model",
    pull: () => Promise.reject(new Error("this test has no model store")),
    findPulled: async () => undefined,
    logger: createLogger("trace", { write: (line: string) => logged.push(line) }),
    signal: new AbortController().signal,
    logged,
    ...overrides,
  };
}

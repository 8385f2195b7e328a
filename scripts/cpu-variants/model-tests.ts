import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../..");
const EVALUATES_A_MODEL =
  /openLlamaCpp|openShallowLlamaCpp|openWithTemplate|loadChatModel\(\)|defaultChatModelPath|smollm2-135m-instruct/;

/** Paths of the test files that evaluate a GGUF model, from the root of the repository. */
export function findModelTests(): string[] {
  const tests = globSync(["packages/*/src/**/*.test.ts", "src/**/*.test.ts", "test/**/*.test.ts"], {
    cwd: ROOT,
    exclude: ["test/long/**", "test/clients/**"],
  });
  return tests.filter((file) => EVALUATES_A_MODEL.test(readFileSync(resolve(ROOT, file), "utf8"))).sort();
}

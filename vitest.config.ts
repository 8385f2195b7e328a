import { resolve } from "node:path";
import { defineConfig } from "vitest/config";

// Workers, and the processes that they start, read compiled modules from here.
process.env.NODE_COMPILE_CACHE ??= resolve(import.meta.dirname, "node_modules/.cache/vitest-compile");

const LONG = ["test/long/**", "node_modules/**"];

export default defineConfig({
  test: {
    env: { PARLANCE_TEST_ENGINES: "1" },
    globalSetup: [
      "test/support/service/temporary-files.ts",
      "test/support/databases/migrated-file.ts",
      "test/support/models/fetch-default-models.ts",
      "test/support/service/build-console.ts",
      "test/support/service/build-service.ts",
    ],
    // Ends what hangs; a busy machine takes long for everything else.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // Long enough for a busy machine; Vitest's default is a second.
    expect: { poll: { timeout: 200_000 } },
    // Many files wait for processes and timers; more files at once than this slow each other's local engines.
    maxWorkers: 3,
    // Starting a worker and importing takes longer than most files.
    isolate: false,
    // Node imports the modules itself, as the service's processes do, and collects garbage less often.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: ["--min-semi-space-size=16", "--max-semi-space-size=32"],
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["packages/*/src/**/*.test.ts", "src/**/*.test.ts", "scripts/**/*.test.ts", "deploy/**/*.test.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "console",
          include: ["console/src/**/*.test.ts"],
          // Node reads no JSX.
          experimental: { viteModuleRunner: true },
        },
      },
      {
        extends: true,
        test: {
          name: "service",
          include: ["test/**/*.test.ts"],
          exclude: LONG,
          // A busy or slow machine takes some times the CPU time of a quiet one for the same work.
          env: { STALL_LIMIT_MS: process.env.STALL_LIMIT_MS ?? "400" },
          setupFiles: ["test/support/service/fail-on-stalls.ts"],
        },
      },
    ],
  },
});

import { defineConfig } from "vitest/config";

const LONG = ["test/long/**", "node_modules/**"];

export default defineConfig({
  test: {
    env: { PARLANCE_TEST_ENGINES: "1" },
    globalSetup: ["test/support/fetch-default-models.ts", "test/support/build-console.ts"],
    testTimeout: 90_000,
    hookTimeout: 240_000,
    // Many files wait for processes and timers; more files at once than this slow each other's local engines.
    maxWorkers: 3,
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["packages/*/src/**/*.test.ts", "src/**/*.test.ts", "scripts/**/*.test.ts"],
          // Starting a worker and importing takes longer than most of these files: 70 s of CPU became 33 s.
          isolate: false,
        },
      },
      {
        extends: true,
        test: { name: "service", include: ["test/**/*.test.ts"], exclude: LONG },
      },
    ],
  },
});

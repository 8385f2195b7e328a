import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    env: { PARLANCE_TEST_ENGINES: "1" },
    include: ["packages/*/src/**/*.test.ts", "scripts/**/*.test.ts", "src/**/*.test.ts", "test/**/*.test.ts"],
    exclude: ["test/long/**", "node_modules/**"],
    globalSetup: ["test/support/fetch-default-models.ts"],
    testTimeout: 90_000,
    hookTimeout: 240_000,
    // Local engines are processes of their own: more files at once than cores only slows each of them.
    maxWorkers: 2,
  },
});

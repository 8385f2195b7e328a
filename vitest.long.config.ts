import { defineConfig } from "vitest/config";

/** Minutes long, one file after the other: `npm run test:long`. */
export default defineConfig({
  test: {
    env: { PARLANCE_TEST_ENGINES: "1", ALL_GENERATED_CASES: "1" },
    include: [
      "test/long/**/*.test.ts",
      // `npm test` runs a quarter of their cases.
      "packages/json-schema-grammar/src/{enforcement,number-language}.test.ts",
    ],
    globalSetup: ["test/support/models/fetch-default-models.ts", "test/support/service/build-console.ts"],
    testTimeout: 600_000,
    hookTimeout: 120_000,
    maxWorkers: 1,
    fileParallelism: false,
  },
});

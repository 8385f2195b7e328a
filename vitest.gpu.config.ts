import { defineConfig } from "vitest/config";

/** Tests on a GPU: `npm run test:gpu`. They need no download. */
export default defineConfig({
  test: {
    env: { PARLANCE_TEST_ENGINES: "1" },
    include: ["test/gpu/**/*.test.ts"],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    fileParallelism: false,
  },
});

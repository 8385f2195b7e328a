import { defineConfig } from "vitest/config";

/** Installs real third-party clients and drives them: `npm run test:clients`. */
export default defineConfig({
  test: {
    include: ["test/clients/**/*.test.ts", "test/clients/**/*.clients.ts"],
    globalSetup: ["test/support/models/fetch-default-models.ts"],
    testTimeout: 600_000,
    // Hooks install programs, as tests do.
    hookTimeout: 600_000,
    maxWorkers: 1,
    fileParallelism: false,
  },
});

import { defineConfig, mergeConfig } from "vitest/config";
import long from "./vitest.long.config.ts";

/** Browser tests of the console, and how many of its tasks they do: `npm run test:console`. */
export default mergeConfig(
  { ...long, test: { ...long.test, include: [] } },
  defineConfig({
    test: {
      include: ["test/long/console*.test.ts", "test/long/sign-on-console.test.ts"],
      reporters: ["default", "./test/support/console/task-reporter.ts"],
    },
  }),
);

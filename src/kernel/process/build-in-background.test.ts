import { expect, test } from "vitest";
import { runWithoutDescriptors } from "../../../test/support/service/without-descriptors.ts";

test.runIf(process.platform === "linux")("warns when there are no file descriptors for a build", async () => {
  const warnings = await runWithoutDescriptors(`
    const { buildInBackground } = await import("${new URL("./build-in-background.ts", import.meta.url).href}");
    const warnings = [];
    const logger = { warn: (_facts, message) => warnings.push(message) };
    const release = exhaust();
    await failureOf(() => buildInBackground(logger, { script: "build-docs.mjs", subject: "the documentation" }));
    release();
    report(warnings);
  `);
  expect(warnings).toEqual(["the documentation could not be built"]);
});

import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../test/support/temporary-directory.ts";
import { heldLines } from "./held-lines.ts";
import { createLogger } from "./logger.ts";

test("writes what was held soon, or at once with a warning", async () => {
  await using folder = await temporaryDirectory();
  const file = join(folder.path, "log");
  const descriptor = openSync(file, "w");
  const logger = createLogger("info", heldLines(descriptor));
  const messages = () =>
    readFileSync(file, "utf8")
      .split("\n")
      .flatMap((line) => (line === "" ? [] : [JSON.parse(line).msg]));

  logger.info("one");
  logger.info("two");
  expect(messages()).toEqual([]);
  await expect.poll(messages).toEqual(["one", "two"]);
  logger.info("three");
  logger.warn("four");
  await expect.poll(messages, { interval: 1 }).toEqual(["one", "two", "three", "four"]);
  closeSync(descriptor);
});

import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { expectWithin } from "../../../test/support/timing.ts";
import { createLogger } from "../../observability/logger.ts";
import { LocalQueue } from "./local-queue.ts";

const logger = createLogger("silent");
const BATCH = { id: "batch_a", projectId: "proj_a" };

test("gives a batch once that is added while the unfinished ones are listed", async () => {
  const given: string[] = [];
  const listUnfinished = async () => {
    await queue.add(BATCH);
    return [BATCH];
  };
  const queue = new LocalQueue({ listUnfinished, logger, concurrency: 2 });
  await queue.start(async (id) => {
    given.push(id);
    await pause(20);
    return true;
  });
  await queue.close();
  expect(given).toEqual([BATCH.id]);
});

test("closes at once while a batch that failed waits to run again", async () => {
  const failed = Promise.withResolvers<void>();
  const queue = new LocalQueue({ listUnfinished: async () => [BATCH], logger, concurrency: 1 });
  await queue.start(async () => {
    failed.resolve();
    throw new Error("the storage is unavailable");
  });
  await failed.promise;
  await pause(10);
  const startedAt = performance.now();
  await queue.close();
  expectWithin(startedAt, 1000);
});

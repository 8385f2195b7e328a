import { hostname } from "node:os";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../../test/support/service/temporary-directory.ts";
import {
  announceService,
  findRunningService,
  lockDataDirectory,
  ranElsewhere,
  tryServiceLock,
} from "./service-file.ts";

test("waits for a command's lock, and refuses a second service", async () => {
  await using folder = await temporaryDirectory();
  const command = tryServiceLock(folder.path);
  if (command === undefined || command === "taken") throw new Error("the lock is not free");
  await expect(lockDataDirectory(folder.path, 0)).rejects.toMatchObject({
    kind: "conflict",
    message: expect.stringMatching(/^Another service already uses the data directory .*DATABASE_URL/),
  });
  const waiting = lockDataDirectory(folder.path);
  command.release();
  const lock = await waiting;
  using _announced = announceService(folder.path, "http://127.0.0.1:8080");
  // A service is not waited for.
  await expect(lockDataDirectory(folder.path)).rejects.toThrow("The service at http://127.0.0.1:8080 (process");
  expect(tryServiceLock(folder.path)).toBe("taken");
  lock?.release();
});

test("finds a service of this machine only, until it ends", async () => {
  await using folder = await temporaryDirectory();
  expect([findRunningService(folder.path), ranElsewhere(folder.path)]).toEqual([undefined, false]);
  {
    using _announced = announceService(folder.path, "http://127.0.0.1:8080");
    const service = { origin: "http://127.0.0.1:8080", pid: process.pid, host: hostname() };
    expect([findRunningService(folder.path), ranElsewhere(folder.path)]).toEqual([service, false]);
  }
  expect(findRunningService(folder.path)).toBeUndefined();
});

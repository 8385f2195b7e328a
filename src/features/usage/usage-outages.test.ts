/** Usage while the database is unavailable or the disk rejects writes. */

import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import {
  requestsIn,
  rollups,
  usageRecord,
  useUsageRecorders,
} from "../../../test/support/databases/usage-recorders.ts";

const { databases, open } = useUsageRecorders();

describe("while the database is unavailable", () => {
  test("journals usage and writes it when the database is back", async () => {
    const { database, directory, start } = await open("postgresql");
    const recorder = start();
    recorder.record(usageRecord());
    await recorder.flush();
    await databases.postgres.stop();
    for (let request = 0; request < 50; request += 1) {
      recorder.record(usageRecord());
      await sleep(10);
    }
    expect(await recorder.flush()).toBe(false);
    expect(readdirSync(directory)).toHaveLength(1);
    await databases.postgres.start();
    await expect.poll(() => requestsIn(database)).toBe(51);
    expect(await recorder.flush()).toBe(true);
  });

  test("leaves unwritten usage to the next process", async () => {
    const { database, directory, start } = await open("postgresql");
    await database.check();
    const recorder = start();
    await databases.postgres.stop();
    recorder.record(usageRecord());
    await recorder.close();
    expect(readdirSync(directory)).toHaveLength(1);
    await databases.postgres.start();
    start();
    await expect.poll(() => requestsIn(database)).toBe(1);
    await expect.poll(() => readdirSync(directory)).toEqual([]);
  });

  test("loses only records beyond the maximum and logs them", async () => {
    const { database, start } = await open("postgresql");
    await database.check();
    let lost = 0;
    const onLost = (records: number) => {
      lost += records;
    };
    const recorder = start({ maxJournalBytes: 2_000, onLost });
    await databases.postgres.stop();
    for (let request = 0; request < 50; request += 1) {
      recorder.record(usageRecord());
      await recorder.flush();
    }
    await databases.postgres.start();
    await expect.poll(() => requestsIn(database)).toBeGreaterThan(2);
    const kept = await requestsIn(database);
    expect(kept).toBeLessThan(10);
    expect(lost).toBe(50 - kept);
  });
});

describe("while the disk rejects writes", () => {
  /** Creating a file fails because the path is not a folder. */
  const refusingDisk = (directory: string) => {
    const path = join(directory, "usage");
    writeFileSync(path, "");
    const mend = () => {
      rmSync(path);
      mkdirSync(path);
    };
    return { path, mend };
  };

  test("still writes usage to the database", async () => {
    const { database, directory, start } = await open("postgresql");
    let lost = 0;
    const recorder = start({ directory: refusingDisk(directory).path, onLost: (records) => (lost += records) });
    for (let time = 0; time < 3; time += 1) {
      for (let request = 0; request < 1500; request += 1) recorder.record(usageRecord({ promptTokens: request }));
      await sleep(150);
    }
    await recorder.close();
    expect(await requestsIn(database)).toBe(4500);
    expect((await rollups(database)).map(({ requests }) => requests)).toEqual([4500, 4500, 4500]);
    expect(lost).toBe(0);
  });

  test("keeps it while the database is unavailable too, and counts it once when both are back", async () => {
    const { database, directory, start } = await open("postgresql");
    await database.check();
    await databases.postgres.stop();
    let lost = 0;
    const { path, mend } = refusingDisk(directory);
    const recorder = start({ directory: path, onLost: (records) => (lost += records) });
    for (let request = 0; request < 30; request += 1) {
      recorder.record(usageRecord());
      await sleep(10);
    }
    await recorder.flush();
    mend();
    recorder.record(usageRecord());
    await expect.poll(() => readdirSync(path)).toHaveLength(1);
    await databases.postgres.start();
    await expect.poll(() => requestsIn(database)).toBe(31);
    expect(lost).toBe(0);
  });

  test("loses only records beyond the maximum and logs them", async () => {
    const { database, directory, start } = await open("sqlite");
    let lost = 0;
    const recorder = start({ directory: refusingDisk(directory).path, onLost: (records) => (lost += records) });
    for (let request = 0; request < 60_000; request += 1) recorder.record(usageRecord());
    await recorder.close();
    const kept = await requestsIn(database);
    expect(kept).toBeGreaterThanOrEqual(50_000);
    expect(lost).toBe(60_000 - kept);
  });

  test("logs at shutdown what neither disk nor database accepted", async () => {
    const { database, directory, start } = await open("postgresql");
    await database.check();
    let lost = 0;
    const { path } = refusingDisk(directory);
    const recorder = start({ directory: path, onLost: (records) => (lost += records) });
    await databases.postgres.stop();
    for (let request = 0; request < 1200; request += 1) recorder.record(usageRecord());
    await recorder.close();
    await databases.postgres.start();
    expect(lost).toBe(1200);
  });
});

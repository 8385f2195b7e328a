import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { DATABASE_KINDS } from "../../../test/support/databases/databases.ts";
import {
  minutes,
  NOON,
  requestsIn,
  rollups,
  usageRecord,
  useUsageRecorders,
} from "../../../test/support/databases/usage-recorders.ts";
import type { RecordedUsage } from "../../kernel/usage.ts";
import { RECORD_COLUMNS, type UsageBatch, UsageRows } from "./usage-batch.ts";
import { writeUsage } from "./usage-queries.ts";
import type { UsageRecord } from "./usage-recorder.ts";
import { usageRetention } from "./usage-retention.ts";

const { open } = useUsageRecorders();
const DAY = 86_400_000;

const V0_1_COLUMNS = new Set<string>([
  ...["at", "dimensionId", "promptTokens", "cachedTokens", "completionTokens", "reasoningTokens", "characters"],
  ...["audioMilliseconds", "costNanoDollars"],
]);

function batchOf(given: UsageRecord[], number: number): UsageBatch {
  const { dimensions, values } = UsageRows.of(given);
  return { writer: "dead", number, dimensions, values };
}

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  test("adds each request to the sums of its minute, hour and day", async () => {
    const { database, start } = await open(kind);
    const recorder = start();
    recorder.record(usageRecord());
    recorder.record(usageRecord({ at: NOON + 1, costNanoDollars: 300 }));
    await recorder.flush();
    recorder.record(usageRecord({ at: NOON + 3_600_000, costNanoDollars: null }));
    await recorder.flush();
    expect(await requestsIn(database)).toBe(3);
    const day = Date.UTC(2026, 10, 21);
    expect(await rollups(database)).toMatchObject([
      { bucketSeconds: 60, beginsAt: NOON, requests: 2, promptTokens: 20, cachedTokens: 4, costNanoDollars: 1_000 },
      { bucketSeconds: 60, beginsAt: NOON + 3_600_000, requests: 1, costNanoDollars: null },
      { bucketSeconds: 3600, beginsAt: NOON, requests: 2, promptTokens: 20, cachedTokens: 4, costNanoDollars: 1_000 },
      { bucketSeconds: 3600, beginsAt: NOON + 3_600_000, requests: 1, costNanoDollars: null },
      { bucketSeconds: 86_400, beginsAt: day, requests: 3, completionTokens: 15, costNanoDollars: 1_000 },
    ]);
  });

  // Uses statements of 256, 64, 16, 4 and 1 rows; the second time they are cached.
  test("sums many records exactly", async () => {
    const { database, start } = await open(kind);
    const recorder = start();
    const given = Array.from({ length: 682 }, (_, index) => ({
      ...usageRecord({ at: NOON + index, promptTokens: index }),
      ...{ cachedTokens: 3 * index, completionTokens: 5 * index, reasoningTokens: 7 * index, characters: 11 * index },
      audioMilliseconds: 13 * index,
      costNanoDollars: index % 3 === 0 ? null : 1e12 + index,
    }));
    for (const half of [given.slice(0, 341), given.slice(341)]) {
      for (const each of half) recorder.record(each);
      await recorder.flush();
    }
    const sum = (column: keyof RecordedUsage) => given.reduce((total, each) => total + (each[column] ?? 0), 0);
    const sums = { requests: 682, promptTokens: sum("promptTokens"), cachedTokens: sum("cachedTokens") };
    expect(await rollups(database)).toMatchObject([
      { bucketSeconds: 60 },
      { bucketSeconds: 3600 },
      { bucketSeconds: 86_400 },
    ]);
    for (const rollup of await rollups(database)) {
      expect(rollup).toMatchObject({
        ...{ ...sums, completionTokens: sum("completionTokens"), reasoningTokens: sum("reasoningTokens") },
        ...{ characters: sum("characters"), audioMilliseconds: sum("audioMilliseconds") },
        costNanoDollars: sum("costNanoDollars"),
      });
    }
  });

  test("keeps dimensions separate", async () => {
    const { database, start } = await open(kind);
    const recorder = start();
    const others = ["organizationId", "projectId", "keyId", "model", "deployment"] as const;
    const given = [
      usageRecord(),
      ...others.map((column) => usageRecord({ [column]: "another" })),
      usageRecord({ operation: "moderation" }),
    ];
    for (const each of [...given, ...given]) recorder.record(each);
    await recorder.flush();
    const dimensions = await database.run((executor) => executor.selectFrom("usageDimensions").selectAll().execute());
    // Other processes, also earlier ones, derived the same ID.
    expect(dimensions).toContainEqual(expect.objectContaining({ keyId: "key_a", id: 6169352361188316 }));
    const named = ({ organizationId, projectId, keyId, model, deployment, operation }: (typeof dimensions)[number]) =>
      [organizationId, projectId, keyId, model, deployment, operation].join();
    expect(dimensions.map(named).sort()).toEqual(
      given
        .map((each) => named({ serviceTier: null, isBatch: 0, imageSource: null, imageSize: null, ...each, id: 0 }))
        .sort(),
    );
    expect((await rollups(database)).map(({ requests }) => requests)).toEqual(Array(21).fill(2));
  });

  test("writes more records than fit a batch", async () => {
    const { database, start } = await open(kind);
    const recorder = start();
    for (let request = 0; request < 2_500; request += 1) recorder.record(usageRecord({ at: NOON + request }));
    await recorder.flush();
    expect((await rollups(database)).map(({ requests }) => requests)).toEqual([2_500, 2_500, 2_500]);
  });

  test("writes without a flush within a second", async () => {
    const { database, start } = await open(kind);
    await database.check();
    start().record(usageRecord());
    await expect.poll(() => requestsIn(database)).toBe(1);
  });

  test("counts a batch once when it is sent repeatedly", async () => {
    const { database } = await open(kind);
    for (let time = 0; time < 3; time += 1) {
      await database.transaction((transaction) => writeUsage(transaction, [batchOf([usageRecord()], 1)], NOON));
    }
    expect(await requestsIn(database)).toBe(1);
  });

  test("sums concurrent writers", async () => {
    const { database, start } = await open(kind);
    const recorders = Array.from({ length: 4 }, () => start());
    for (let request = 0; request < 200; request += 1) {
      recorders[request % 4]?.record(usageRecord({ keyId: `key_${request % 7}`, model: `m${request % 3}` }));
      if (request % 20 === 0) await Promise.all(recorders.map((recorder) => recorder.flush()));
    }
    await Promise.all(recorders.map((recorder) => recorder.close()));
    const days = (await rollups(database)).filter(({ bucketSeconds }) => bucketSeconds === 86_400);
    expect(days.reduce((sum, { requests }) => sum + requests, 0)).toBe(200);
    expect(days).toHaveLength(21);
  });

  test.each([
    [
      "as it is now",
      "usage2.jsonl",
      (number: number) => ({ ...batchOf([usageRecord()], number), columns: [...RECORD_COLUMNS] }),
    ],
    [
      "with columns in another order and columns of a later version",
      "usage2.jsonl",
      (number: number) => {
        const { values, ...batch } = batchOf([usageRecord()], number);
        return { ...batch, values: [7, ...values.toReversed()], columns: ["later", ...RECORD_COLUMNS.toReversed()] };
      },
    ],
    [
      "as 0.1 left it",
      "usage.jsonl",
      (number: number) => {
        const { values, dimensions, ...batch } = batchOf([usageRecord()], number);
        const recorded = RECORD_COLUMNS.flatMap((column, place) => (V0_1_COLUMNS.has(column) ? [values[place]] : []));
        const named = dimensions.map(({ serviceTier: _tier, isBatch: _batch, ...dimension }) => dimension);
        return { ...batch, dimensions: named, values: [...recorded, 120, "finished"] };
      },
    ],
    ["as a list of records", "usage.jsonl", (number: number) => ({ writer: "dead", number, records: [usageRecord()] })],
  ])("writes what a process that was killed had not written, once, %s", async (_, suffix, batch) => {
    const { database, directory, start } = await open(kind);
    const line = (number: number) => `${JSON.stringify(batch(number))}\n`;
    // No process has this PID.
    const path = join(directory, `${hostname()}.99999999.dead.${suffix}`);
    writeFileSync(path, `${line(1)}${line(2)}{"writer":"dead","num`);
    start();
    await expect.poll(() => requestsIn(database)).toBe(2);
    await expect.poll(() => readdirSync(directory)).toEqual([]);
    const { promptTokens, costNanoDollars } = usageRecord();
    const sums = { requests: 2, promptTokens: 2 * promptTokens, costNanoDollars: 2 * (costNanoDollars ?? 0) };
    expect(await rollups(database)).toMatchObject([sums, sums, sums]);
  });

  test("continues past a journal that cannot be opened", async () => {
    const { database, directory, start } = await open(kind);
    mkdirSync(join(directory, `${hostname()}.99999998.dead.usage2.jsonl`));
    writeFileSync(
      join(directory, `${hostname()}.99999999.dead.usage2.jsonl`),
      `${JSON.stringify({ ...batchOf([usageRecord()], 1), columns: RECORD_COLUMNS })}\n`,
    );
    start();
    await expect.poll(() => requestsIn(database)).toBe(1);
  });

  test("continues past a refused record and a corrupt line", async () => {
    const { database, directory, start } = await open(kind);
    const line = (number: number, given: UsageRecord[]) =>
      `${JSON.stringify({ ...batchOf(given, number), columns: RECORD_COLUMNS })}\n`;
    const refused = usageRecord({ promptTokens: Number.NaN });
    const long = "x".repeat(2 * 1024 ** 2);
    const lines = [
      line(1, [usageRecord(), refused, usageRecord()]),
      "\0\0\0\n",
      line(2, [usageRecord({ deployment: long })]),
    ];
    writeFileSync(join(directory, "elsewhere.99999999.dead.usage2.jsonl"), lines.join(""));
    utimesSync(join(directory, "elsewhere.99999999.dead.usage2.jsonl"), 0, 0);
    let lost = 0;
    start({
      onLost: (count) => {
        lost += count;
      },
    });
    await expect.poll(() => requestsIn(database)).toBe(3);
    await expect.poll(() => readdirSync(directory)).toEqual([]);
    expect(lost).toBe(2);
  });

  test("loses only the refused record", async () => {
    const { database, start } = await open(kind);
    let lost = 0;
    const onLost = (count: number) => {
      lost += count;
    };
    const recorder = start({ onLost });
    for (const promptTokens of [1, Number.NaN, 3])
      recorder.record(usageRecord({ promptTokens, keyId: `key ${promptTokens}` }));
    await recorder.flush();
    recorder.record(usageRecord({ at: NOON + 1 }));
    await recorder.flush();
    expect((await minutes(database)).map(({ promptTokens }) => promptTokens).sort()).toEqual([1, 10, 3]);
    const dimensions = await database.run((executor) =>
      executor.selectFrom("usageDimensions").select("keyId").execute(),
    );
    expect(dimensions.map(({ keyId }) => keyId).sort()).toEqual(["key 1", "key 3", "key_a"]);
    expect(lost).toBe(1);
  });

  test("sums details, and keeps service tiers and batches separate without a new dimension for others", async () => {
    const { database, start } = await open(kind);
    const recorder = start();
    const details = { cacheWriteTokens: 3, inputAudioTokens: 4, outputAudioTokens: 5, toolCalls: 6 };
    recorder.record(usageRecord({ ...details, reportedCostNanoDollars: 70, comparedCostNanoDollars: 80 }));
    recorder.record(usageRecord({ ...details, reportedCostNanoDollars: null }));
    recorder.record(usageRecord({ serviceTier: "flex" }));
    recorder.record(usageRecord({ isBatch: 1 }));
    await recorder.flush();
    const dimensions = await database.run((executor) => executor.selectFrom("usageDimensions").selectAll().execute());
    expect(dimensions.map(({ serviceTier, isBatch }) => `${serviceTier} ${isBatch}`).sort()).toEqual([
      ...["flex 0", "null 0", "null 1"],
    ]);
    expect(dimensions).toContainEqual(expect.objectContaining({ serviceTier: null, isBatch: 0, id: 6169352361188316 }));
    const [plain] = (await minutes(database)).filter(({ dimensionId }) => dimensionId === 6169352361188316);
    expect(plain).toMatchObject({
      ...{ requests: 2, cacheWriteTokens: 6, inputAudioTokens: 8, outputAudioTokens: 10, toolCalls: 12 },
      ...{ reportedCostNanoDollars: 70, comparedCostNanoDollars: 80 },
    });
  });

  test("sums each label by hour and day, also from a worker and after a kill, and nothing for a record without", async () => {
    const { database, directory, start } = await open(kind);
    const labels = (...values: string[]) => values.map((value) => ({ kind: "tag", value }) as const);
    const records = [
      usageRecord({ labels: labels("a", "b") }),
      usageRecord(),
      usageRecord({ at: NOON + 3_600_000, labels: labels("b"), model: "other" }),
    ];
    const recorder = start();
    for (const record of records) recorder.record(record);
    // Rows of a worker, whose places begin at 0 again.
    recorder.recordRows(UsageRows.of(records).content);
    await recorder.flush();
    const orphan = { writer: "dead", number: 1, ...UsageRows.of(records).content, columns: RECORD_COLUMNS };
    writeFileSync(join(directory, `${hostname()}.99999999.dead.usage2.jsonl`), `${JSON.stringify(orphan)}\n`);
    start();
    await expect.poll(() => requestsIn(database)).toBe(9);
    const sums = await database.run((executor) =>
      executor
        .selectFrom("usageLabelRollups as sum")
        .innerJoin("usageLabels as label", "label.id", "sum.labelId")
        .select(["label.value", "sum.bucketSeconds", "sum.requests", "sum.costNanoDollars"])
        .orderBy("label.value")
        .orderBy("sum.bucketSeconds")
        .orderBy("sum.beginsAt")
        .orderBy("sum.dimensionId")
        .execute(),
    );
    const cost = usageRecord().costNanoDollars ?? 0;
    const sum = (value: string, bucketSeconds: number) => ({
      value,
      bucketSeconds,
      requests: 3,
      costNanoDollars: 3 * cost,
    });
    expect(sums).toEqual([
      ...[sum("a", 3600), sum("a", 86_400)],
      // Two hours, and a day of two models.
      ...[sum("b", 3600), sum("b", 3600), sum("b", 86_400), sum("b", 86_400)],
    ]);
  });

  test("writes no row of labels without a label", async () => {
    const { database, start } = await open(kind);
    const recorder = start();
    recorder.record(usageRecord());
    await recorder.flush();
    for (const table of ["usageLabels", "usageLabelRollups"] as const)
      expect(await database.run((executor) => executor.selectFrom(table).selectAll().execute())).toEqual([]);
  });

  test("removes expired minutes and keeps sums of hours and days", async () => {
    const { database, logger, start } = await open(kind);
    const recorder = start();
    for (let request = 0; request < 1_200; request += 1)
      recorder.record(usageRecord({ at: NOON - 3 * DAY + 60_000 * request }));
    recorder.record(usageRecord({ at: NOON - DAY }));
    await recorder.flush();
    const retention = usageRetention({ database, logger, days: 2 });
    await retention.removeExpired(NOON);
    retention[Symbol.dispose]();
    expect(await minutes(database)).toMatchObject([{ beginsAt: NOON - DAY }]);
    const rest = (await rollups(database)).filter(({ bucketSeconds }) => bucketSeconds > 60);
    expect(rest.reduce((sum, { requests }) => sum + requests, 0)).toBe(2 * 1_201);
  });
});

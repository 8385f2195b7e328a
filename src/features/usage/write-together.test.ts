import { describe, expect, test } from "vitest";
import { DATABASE_KINDS } from "../../../test/support/databases/databases.ts";
import { NOON, requestsIn, usageRecord, useUsageRecorders } from "../../../test/support/databases/usage-recorders.ts";
import type { RequestEntry } from "../../http/request-entry.ts";
import type { Database } from "../../storage/database.ts";
import { RequestHistory } from "./request-history.ts";
import type { WriteTogether } from "./write-batches.ts";

const { open } = useUsageRecorders();
const FILTER = { organizationId: "org_a" };

function entry(id: string, change: Partial<RequestEntry> = {}): RequestEntry {
  const { organizationId, projectId, keyId, model, deployment, operation } = usageRecord();
  return {
    ...{ id, at: NOON, organizationId, projectId, keyId, operation, model, answeredBy: model, deployment },
    ...{ status: 200, outcome: "finished", error: null, attempts: 1, queuedMilliseconds: 0 },
    ...{ firstTokenMilliseconds: 12, durationMilliseconds: 120, promptTokens: 10, cachedTokens: 2 },
    ...{ completionTokens: 5, characters: 0, audioMilliseconds: 0, costNanoDollars: 700, details: null },
    ...change,
  };
}

const rename = (database: Database, from: "requestHistory" | "away", to: string) =>
  database.run((executor) => executor.schema.alterTable(from).renameTo(to).execute());

async function openBoth(kind: (typeof DATABASE_KINDS)[number]) {
  const { database, logger, start } = await open(kind);
  const history = new RequestHistory({ database, logger, days: 7 });
  const recorder = start({ writeWith: (write) => history.writeWith(write) });
  const ids = async () => (await history.list(FILTER, undefined, 10)).entries.map(({ id }) => id);
  return { database, history, recorder, ids };
}

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  test("usage and history of requests are committed together", async () => {
    const { database, history, recorder } = await openBoth(kind);
    history.record(entry("req_1"));
    recorder.record(usageRecord());
    await recorder.flush();
    const written = await database.run((executor) => executor.selectFrom("requestHistory").select("id").execute());
    expect(written).toEqual([{ id: "req_1" }]);
    expect(await requestsIn(database)).toBe(1);
    await history.close();
  });

  test("neither is written twice when they are written again", async () => {
    const { database, history, recorder, ids } = await openBoth(kind);
    for (const each of ["req_1", "req_2", "req_3"]) {
      history.record(entry(each));
      recorder.record(usageRecord());
      await Promise.all([recorder.flush(), history.flush(), recorder.flush()]);
    }
    expect((await ids()).toSorted()).toEqual(["req_1", "req_2", "req_3"]);
    expect(await requestsIn(database)).toBe(3);
    await history.close();
  });

  test("usage is written without the history when that is refused", async () => {
    const { database, history, recorder, ids } = await openBoth(kind);
    recorder.record(usageRecord());
    await recorder.flush();
    await rename(database, "requestHistory", "away");
    history.record(entry("req_1"));
    recorder.record(usageRecord());
    await recorder.flush();
    expect(await requestsIn(database)).toBe(2);
    await rename(database, "away", "requestHistory");
    expect(await ids()).toEqual(["req_1"]);
    await history.close();
  });

  test("an entry that the database can never store does not block later ones", async () => {
    const { database, history, recorder, ids } = await openBoth(kind);
    history.record(entry("req_1", { durationMilliseconds: null as unknown as number }));
    recorder.record(usageRecord());
    await recorder.flush();
    expect(await requestsIn(database)).toBe(1);
    await history.flush();
    history.record(entry("req_2"));
    expect(await ids()).toEqual(["req_2"]);
    await history.close();
  });
});

test("keeps the history when the transaction that it was to share fails", async () => {
  const { history, ids } = await openBoth("sqlite");
  history.record(entry("req_1"));
  const failing: WriteTogether = async () => {
    throw new Error("the disk is full");
  };
  await expect(history.writeWith(failing)).rejects.toThrow("the disk is full");
  expect(await ids()).toEqual(["req_1"]);
  await history.close();
});

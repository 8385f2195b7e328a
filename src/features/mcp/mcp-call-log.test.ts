import { afterEach, describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import { DAY_MS } from "../../kernel/durations.ts";
import { Fault } from "../../kernel/faults.ts";
import { openDatabase } from "../../storage/database.ts";
import { type LoggedCall, McpCallLog } from "./mcp-call-log.ts";

const databases = useDatabases();
let closing = new AsyncDisposableStack();
afterEach(async () => {
  await closing.disposeAsync();
  closing = new AsyncDisposableStack();
});

async function open(kind: (typeof DATABASE_KINDS)[number], days = 30) {
  const options = await databases.create(kind);
  const database = openDatabase(options);
  closing.defer(() => database.close());
  const log = new McpCallLog({ database, logger: options.logger, days });
  closing.defer(() => log.close());
  return { database, log };
}

const callOf = (tool: string, organizationId = "org"): LoggedCall => ({
  caller: { keyId: "key_1", organizationId, projectId: "proj_1", kind: "project" },
  server: "wiki",
  tool,
  source: "gateway",
});
const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });
const ALL = { organizationId: "org", visibility: undefined, limit: 10, order: "asc" } as const;

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  test("records how calls ended, with size and cost and without their content", async () => {
    const { log } = await open(kind);
    await log.record(callOf("search"), async () => ({ value: text("otters"), costNanoDollars: 5 }));
    await log.record(callOf("read"), async () => ({
      value: { ...text("no page"), isError: true },
      costNanoDollars: null,
    }));
    const late = new Fault("upstream-timeout", "It did not answer within 1 seconds.");
    await log.record(callOf("hang"), async () => ({ failure: late, costNanoDollars: 5 }));
    const leaving = new Fault("client-left", "The client left.");
    await expect(log.record(callOf("leave"), async () => Promise.reject(leaving))).rejects.toBe(leaving);
    await log.record(callOf("foreign", "org_2"), async () => ({ value: text(""), costNanoDollars: null }));
    await log.flush();

    const { entries } = await log.list(ALL);
    const ends = entries.map(({ tool, outcome, error, costNanoDollars: cost }) => [tool, outcome, error, cost]);
    expect(ends.toSorted()).toEqual([
      ["hang", "failed", "It did not answer within 1 seconds.", 5],
      ["leave", "cancelled", null, null],
      ["read", "tool_error", null, null],
      ["search", "completed", null, 5],
    ]);
    expect(JSON.stringify(entries)).not.toMatch(/otters|no page/);
    const matches = await log.list({
      ...ALL,
      outcome: "completed",
      server: "wiki",
      tool: "search",
      projectId: "proj_1",
    });
    expect(matches.entries).toMatchObject([{ resultBytes: Buffer.byteLength(JSON.stringify(text("otters"))) }]);
    const visibility = { projectIds: ["proj_2"], userId: undefined };
    expect((await log.list({ ...ALL, visibility })).entries).toEqual([]);
  });

  test("records neither keys nor what a server quotes, and stores any text", async () => {
    const { log } = await open(kind);
    const fail = (code: number, message: string) => async () => ({
      failure: Object.assign(new Error(message), { code }),
      costNanoDollars: null,
    });
    await log.record(callOf("resources/a\0b"), fail(-32602, "city 'otters' is unknown"));
    await log.record({ ...callOf("guarded"), isGuarded: true }, fail(-32603, "otters"));
    await log.record(callOf("plain"), fail(-32603, "The key sk-1234567890 has\0 no credit."));
    await log.flush();
    const { entries } = await log.list(ALL);
    expect(entries.map(({ tool, error }) => [tool, error]).toSorted()).toEqual([
      ["guarded", "The server answered with the error -32603."],
      ["plain", "The key sk-… has no credit."],
      ["resources/ab", "The server answered with the error -32602."],
    ]);
  });

  test("pages through the calls and removes them after their days", async () => {
    const { log } = await open(kind);
    for (const tool of ["a", "b", "c"]) {
      await log.record(callOf(tool), async () => ({ value: text(tool), costNanoDollars: null }));
    }
    await log.flush();
    const first = await log.list({ ...ALL, limit: 2 });
    const second = await log.list({ ...ALL, limit: 2, after: first.entries[1]?.id });
    expect([...first.entries, ...second.entries].map(({ tool }) => tool).toSorted()).toEqual(["a", "b", "c"]);
    expect([first.hasMore, second.hasMore]).toEqual([true, false]);
    using retention = log.retention();
    await retention.removeExpired(Date.now() + 29 * DAY_MS);
    expect((await log.list(ALL)).entries).toHaveLength(3);
    await retention.removeExpired(Date.now() + 31 * DAY_MS);
    expect((await log.list(ALL)).entries).toEqual([]);
  });

  test("keeps calls while the database is away, and writes them at the end", async () => {
    const { database, log } = await open(kind);
    const run = database.run.bind(database);
    let isAway = true;
    database.run = ((work: never) => (isAway ? Promise.reject(new Error("away")) : run(work))) as typeof database.run;
    await log.record(callOf("search"), async () => ({ value: text("x"), costNanoDollars: null }));
    await log.flush();
    isAway = false;
    await log.close();
    expect((await log.list(ALL)).entries).toHaveLength(1);
  });

  test("records nothing where requests are kept for no days", async () => {
    const { log } = await open(kind, 0);
    await log.record(callOf("search"), async () => ({ value: text("x"), costNanoDollars: null }));
    await log.flush();
    expect((await log.list(ALL)).entries).toEqual([]);
  });
});

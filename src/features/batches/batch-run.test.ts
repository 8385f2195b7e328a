import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { batchRow, takeOverBatch } from "../../../test/support/service/batch-row.ts";
import { eventually } from "../../../test/support/service/eventually.ts";
import { temporaryDirectory } from "../../../test/support/service/temporary-directory.ts";
import { createLogger } from "../../kernel/logger.ts";
import { openDatabase } from "../../storage/database.ts";
import { insertOrganization } from "../accounts/organizations/organization-queries.ts";
import { insertProject } from "../accounts/projects/project-queries.ts";
import { FileStore } from "../files/file-store.ts";
import { LocalBlobs } from "../files/local-blobs.ts";
import { insertBatch, requestCancellation } from "./batch-queries.ts";
import { BatchRun, type BatchRunOptions } from "./batch-run.ts";
import { MissingInputs } from "./missing-inputs.ts";

const MINUTE_MS = 60_000;
const caller = { keyId: "key_a", organizationId: "org_a", projectId: "proj_a", kind: "project" } as const;
const named = { name: "a", isDefault: 0, createdAt: 0, archivedAt: null };

let cleanup = new AsyncDisposableStack();
afterEach(async () => {
  vi.useRealTimers();
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

/** A batch of the project `proj_a` that runs with these answers. */
async function open({ input, ...overrides }: Partial<BatchRunOptions> & { input?: string }) {
  const { path: directory } = cleanup.use(await temporaryDirectory());
  const logger = createLogger("silent");
  const database = openDatabase({ url: undefined, file: ":memory:", logger });
  cleanup.defer(() => database.close());
  await database.run((executor) => insertOrganization(executor, { ...named, id: "org_a" }));
  await database.run((executor) => insertProject(executor, { ...named, id: "proj_a", organizationId: "org_a" }));
  const blobs = new LocalBlobs(join(directory, "blobs"));
  await blobs.check();
  const files = new FileStore({ database, blobs, keepDays: 30, maxSizePerProject: 1_000_000 });
  let inputFileId = "file-a";
  if (input !== undefined) {
    const path = join(directory, "input");
    await writeFile(path, input);
    const file = { projectId: "proj_a", purpose: "batch", filename: "input.jsonl", path, bytes: input.length } as const;
    inputFileId = (await files.create(file)).id;
  }
  const row = batchRow(inputFileId);
  await database.run((executor) => insertBatch(executor, row));
  const options: BatchRunOptions = {
    ...{ database, files, logger, directory, maxLines: 10, maxLineBytes: 1000, concurrency: 2 },
    missingInputs: new MissingInputs(),
    callerOf: async () => undefined,
    runLine: async () => {
      throw new Error("There is no line to run");
    },
    onAnswered: () => {},
    outbox: { add: async () => {} },
    ...overrides,
  };
  let runs = 0;
  const runAgain = async () => {
    runs += 1;
    const runId = `run_${runs}`;
    const batch = await database.run((executor) => takeOverBatch(executor, row.id, runId));
    if (batch === undefined) throw new Error("The batch has ended");
    return new BatchRun(options, { ...batch, runId }).run();
  };
  const read = () =>
    database.run((executor) =>
      executor.selectFrom("batches").selectAll().where("id", "=", row.id).executeTakeFirstOrThrow(),
    );
  const cancel = () => database.run((executor) => requestCancellation(executor, row, Date.now()));
  return { runAgain, read, cancel, files, directory };
}

function linesOf(...ids: string[]): string {
  const line = { method: "POST", url: "/v1/chat/completions" };
  return ids.map((id) => `${JSON.stringify({ custom_id: id, ...line, body: { model: id } })}\n`).join("");
}

/** Answers lines by the model that they name; `refused` ones with a 429. */
function scriptedLines(refused: ReadonlySet<string>, retryAfterSeconds = 864) {
  const sent: string[] = [];
  const runLine: BatchRunOptions["runLine"] = async ({ body }) => {
    const { model } = JSON.parse(Buffer.from(body).toString()) as { model: string };
    sent.push(model);
    const common = { requestId: "req_a", body: "{}", shouldRetry: true };
    return refused.has(model)
      ? { ...common, status: 429, retryAfterSeconds }
      : { ...common, status: 200, retryAfterSeconds: undefined };
  };
  return { sent, runLine, callerOf: async () => caller };
}

test("fails a batch whose input stays missing in the storage", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const { runAgain, read } = await open({});
  expect(await runAgain()).toBe("retry");
  vi.setSystemTime(Date.now() + 9 * MINUTE_MS);
  expect(await runAgain()).toBe("retry");
  vi.setSystemTime(Date.now() + 2 * MINUTE_MS);
  expect(await runAgain()).toBe("over");
  expect(await read()).toMatchObject({ status: "failed", errors: expect.stringContaining("missing_input") });
});

test("begins no batch of a project whose results exceed its limit since it was created", async () => {
  const { sent, ...lines } = scriptedLines(new Set());
  const { runAgain, read, files, directory } = await open({ input: linesOf("a"), ...lines });
  const path = join(directory, "output");
  await writeFile(path, "x");
  const output = { projectId: "proj_a", purpose: "batch_output", filename: "o.jsonl", path, bytes: 1_000_000 } as const;
  await files.createOutput(output);
  expect(await runAgain()).toBe("over");
  expect(await read()).toMatchObject({ status: "failed", errors: expect.stringContaining("insufficient_quota") });
  expect(sent).toEqual([]);
});

test("leaves its place when all lines have waited for a minute, and sends no answered line again", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const refused = new Set(["b", "c"]);
  const { sent, ...lines } = scriptedLines(refused);
  const { runAgain, read } = await open({ input: linesOf("a", "b", "c"), ...lines });
  const paused = runAgain();
  await eventually(() => expect(sent).toEqual(expect.arrayContaining(["a", "b"])));
  vi.setSystemTime(Date.now() + 61_000);
  const end = await paused;
  // What the refusal said, at most five minutes.
  expect(end).toEqual({ retryAfterMs: 5 * MINUTE_MS });
  expect(await read()).toMatchObject({ status: "in_progress", total: 3, completed: 1, failed: 0, endedAt: null });
  refused.clear();
  expect(await runAgain()).toBe("over");
  expect(await read()).toMatchObject({ status: "completed", total: 3, completed: 3, failed: 0, unanswered: 0 });
  expect(sent.filter((id) => id === "a")).toEqual(["a"]);
});

test("keeps its place while lines are answered between refusals", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const refused = new Set(["b", "c"]);
  const { sent, ...lines } = scriptedLines(refused, 30);
  const { runAgain, read } = await open({ input: linesOf("a", "b", "c"), ...lines, concurrency: 1 });
  const running = runAgain();
  for (const id of ["b", "c"]) {
    await eventually(() => expect(sent).toContain(id));
    refused.delete(id);
    vi.setSystemTime(Date.now() + 40_000);
  }
  expect(await running).toBe("over");
  expect(await read()).toMatchObject({ status: "completed", completed: 3 });
});

test("is due again before its window ends, and expires without sending a line", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const { sent, ...lines } = scriptedLines(new Set(["b"]));
  const { runAgain, read } = await open({ input: linesOf("a", "b"), ...lines });
  vi.setSystemTime((await read()).expiresAt - 2 * MINUTE_MS);
  const paused = runAgain();
  await eventually(() => expect(sent).toContain("b"));
  vi.setSystemTime(Date.now() + 61_000);
  const end = await paused;
  expect(end).toEqual({ retryAfterMs: expect.any(Number) });
  vi.setSystemTime(Date.now() + (end as { retryAfterMs: number }).retryAfterMs);
  const before = sent.length;
  expect(await runAgain()).toBe("over");
  expect(sent.length).toBe(before);
  expect(await read()).toMatchObject({ status: "expired", completed: 1, failed: 1, unanswered: 1 });
});

test("ends a cancelled batch that waited without sending a line", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const { sent, ...lines } = scriptedLines(new Set(["b"]));
  const { runAgain, read, cancel } = await open({ input: linesOf("a", "b"), ...lines });
  const paused = runAgain();
  await eventually(() => expect(sent).toContain("b"));
  vi.setSystemTime(Date.now() + 61_000);
  await paused;
  await cancel();
  const before = sent.length;
  expect(await runAgain()).toBe("over");
  expect(sent.length).toBe(before);
  expect(await read()).toMatchObject({ status: "cancelled", completed: 1, failed: 1, unanswered: 1 });
});

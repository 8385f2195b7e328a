/** Selects stored responses as rows, on both databases. */

import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import { Keyring } from "../../kernel/encryption/keyring.ts";
import { createLogger } from "../../kernel/logger.ts";
import { Secret } from "../../kernel/secret.ts";
import { openDatabase } from "../../storage/database.ts";
import type { ResponsesSource } from "../../wire/openai/evals/data-source.ts";
import { insertOrganization } from "../accounts/organizations/organization-queries.ts";
import { insertProject } from "../accounts/projects/project-queries.ts";
import { SealedRows } from "../responses/index.ts";
import { insertResponse } from "../responses/stored-response-queries.ts";
import { StoredRows } from "./stored-rows.ts";

const databases = useDatabases();
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const logger = createLogger("silent");
const place = { organizationId: "org", projectId: "proj" };
const { signal: running } = new AbortController();

/** Opens a database with responses of these instructions, the last one the newest. */
async function open(kind: (typeof DATABASE_KINDS)[number], instructions: readonly string[]) {
  const database = openDatabase(await databases.create(kind));
  closing.push(() => database.close());
  const row = { name: "One", isDefault: 1, createdAt: 0, archivedAt: null };
  await database.run((executor) => insertOrganization(executor, { ...row, id: "org" }));
  await database.run((executor) => insertProject(executor, { ...row, id: "proj", organizationId: "org" }));
  const content = new SealedRows(new Keyring([new Secret("k".repeat(40))]), logger);
  for (const [index, text] of instructions.entries()) {
    const id = `resp_${index}`;
    const sealed = content.seal({ table: "response", projectId: "proj", id }, { model: "m", instructions: text });
    const times = { createdAt: index, usedAt: index };
    const links = { previousResponseId: null, conversationId: null, isBackground: 0, status: "completed" };
    await database.run((executor) =>
      insertResponse(executor, { id, projectId: "proj", ...links, ...times, content: sealed }),
    );
  }
  return new StoredRows({ database, content, recorded: undefined });
}

const searching = (text: string): ResponsesSource => ({ type: "responses", instructions_search: text });

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  test("finds all responses, also where few fit into a query", async () => {
    const long = () => randomBytes(1_000_000).toString("base64");
    const rows = await open(kind, [
      "A gull.",
      `A gull. ${long()}`,
      long(),
      `A gull. ${long()}`,
      long(),
      `A gull. ${long()}`,
      "A gull.",
    ]);
    const found = await rows.select(place, searching("A gull."), running);
    expect(found).toEqual(["resp_6", "resp_5", "resp_3", "resp_1", "resp_0"]);
  });

  test("lets others have their turn while nothing matches, and stops when it shall", async () => {
    const rows = await open(
      kind,
      Array.from({ length: 12 }, () => "x".repeat(700_000)),
    );
    const stopping = new AbortController();
    const reason = new Error("stopping");
    setImmediate(() => stopping.abort(reason));
    await expect(rows.select(place, searching("A gull."), stopping.signal)).rejects.toBe(reason);
    await expect(rows.select(place, searching("A gull."), running)).rejects.toMatchObject({ code: "no_rows" });
  });
});

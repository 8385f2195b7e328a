/** Chat completions that callers stored: what is stored of them, and pages of them, on both databases. */

import { afterEach, expect, test } from "vitest";
import { type DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import type { RequestEntry } from "../../http/request-entry.ts";
import { RequestRecording } from "../../inference/recording/request-recording.ts";
import { Keyring } from "../../kernel/encryption/keyring.ts";
import { createLogger } from "../../kernel/logger.ts";
import { Secret } from "../../kernel/secret.ts";
import { openDatabase } from "../../storage/database.ts";
import { toStoredCompletion } from "../../wire/openai/chat/stored-completions.ts";
import { insertOrganization } from "../accounts/organizations/organization-queries.ts";
import { insertProject } from "../accounts/projects/project-queries.ts";
import { ContentSizes } from "./content-sizes.ts";
import { ContentWriter } from "./content-writer.ts";
import { SealedContents } from "./sealed-content.ts";
import { SearchTokens } from "./search-tokens.ts";
import { StoredCompletions } from "./stored-completions.ts";

const databases = useDatabases();
const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const logger = createLogger("silent");
const place = { organizationId: "org", projectId: "proj" };
const caller = { ...place, keyId: "key", kind: "project" } as const;
const services = { analyze: () => Promise.reject(new Error("no service")) } as never;

async function open(kind: (typeof DATABASE_KINDS)[number] = "sqlite", maxContentKilobytes = 256) {
  const database = openDatabase(await databases.create(kind));
  closing.push(() => database.close());
  const row = { name: "One", isDefault: 1, createdAt: 0, archivedAt: null };
  await database.run((executor) => insertOrganization(executor, { ...row, id: "org" }));
  await database.run((executor) => insertProject(executor, { ...row, id: "proj", organizationId: "org" }));
  const keyring = new Keyring([new Secret("k".repeat(40))]);
  const sealed = new SealedContents(keyring, logger);
  const tokens = new SearchTokens(keyring);
  const sizes = new ContentSizes({ database, maxBytesOf: async () => 1e9 });
  const settings = { storeCompletions: true, keepCompletionsDays: 30, maxContentKilobytes };
  const recordingOf = () => undefined;
  const writer = new ContentWriter({ database, sealed, tokens, sizes, settings, services, recordingOf, logger });
  closing.push(() => writer.close());
  const store = async (id: string, text: string, request: object = {}, redact: "pii"[] = []) => {
    const recording = new RequestRecording({ caller, policy: undefined, redact, guardrails: [] });
    recording.readWith(() => ({
      inputMessages: [{ role: "user", parts: [{ type: "text", content: text }] }],
      outputMessages: [],
    }));
    const completion = { id, created: 0, model: "m", usage: {}, metadata: { topic: "birds" }, request: { ...request } };
    await writer.store(toEntry(`req_${id}`), recording, completion);
  };
  return { store, completions: new StoredCompletions({ database, sealed, writer, logger }) };
}

function toEntry(id: string): RequestEntry {
  return {
    ...{ id, at: Date.now(), ...place, keyId: "key", operation: "chat/completions" },
    ...{ model: "m", answeredBy: "m", deployment: "m", status: 200, outcome: "finished", error: null, attempts: 1 },
    ...{ queuedMilliseconds: 0, firstTokenMilliseconds: 1, durationMilliseconds: 2, promptTokens: 1, cachedTokens: 0 },
    ...{ completionTokens: 1, characters: 0, audioMilliseconds: 0, costNanoDollars: null, details: null },
  };
}

test("masks the fields of the request that a completion repeats", async () => {
  const { store, completions } = await open();
  const tools = [{ type: "function", function: { name: "f", description: "Writes to bob@example.org." } }];
  const request = { temperature: 0, seed: 4_111_111_111_111_111, tools, service_tier: "bob@example.org" };
  await store("one", "For bob@example.org.", request, ["pii"]);
  const { completion, inputMessages } = await completions.find(place, "one");
  expect(JSON.stringify([completion, inputMessages])).not.toContain("bob@example.org");
  const { tools: stored, temperature, seed } = completion.request;
  expect(stored).toMatchObject([{ type: "function", function: { name: "f" } }]);
  expect([temperature, seed]).toEqual([0, request.seed]);
});

test("leaves the largest repeated fields out beyond the size of content, and says so", async () => {
  const { store, completions } = await open("sqlite", 4);
  const response_format = { type: "json_schema", json_schema: { name: "s", description: "x".repeat(1_000_000) } };
  const tools = [{ type: "function", function: { name: "f", description: "x".repeat(1000) } }];
  await store("large", "Hello.", { temperature: 0, response_format, tools, seed: 1 });
  await store("small", "Hello.", { temperature: 0, tools, seed: 1 });
  const large = toStoredCompletion(await completions.find(place, "large"));
  expect(large).toMatchObject({ temperature: 0, tools, seed: 1, truncated: true });
  expect(large).not.toHaveProperty("response_format");
  expect(toStoredCompletion(await completions.find(place, "small"))).not.toHaveProperty("truncated");
});

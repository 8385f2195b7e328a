/** CPU time and bytes of recorded content: `node bench/recorded-content/record-requests.ts [requests]`. */

import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { insertOrganization } from "../../src/features/accounts/organizations/organization-queries.ts";
import { insertProject } from "../../src/features/accounts/projects/project-queries.ts";
import { ContentSizes } from "../../src/features/recorded-content/content-sizes.ts";
import { ContentWriter } from "../../src/features/recorded-content/content-writer.ts";
import { RecordedContents } from "../../src/features/recorded-content/recorded-contents.ts";
import { SealedContents } from "../../src/features/recorded-content/sealed-content.ts";
import { SearchTokens } from "../../src/features/recorded-content/search-tokens.ts";
import type { RecordingPolicy } from "../../src/inference/recording/recording-policy.ts";
import { RequestRecording } from "../../src/inference/recording/request-recording.ts";
import { Keyring } from "../../src/kernel/encryption/keyring.ts";
import { createLogger } from "../../src/kernel/logger.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { openDatabase } from "../../src/storage/database.ts";

const requests = Number(process.argv[2] ?? 100_000);
const AT_ONCE = 250;
const caller = { keyId: "key", organizationId: "org", projectId: "proj", kind: "project" } as const;

/** Words with frequencies as in a language: the n-th most common one with the probability 1/n. */
function text(words: number): string {
  const word = () => `w${Math.floor(Math.exp(Math.random() * Math.log(50_000))).toString(36)}`;
  return Array.from({ length: words }, word).join(" ");
}

async function measure(name: string, redact: RecordingPolicy["redact"], isSearchable: boolean): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "parlance-bench-"));
  const file = join(directory, "bench.sqlite");
  const logger = createLogger("silent");
  const database = openDatabase({ url: undefined, file, logger });
  const row = { name: "One", isDefault: 1, createdAt: 0, archivedAt: null };
  await database.run((executor) => insertOrganization(executor, { ...row, id: "org" }));
  await database.run((executor) => insertProject(executor, { ...row, id: "proj", organizationId: "org" }));
  const keyring = new Keyring([new Secret("k".repeat(40))]);
  const sealed = new SealedContents(keyring, logger);
  const tokens = new SearchTokens(keyring);
  const sizes = new ContentSizes({ database, maxBytesOf: async () => Number.POSITIVE_INFINITY });
  const policy: RecordingPolicy = { mode: "all", share: 1, keepDays: 7, maxBytes: 1e15, redact, isSearchable };
  const writer = new ContentWriter({
    ...{ database, sealed, tokens, sizes, logger, recordingOf: () => policy },
    settings: { storeCompletions: true, keepCompletionsDays: 30, maxContentKilobytes: 256 },
    services: { analyze: () => Promise.reject(new Error("none")) } as never,
  });
  const contents = new RecordedContents({ keyring, database, sealed, tokens, sizes, writer, completions: undefined });
  const empty = statSync(file).size;
  const texts = Array.from({ length: 500 }, () => [text(300), text(150)] as const);
  const began = process.cpuUsage();
  for (let count = 0; count < requests; count += 1) {
    const [prompt = "", answer = ""] = texts[Math.floor(Math.random() * texts.length)] ?? [];
    const recording = new RequestRecording({ caller, policy, redact, guardrails: [] });
    recording.readWith(() => ({
      inputMessages: [{ role: "user", parts: [{ type: "text", content: prompt }] }],
      outputMessages: [{ role: "assistant", parts: [{ type: "text", content: answer }], finish_reason: "stop" }],
    }));
    const entry = {
      ...{ id: `req_${count.toString(16).padStart(32, "0")}`, at: Date.now(), organizationId: "org" },
      ...{ projectId: "proj", keyId: "key", operation: "chat/completions", model: "m", answeredBy: "m" },
      ...{ deployment: "m", status: 200, outcome: "finished", error: null, attempts: 1, queuedMilliseconds: 0 },
      ...{ firstTokenMilliseconds: 10, durationMilliseconds: 20, promptTokens: 400, cachedTokens: 0 },
      ...{ completionTokens: 200, characters: 0, audioMilliseconds: 0, costNanoDollars: 1, details: null },
    };
    writer.record({ entry, caller, recording, body: undefined });
    if (count % AT_ONCE === AT_ONCE - 1) await writer.flush();
  }
  await writer.flush();
  const { user, system } = process.cpuUsage(began);
  const search = async (query: string) => {
    const start = performance.now();
    const { signal } = new AbortController();
    const page = { after: undefined, limit: 20, signal };
    const { entries } = await contents.search({ organizationId: "org" }, query, page);
    return `${entries.length} in ${(performance.now() - start).toFixed(0)} ms`;
  };
  const read = performance.now();
  await contents.find("org", `req_${(requests / 2).toString(16).padStart(32, "0")}`);
  const foundMs = performance.now() - read;
  const bytes = (statSync(file).size - empty) / requests;
  console.log(
    `${name}: ${((user + system) / requests).toFixed(0)} µs of CPU and ${bytes.toFixed(0)} bytes a request, one found in ${foundMs.toFixed(0)} ms` +
      (isSearchable ? `, a common word ${await search("w1")}, a rare one ${await search("wzzz")}` : ""),
  );
  await writer.close();
  await database.close();
  rmSync(directory, { recursive: true });
}

const SAMPLE = `${(text(450).length / 1000).toFixed(1)} kB of text`;
console.log(`${requests} requests with about ${SAMPLE} each, SQLite`);
await measure("encrypted", [], false);
await measure("and masked", ["pii", "secrets"], false);
await measure("and searchable", ["pii", "secrets"], true);

import { createHash, randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HubServer } from "../../../test/support/models/hub-server.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../../test/support/service/temporary-directory.ts";
import { Secret } from "../../kernel/secret.ts";
import { type HubSettings, HuggingFaceSource } from "./hugging-face.ts";
import type { ExpectedFile, FetchedFile } from "./source.ts";

const LOCATION = { source: "hugging-face", repository: "owner/repo", revision: "main", path: "model.gguf" } as const;
const RESOLVE = "owner/repo/resolve/main/model.gguf";
const UNKNOWN: ExpectedFile = { bytes: undefined, sha256: undefined };

let hub: HubServer;
let folder: TemporaryDirectory;
const content = randomBytes(300_000);
const contentSha256 = createHash("sha256").update(content).digest("hex");

beforeEach(async () => {
  hub = await HubServer.start();
  folder = await temporaryDirectory();
});

afterEach(async () => {
  await hub[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

function source(settings: Partial<HubSettings> = {}): HuggingFaceSource {
  return new HuggingFaceSource({
    endpoint: hub.endpoint,
    token: undefined,
    offline: false,
    retryDelayMs: 1,
    ...settings,
  });
}

interface FetchParts {
  expected?: ExpectedFile;
  signal?: AbortSignal;
  onProgress?: (received: number, total: number | undefined) => void;
}

async function fetchFrom(hubSource: HuggingFaceSource, parts: FetchParts = {}): Promise<FetchedFile> {
  const scratchDirectory = join(folder.path, "scratch");
  await mkdir(scratchDirectory, { recursive: true });
  return hubSource.fetch(LOCATION, {
    expected: UNKNOWN,
    destination: join(folder.path, "model.gguf"),
    scratchDirectory,
    signal: new AbortController().signal,
    onProgress: () => {},
    ...parts,
  });
}

const written = () => readFile(join(folder.path, "model.gguf"));

describe("an existing file", () => {
  test("is downloaded through the redirect, with the hub's hash and progress for every byte", async () => {
    hub.add(RESOLVE, content);
    const seen: (number | undefined)[][] = [];
    const fetched = await fetchFrom(source(), { onProgress: (...progress) => void seen.push(progress) });
    expect(fetched).toEqual({ bytes: content.length, sha256: contentSha256, statedSha256: contentSha256 });
    expect(await written()).toEqual(content);
    expect(seen.at(-1)).toEqual([content.length, content.length]);
    expect(hub.seen.map(({ host }) => host)).toEqual(["hub", "bytes"]);
  });

  test("is downloaded from a mirror without a hash, and hashed on arrival", async () => {
    hub.add(RESOLVE, content, { linkedSha256: undefined });
    const fetched = await fetchFrom(source());
    expect(fetched).toEqual({ bytes: content.length, sha256: contentSha256, statedSha256: undefined });
  });

  test("has its path and revision encoded", async () => {
    hub.add("owner/repo/resolve/refs%2Fpr%2F1/some dir/ä.gguf", content);
    const destination = join(folder.path, "odd.gguf");
    await source().fetch(
      { ...LOCATION, revision: "refs/pr/1", path: "some dir/ä.gguf" },
      {
        expected: UNKNOWN,
        destination,
        scratchDirectory: folder.path,
        signal: new AbortController().signal,
        onProgress: () => {},
      },
    );
    expect(await readFile(destination)).toEqual(content);
  });

  test("is refused before the download when the hub states another hash or size", async () => {
    hub.add(RESOLVE, content);
    const sha256 = "0".repeat(64);
    await expect(fetchFrom(source(), { expected: { bytes: undefined, sha256 } })).rejects.toThrow(
      `expected SHA-256 ${sha256}, the hub has ${contentSha256}`,
    );
    await expect(fetchFrom(source(), { expected: { bytes: 7, sha256: undefined } })).rejects.toThrow(
      `expected 7 bytes, the hub has ${content.length}`,
    );
    await expect(written()).rejects.toThrow(/ENOENT/);
  });
});

describe("the token", () => {
  test("goes to the hub and not to the host that it redirects to", async () => {
    hub.add(RESOLVE, content, { gatedFor: "hf_secret" });
    await fetchFrom(source({ token: new Secret("hf_secret") }));
    expect(hub.requestsTo("hub")[0]?.authorization).toBe("Bearer hf_secret");
    expect(hub.requestsTo("bytes").map(({ authorization }) => authorization)).toEqual([undefined]);
  });

  test("is named in the error for a gated model without a token", async () => {
    hub.add(RESOLVE, content, { gatedFor: "hf_secret" });
    await expect(fetchFrom(source())).rejects.toThrow(
      `the hub answered 401 GatedRepo for owner/repo; it may be gated, private or missing: ` +
        `accept its terms at ${hub.endpoint}/owner/repo and set HF_TOKEN to a token of that account`,
    );
  });

  test("that gives no access is never shown", async () => {
    hub.add(RESOLVE, content, { gatedFor: "hf_secret" });
    const failure = await fetchFrom(source({ token: new Secret("hf_wrong") })).catch((error: Error) => error);
    expect(failure).toMatchObject({ name: "Fault", message: expect.stringContaining("403 GatedRepo") });
    expect(failure).toMatchObject({ message: expect.stringContaining("the token in HF_TOKEN gives no access") });
    expect(JSON.stringify(failure) + String(failure)).not.toContain("hf_wrong");
  });
});

test("throws a Fault that names repository, file and revision of a missing file", async () => {
  await expect(fetchFrom(source())).rejects.toMatchObject({
    kind: "not-found",
    message: "the hub answered 404 EntryNotFound: owner/repo has no file model.gguf in revision main",
  });
});

describe("an interrupted download", () => {
  test("resumes where it stopped, as often as it makes progress", async () => {
    hub.add(RESOLVE, content);
    hub.cuts.push(70_000, 50_000, 1_000, 2_000, 3_000, 4_000, 5_000);
    const fetched = await fetchFrom(source());
    expect(fetched.sha256).toBe(contentSha256);
    expect(await written()).toEqual(content);
    const [first, second, ...others] = hub.requestsTo("bytes");
    expect(first).toMatchObject({ range: undefined, ifRange: undefined });
    expect(second).toMatchObject({ range: expect.stringMatching(/^bytes=[1-9]\d*-$/), ifRange: '"bytes-1"' });
    expect(others).toHaveLength(6);
  });

  test("starts over when the file has changed", async () => {
    hub.add(RESOLVE, Buffer.concat([randomBytes(100_000), content]), { linkedSha256: undefined });
    hub.cuts.push(60_000);
    const change = () => {
      hub.etagVersion = 2;
      hub.add(RESOLVE, content, { linkedSha256: undefined });
    };
    const fetched = await fetchFrom(source(), { onProgress: () => hub.etagVersion === 1 && change() });
    expect(hub.requestsTo("bytes")[1]).toMatchObject({ ifRange: '"bytes-1"' });
    expect(fetched.sha256).toBe(contentSha256);
    expect(await written()).toEqual(content);
  });

  test("fails after five consecutive attempts without progress", async () => {
    hub.add(RESOLVE, content);
    hub.cuts.push(1_000, 0, 0, 0, 0, 0);
    await expect(fetchFrom(source())).rejects.toMatchObject({
      kind: "upstream-failed",
      message: expect.stringContaining("given up after 5 attempts in a row: the download was cut off"),
    });
    const kept = await written();
    expect(kept.length).toBeGreaterThan(0);
    expect(kept).toEqual(content.subarray(0, kept.length));
  });

  test("includes one that stalls", async () => {
    hub.add(RESOLVE, content);
    const { promise: forever, resolve: letGo } = Promise.withResolvers<void>();
    hub.hold = forever;
    const onProgress = () => {
      hub.hold = undefined;
    };
    const fetched = await fetchFrom(source({ idleMs: 300 }), { onProgress });
    expect(fetched.sha256).toBe(contentSha256);
    expect(hub.requestsTo("bytes").map(({ range }) => range)).toEqual([undefined, "bytes=1-"]);
    letGo();
  });

  test("resumes in a later run", async () => {
    hub.add(RESOLVE, content);
    hub.cuts.push(120_000, 0, 0, 0, 0, 0);
    await expect(fetchFrom(source())).rejects.toThrow(/given up/);
    const fetched = await fetchFrom(source());
    expect(fetched).toEqual({ bytes: content.length, sha256: contentSha256, statedSha256: contentSha256 });
    expect(hub.requestsTo("bytes").at(-1)?.range).toMatch(/^bytes=[1-9]\d*-$/);
  });

  test("needs only verification after the last byte", async () => {
    hub.add(RESOLVE, content);
    await fetchFrom(source());
    const fetched = await fetchFrom(source());
    expect(fetched.sha256).toBe(contentSha256);
    expect(hub.requestsTo("bytes").map(({ range }) => range)).toEqual([undefined, `bytes=${content.length}-`]);
  });

  test("starts over when the origin of the partial file is unknown", async () => {
    hub.add(RESOLVE, content);
    await writeFile(join(folder.path, "model.gguf"), "left by something else");
    expect((await fetchFrom(source())).sha256).toBe(contentSha256);
    expect(hub.requestsTo("bytes")[0]?.range).toBeUndefined();
  });
});

describe("a failing hub", () => {
  test("is retried while it is busy", async () => {
    hub.add(RESOLVE, content);
    hub.statuses.push(503, 429, 500);
    expect((await fetchFrom(source())).sha256).toBe(contentSha256);
  });

  test("fails the download when it stays busy", async () => {
    hub.statuses.push(503, 503, 503, 503, 503);
    await expect(fetchFrom(source())).rejects.toThrow("given up after 5 attempts in a row: the hub answered 503");
  });

  test("counts as unreachable when it accepts the connection and never answers", async () => {
    hub.isSilent = true;
    await expect(fetchFrom(source({ unreachableAfterMs: 150 }))).rejects.toMatchObject({
      name: "SourceUnreachable",
      message: expect.stringContaining("no answer within 0.15 s"),
    });
  });

  test("counts as unreachable after 5 seconds by default", async () => {
    hub.isSilent = true;
    const startedAt = performance.now();
    await expect(fetchFrom(source())).rejects.toThrow("no answer within 5 s");
    expect(performance.now() - startedAt).toBeGreaterThan(4_900);
  });

  test("counts as unreachable when the port is closed or the host name is unknown", async () => {
    const unused = await unusedPort();
    await expect(fetchFrom(source({ endpoint: `http://127.0.0.1:${unused}` }))).rejects.toMatchObject({
      name: "SourceUnreachable",
      message: expect.stringContaining("ECONNREFUSED"),
    });
    await expect(fetchFrom(source({ endpoint: "http://hub.invalid" }))).rejects.toMatchObject({
      name: "SourceUnreachable",
      message: expect.stringContaining("hub.invalid cannot be reached"),
    });
  });

  test("is not contacted when HF_HUB_OFFLINE is set", async () => {
    hub.add(RESOLVE, content);
    await expect(fetchFrom(source({ offline: true }))).rejects.toThrow("HF_HUB_OFFLINE is set");
    expect(hub.seen).toEqual([]);
  });
});

test("ends a download on abort with the signal's reason", async () => {
  hub.add(RESOLVE, content);
  const { promise: forever, resolve: letGo } = Promise.withResolvers<void>();
  hub.hold = forever;
  const controller = new AbortController();
  const reason = new Error("enough");
  await expect(
    fetchFrom(source(), { signal: controller.signal, onProgress: () => controller.abort(reason) }),
  ).rejects.toBe(reason);
  letGo();
});

async function unusedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}

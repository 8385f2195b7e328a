/**
 * The operating system's sandbox for a program of Node.js: bubblewrap, which gives it namespaces without network, files
 * and other processes, and a filter of system calls.
 */

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { Child, type Confinement } from "./child.ts";
import { seccompFilter } from "./seccomp-filter.ts";
import { isExhausted, toStartFault } from "./start-fault.ts";

const run = promisify(execFile);
const BUBBLEWRAP = "bwrap";
const SHELL = "/bin/sh";
/** Inside, it is nobody. */
const UID = "65534";
const TIMEOUT_MS = 20_000;
/** Where system libraries are: for native code, and for a program whose loader does not name its files. */
export const LIBRARY_FOLDERS = ["/lib", "/lib64", "/usr/lib"];
/** No core dumps, no files, bounded private memory. The kernel refuses what exceeds it, without a poll in between. */
const RUN_WITH_LIMITS = 'ulimit -c 0; ulimit -f 0; ulimit -d "$1" || exit 1; shift; exec "$@"';

/** Private memory that Node.js reserves before it does anything, 512 MiB of it for code. */
const BASE_DATA_BYTES = 640 * 1024 ** 2;

export interface OsSandbox {
  /** Such as `bubblewrap 0.8.0`. */
  readonly version: string;
  /** Runs Node.js, as `program` is, with these files and folders only. */
  confine(files: readonly string[], maxDataBytes: number): Confinement;
}

export type OsSandboxSearch = { sandbox: OsSandbox } | { problem: string };

let search: Promise<OsSandboxSearch> | undefined;

/**
 * Finds what this machine has, by a trial of it. A sandbox is not installed while the process runs. Throws a Fault when
 * the system has nothing left for the trial, which the next call repeats.
 */
export function findOsSandbox(): Promise<OsSandboxSearch> {
  search ??= examine().catch((error: unknown) => {
    search = undefined;
    throw toStartFault(error);
  });
  return search;
}

async function examine(): Promise<OsSandboxSearch> {
  if (process.platform !== "linux") return { problem: "it needs Linux" };
  const version = await run(BUBBLEWRAP, ["--version"], { timeout: TIMEOUT_MS }).then(
    ({ stdout }) => stdout.trim(),
    unlessExhausted,
  );
  if (version === undefined) return { problem: "bubblewrap (bwrap) is not installed" };
  const libraries = await librariesOf(process.execPath);
  const sandbox: OsSandbox = {
    version,
    confine: (files, maxDataBytes) => confine([...libraries, ...files], maxDataBytes),
  };
  const problem = await trial(sandbox);
  return problem === undefined ? { sandbox } : { problem: `bubblewrap does not work here: ${problem}` };
}

function confine(files: readonly string[], maxDataBytes: number): Confinement {
  const filter = seccompFilter();
  return {
    filter,
    wrap: ({ program, args, filterDescriptor }) => ({
      program: SHELL,
      args: [
        ...["-c", RUN_WITH_LIMITS, "sh", String(Math.ceil((maxDataBytes + BASE_DATA_BYTES) / 1024)), BUBBLEWRAP],
        ...["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"],
        ...["--unshare-cgroup-try", "--uid", UID, "--gid", UID, "--cap-drop", "ALL", "--hostname", "sandbox"],
        ...["--die-with-parent", "--new-session", "--clearenv", "--chdir", "/"],
        ...[program, ...files].flatMap((path) => ["--ro-bind-try", path, path]),
        // The root is a file system in memory, which could be filled otherwise.
        ...["--remount-ro", "/"],
        ...(filter === undefined ? [] : ["--seccomp", String(filterDescriptor)]),
        ...["--", program, ...args],
      ],
    }),
  };
}

/** Returns the problem; undefined: it works. */
async function trial(sandbox: OsSandbox): Promise<string | undefined> {
  const child = new Child({
    program: process.execPath,
    args: ["--version"],
    environment: { PATH: process.env.PATH },
    stdio: ["ignore", "ignore", "pipe"],
    confinement: sandbox.confine([], 0),
  });
  const errors = await text(child.output(2)).catch(() => "");
  const { cause, code, error } = await child.ended;
  unlessExhausted(error);
  if (cause === "exit" && code === 0) return undefined;
  return errors.trim().split("\n").at(-1) || `it ended with ${code ?? cause}`;
}

/** Files that the loader gives to a program. */
async function librariesOf(program: string): Promise<string[]> {
  const { stdout } = await run(program, ["--version"], {
    // The loader of glibc lists what it would load, and starts nothing.
    env: { LD_TRACE_LOADED_OBJECTS: "1" },
    timeout: TIMEOUT_MS,
  }).catch((error: unknown) => unlessExhausted(error) ?? { stdout: "" });
  const files = [...stdout.matchAll(/(?:=>|^)\s*(\/\S+)/gm)].map(([, path]) => path ?? "");
  return files.length > 0 ? files : LIBRARY_FOLDERS.filter((folder) => existsSync(folder));
}

/** Rethrows an error that says nothing about the sandbox: what it hides would run without one for good. */
function unlessExhausted(error: unknown): undefined {
  if (isExhausted(error)) throw error;
  return undefined;
}

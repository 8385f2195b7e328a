/** Processes of the benchmark: pinned to cores, measured with their children through /proc. */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Command } from "./gateways.ts";

const TICKS_PER_SECOND = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));
const PAGE_BYTES = Number(execFileSync("getconf", ["PAGESIZE"], { encoding: "utf8" }));

/** Starts a command on these cores (as for `taskset -c`), in a process group of its own; its output goes to a file. */
export function startPinned({ command, args, cwd, env }: Command, cores: string, log: string): ChildProcess {
  const output = openSync(log, "a");
  return spawn("taskset", ["-c", cores, command, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", output, output],
    detached: true,
  });
}

/** Starts the mock upstream, which prints its port. */
export async function startMock(binary: string, args: string[], cores: string) {
  const child = spawn("taskset", ["-c", cores, binary, "0", ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  return { port: Number(line), origin: `http://127.0.0.1:${line}`, stop: () => end(child) };
}

export async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => signalGroup(child, "SIGKILL"), 10_000);
  await ended;
  clearTimeout(timer);
  signalGroup(child, "SIGKILL");
}

/** Also ends children that outlived the process. */
function signalGroup({ pid = 0 }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // No process of the group is left.
  }
}

/** The process and all its descendants. */
function tree(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
    return [
      pid,
      ...children
        .split(" ")
        .filter(Boolean)
        .flatMap((child) => tree(Number(child))),
    ];
  } catch {
    return [];
  }
}

export function cpuSeconds(pid: number): number {
  let ticks = 0;
  for (const each of tree(pid)) {
    const fields = statOf(each);
    ticks += Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
  }
  return ticks / TICKS_PER_SECOND;
}

/** Resident memory of the process and its descendants; pages that they share count once for each. */
export function residentMegabytes(pid: number): number {
  const pages = tree(pid).reduce((sum, each) => sum + Number(statOf(each)[21] ?? 0), 0);
  return (pages * PAGE_BYTES) / 2 ** 20;
}

/** Fields of /proc/PID/stat after the name, which may contain spaces; empty for a process that has ended. */
function statOf(pid: number): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}

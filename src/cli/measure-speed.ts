import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { siblingModule } from "../engines/host/sibling-module.ts";

const run = promisify(execFile);
const TIMEOUT_MS = 120_000;

/** Tokens per second of a GGUF model on this machine, in a process of its own; undefined where it does not run. */
export async function measureSpeed(path: string): Promise<number | undefined> {
  const module = fileURLToPath(siblingModule(import.meta.url, "./measure-speed-child"));
  try {
    const { stdout } = await run(process.execPath, [module, path], { timeout: TIMEOUT_MS });
    const speed = Number(stdout.trim().split("\n").at(-1));
    return Number.isFinite(speed) && speed > 0 ? speed : undefined;
  } catch {
    return undefined;
  }
}

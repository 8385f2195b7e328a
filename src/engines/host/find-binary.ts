import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { unavailable } from "../../kernel/faults.ts";

/**
 * Absolute path of a program, from a path or a name on PATH. Throws a Fault that says where it was searched. `program`:
 * what the program is, such as `llama.cpp's server`; `install`: how to get it.
 */
export async function findBinary(
  name: string,
  { program, install }: { program: string; install: string },
): Promise<string> {
  const isPath = isAbsolute(name) || name.includes("/") || name.includes("\\");
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const candidates = isPath ? [resolve(name)] : folders.flatMap((folder) => namesOf(name).map((n) => join(folder, n)));
  for (const candidate of candidates) if (await isExecutable(candidate)) return candidate;
  const where = isPath ? "is not an executable file" : "is not on PATH";
  throw unavailable(`${program} cannot be started: ${name} ${where}. ${install}`, "engine_failed", 60);
}

function namesOf(name: string): string[] {
  return process.platform === "win32" && !name.toLowerCase().endsWith(".exe") ? [`${name}.exe`] : [name];
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

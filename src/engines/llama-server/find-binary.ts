import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { unavailable } from "../../kernel/faults.ts";

/** Absolute path of a program given by path, or by name on PATH. Throws a Fault that says where it was searched. */
export async function findBinary(name: string): Promise<string> {
  const isPath = isAbsolute(name) || name.includes("/") || name.includes("\\");
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const candidates = isPath ? [resolve(name)] : folders.flatMap((folder) => namesOf(name).map((n) => join(folder, n)));
  for (const candidate of candidates) if (await isExecutable(candidate)) return candidate;
  const where = isPath ? "is not an executable file" : "is not on PATH";
  throw unavailable(
    `llama.cpp's server cannot be started: ${name} ${where}. Install llama.cpp, or name its llama-server in the deployment's \`binary\`.`,
    "engine_failed",
    60,
  );
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

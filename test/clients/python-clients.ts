/** Runs the Python clients of this suite, each in an environment with pinned versions. */

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import type { ClientCheck } from "./clients-table.ts";

const run = promisify(execFile);
const PYTHON = process.env.PYTHON ?? "python3";
/** Folder of the scripts that drive one client each. */
export const PYTHON_SCRIPTS = resolve(import.meta.dirname, "python");
const ENVIRONMENTS = resolve(import.meta.dirname, "../../node_modules/.cache/python-clients");

export interface ServiceAddress {
  baseUrl: string;
  apiKey: string;
}

/** Installs a requirements file into a virtual environment of its name and returns its interpreter. Throws when pip fails. */
export async function installPythonClients(requirements: string, python = PYTHON): Promise<string> {
  const environment = join(ENVIRONMENTS, requirements.replace(/\.txt$/, ""));
  await mkdir(ENVIRONMENTS, { recursive: true });
  const interpreter = join(environment, "bin", "python");
  if (!existsSync(interpreter)) await run(python, ["-m", "venv", environment]);
  await run(interpreter, ["-m", "pip", "install", "--quiet", "--requirement", join(PYTHON_SCRIPTS, requirements)], {
    maxBuffer: 1 << 26,
  });
  return interpreter;
}

/** Environment of the scripts: nothing of this process's except PATH and HOME. */
export function pythonClientEnvironment({ baseUrl, apiKey }: ServiceAddress, chatModel: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    PARLANCE_BASE_URL: baseUrl,
    PARLANCE_API_KEY: apiKey,
    PARLANCE_CHAT_MODEL: chatModel,
    PYTHONDONTWRITEBYTECODE: "1",
    ...(process.env.CLIENT_LOG && { CLIENT_LOG: process.env.CLIENT_LOG }),
  };
}

/** Runs one script of `test/clients/python` against the service and returns its checks, in order. */
export async function runPythonClient(
  interpreter: string,
  script: string,
  service: ServiceAddress,
  chatModel: string,
): Promise<ClientCheck[]> {
  // A failed check ends the script with 1, but is still reported on standard output.
  const { stdout, stderr } = await run(interpreter, [join(PYTHON_SCRIPTS, script)], {
    env: pythonClientEnvironment(service, chatModel),
  }).catch((failure: { stdout: string; stderr: string }) => failure);
  const checks = stdout.split("\n").filter((line) => line.startsWith('{"client"'));
  if (checks.length === 0) throw new Error(`${script} reported nothing:\n${stderr}`);
  return checks.map((line) => JSON.parse(line) as ClientCheck);
}

/** What the commands on resources of a project share. */

import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { Fault, invalidRequest } from "../kernel/faults.ts";
import type { ServiceOptions } from "./with-service.ts";

export interface ProjectOptions extends ServiceOptions {
  json?: true;
}

export function addProjectOptions(command: Command): Command {
  return command
    .option("--json", "print the answer as JSON")
    .option("--url <url>", "URL of the service; default: the one that runs with this data directory")
    .option(
      "--key <key>",
      "key of a project; default: $PARLANCE_KEY, otherwise a temporary one of the default project",
    );
}

/** Prints an answer as JSON if the options ask for it, otherwise the text. */
export function print({ json }: ProjectOptions, answer: unknown, text: string): void {
  console.log(json === true ? JSON.stringify(answer, undefined, 2) : text);
}

/** Throws a Fault for a file that cannot be read. */
export async function readInput(file: string): Promise<Buffer> {
  return readFile(file).catch((failure: NodeJS.ErrnoException) => {
    throw new Fault("not-found", `${file} cannot be read (${failure.code}).`, { cause: failure });
  });
}

/** Throws a Fault for a file that is not JSON. `content`: what it should have, for the message. */
export async function readJsonFile(file: string, content: string): Promise<unknown> {
  try {
    return JSON.parse((await readInput(file)).toString());
  } catch (failure) {
    if (failure instanceof Fault) throw failure;
    const reason = failure instanceof Error ? failure.message : String(failure);
    throw invalidRequest(`${file} has no ${content}: ${reason}.`);
  }
}

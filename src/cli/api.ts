/** `parlance api`: calls any operation of the administration API with the operator's rights. */

import { text } from "node:stream/consumers";
import { Command } from "commander";
import { Fault } from "../kernel/faults.ts";
import { findOrganization } from "./find-account.ts";
import { printable } from "./printable.ts";
import type { ServiceClient } from "./service-client.ts";
import { untilInterrupted } from "./until-interrupted.ts";
import { addServiceOptions, withAdministration } from "./with-administration.ts";
import type { ServiceOptions } from "./with-service.ts";

interface Options extends ServiceOptions {
  method?: string;
  data?: string;
  organization?: string;
}

export function apiCommand(): Command {
  const command = new Command("api")
    .argument("<path>", "path of the operation with its query, such as /v1/organization/projects?limit=5")
    .option("-X, --method <method>", "HTTP method; default: POST with --data, otherwise GET")
    .option("-d, --data <json>", "JSON body; - reads it from standard input")
    .option("--organization <organization>", "ID or name of another organization than the first one");
  return addServiceOptions(command).action(async (path: string, options: Options) => {
    const request = await readRequest(path, options);
    await withAdministration(options, (client) =>
      untilInterrupted((signal) => call(client, request, options.organization, signal)),
    );
  });
}

interface AdministrationRequest {
  method: string;
  path: string;
  body: unknown;
}

/** Reads standard input before there is a key, so that an interrupt ends the command. */
async function readRequest(path: string, { data, method }: Options): Promise<AdministrationRequest> {
  if (!path.startsWith("/")) {
    throw new Fault("invalid-request", `${path} is no path, which begins with /, such as /v1/organization/projects.`);
  }
  const body = data === undefined ? undefined : parseBody(data === "-" ? await text(process.stdin) : data);
  return { method: (method ?? (data === undefined ? "GET" : "POST")).toUpperCase(), path, body };
}

async function call(
  installation: ServiceClient,
  { method, path, body }: AdministrationRequest,
  organization: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const client =
    organization === undefined
      ? installation
      : installation.inOrganization((await findOrganization(installation, organization)).id);
  const answer = await client.send(method, path, body, signal);
  if (answer.headers.get("content-type")?.includes("json")) {
    console.log(shown(JSON.stringify(await answer.json(), undefined, 2)));
    return;
  }
  // Such as the events of new requests, which come one after the other.
  for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) process.stdout.write(shown(piece));
}

function parseBody(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (failure) {
    throw new Fault("invalid-request", `--data is not JSON: ${(failure as Error).message}`, { cause: failure });
  }
}

function shown(piece: string): string {
  return process.stdout.isTTY ? printable(piece) : piece;
}

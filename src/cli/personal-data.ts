/** `parlance users export` and `users erase`: what is stored of a user, or of the end user of an application. */

import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import { Fault } from "../kernel/faults.ts";
import type { AnswerOf } from "../wire/openapi/named.ts";
import type { Erasure } from "../wire/openapi/people-answers.ts";
import type { ServiceClient } from "./service-client.ts";
import { addServiceOptions, withAdministration } from "./with-administration.ts";
import type { ServiceOptions } from "./with-service.ts";

interface Options extends ServiceOptions {
  endUser?: true;
}

type FindUser = (client: ServiceClient, idOrEmail: string) => Promise<{ id: string; email: string }>;

const PERSON = "ID or address of the user; with --end-user: the end user as requests name it";

/** Adds both commands to `users`. */
export function addPersonalData(command: Command, findUser: FindUser): void {
  const pathOf = async (client: ServiceClient, person: string, { endUser }: Options) => {
    if (endUser === true) return { path: `/v1/organization/end_users/${encodeURIComponent(person)}`, name: person };
    const { id, email } = await findUser(client, person);
    return { path: `/v1/organization/users/${id}`, name: email };
  };
  addServiceOptions(
    command
      .command("export")
      .description("Export everything that is stored of a user, as JSON Lines")
      .argument("<user>", PERSON)
      .option("--end-user", "the user of an application, not of Parlance")
      .option("--output <file>", "file to create; default: standard output"),
  ).action((person: string, { output, ...options }: Options & { output?: string }) =>
    withAdministration(options, async (client) => {
      const { path } = await pathOf(client, person, options);
      const { body } = await client.send("GET", `${path}/export`);
      const lines = Readable.from(body ?? []);
      if (output === undefined) await pipeline(lines, process.stdout, { end: false });
      // Only for the user: the file has personal data.
      else await pipeline(lines, createWriteStream(output, { flags: "wx", mode: 0o600 }));
      if (output !== undefined) console.log(`Exported to ${output}.`);
    }),
  );
  addServiceOptions(
    command
      .command("erase")
      .description("Erase everything that is stored of a user; sums of usage remain, under a pseudonym")
      .argument("<user>", PERSON)
      .option("--end-user", "the user of an application, not of Parlance")
      .option("--yes", "confirms that it cannot be undone")
      .option("--json", "print what was erased as JSON"),
  ).action((person: string, { yes, json, ...options }: Options & { yes?: true; json?: true }) =>
    withAdministration(options, async (client) => {
      const { path, name } = await pathOf(client, person, options);
      if (yes !== true) {
        throw new Fault("invalid-request", `Erasing ${name} cannot be undone. Export first, then add --yes.`);
      }
      const erasure = await client.read<AnswerOf<typeof Erasure>>("POST", `${path}/erase`, {});
      const count = Object.values(erasure.rows).reduce((sum, rows) => sum + rows, 0);
      const text = `Erased ${name}: ${count} rows. Usage remains under ${erasure.pseudonym}.`;
      console.log(json === true ? JSON.stringify(erasure, undefined, 2) : text);
    }),
  );
}

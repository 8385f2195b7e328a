/** `parlance console`: prints a link that signs in to the console of the running service. */

import { Command } from "commander";
import { signInLink } from "./sign-in-link.ts";
import { type ServiceOptions, withService } from "./with-service.ts";

export function consoleCommand(): Command {
  return new Command("console")
    .option("--url <url>", "URL of the service; default: the one that runs with the data directory")
    .option("--key <key>", "admin key, as PARLANCE_ADMIN_KEY; default: a temporary one")
    .action(printLink);
}

async function printLink(options: ServiceOptions): Promise<void> {
  await withService("admin", options, async ({ origin, send }) => {
    const answer = await send("POST", "/v1/organization/console_sign_in_codes");
    const { code } = (await answer.json()) as { code: string };
    console.log(signInLink(origin, code));
    console.error("The link signs in once, within an hour.");
  });
}

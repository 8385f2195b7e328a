/** `parlance licenses`: lists the licenses of what is installed and of the models on this machine. */

import { Command } from "commander";
import type { ModelStore } from "../model-store/model-store.ts";
import { formatTable } from "./format-table.ts";
import { installedPackages } from "./installed-licenses.ts";

/** Licenses with conditions beyond keeping the notice, which companies ask about. */
const CONDITIONAL = /GPL|MPL|EPL|CDDL|BSD-4|BSD-like|not stated|SEE|Terms|Community/;

interface Licensed {
  kind: "package" | "model";
  name: string;
  license: string;
  contains?: string;
}

export interface LicensesCommandParts {
  openStore: (access: "read" | "write") => Promise<ModelStore>;
}

export function licensesCommand({ openStore }: LicensesCommandParts): Command {
  return new Command("licenses")
    .option("--all", "include licenses that only require keeping the notice, such as MIT and Apache-2.0")
    .option("--json", "print everything as JSON")
    .action(async (options: { all?: true; json?: true }) => {
      const listed = await listLicenses(await openStore("read"));
      if (options.json === true) {
        console.log(JSON.stringify(listed, undefined, 2));
        return;
      }
      const shown = options.all === true ? listed : listed.filter(isConditional);
      const rows = shown.map(({ kind, name, license, contains = "" }) => [kind, name, license, contains]);
      console.log(formatTable(["KIND", "NAME", "LICENSE", "CONTAINS"], rows));
      const others = listed.length - shown.length;
      if (others > 0) console.log(`\n${others} more have permissive licenses; --all lists them.`);
    });
}

async function listLicenses(store: ModelStore): Promise<Licensed[]> {
  const packages = installedPackages(import.meta.url).map(
    ({ name, version, ...rest }): Licensed => ({ kind: "package", name: `${name}@${version}`, ...rest }),
  );
  const models = (await store.list()).map(
    ({ id, license = "not stated" }): Licensed => ({ kind: "model", name: id, license }),
  );
  return [...packages, ...models];
}

/** A choice between licenses counts as the most permissive. */
function isConditional({ license, contains = "" }: Licensed): boolean {
  const isChoice = / OR /.test(license) && license.split(" OR ").some((each) => !CONDITIONAL.test(each));
  return (!isChoice && CONDITIONAL.test(license)) || CONDITIONAL.test(contains);
}

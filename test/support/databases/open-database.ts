/** A child process that migrates and changes a database: `node open-database.ts FILE [URL]`. */

import { incrementAccountsVersion } from "../../../src/features/accounts/accounts-version.ts";
import { createLogger } from "../../../src/kernel/logger.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { openDatabase } from "../../../src/storage/database.ts";

const [file = "", url = ""] = process.argv.slice(2);
const database = openDatabase({ file, url: url === "" ? undefined : new Secret(url), logger: createLogger("silent") });
for (let change = 0; change < 50; change += 1) await database.transaction(incrementAccountsVersion);
await database.close();
console.log("ok");

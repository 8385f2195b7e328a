/** Commands of administration on a folder of data that no service uses. */

import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll } from "vitest";
import { Accounts } from "../../../src/features/accounts/accounts.ts";
import { accountExtensions } from "../../../src/serving/account-extensions.ts";
import { openDatabase } from "../../../src/storage/database.ts";
import { type Finished, runParlance } from "./run-parlance.ts";
import { type TemporaryDirectory, temporaryDirectory } from "./temporary-directory.ts";

/** Creates the folder with the first keys. Call it at the top of the file. */
export function useLocalCommands() {
  let folder: TemporaryDirectory;
  const withAccounts = async <Result>(work: (accounts: Accounts) => Promise<Result>): Promise<Result> => {
    const logger = pino({ level: "silent" });
    const database = openDatabase({ url: undefined, file: join(folder.path, "parlance.sqlite"), logger });
    const accounts = new Accounts({ database, logger, extensions: accountExtensions() });
    try {
      return await work(accounts);
    } finally {
      await accounts.close();
      await database.close();
    }
  };
  beforeAll(async () => {
    folder = await temporaryDirectory();
    await withAccounts((accounts) => accounts.ensureBootstrapKeys({ apiKey: undefined, adminKey: undefined }));
  });
  afterAll(() => folder[Symbol.asyncDispose]());

  const parlance = (...words: string[]): Promise<Finished> =>
    runParlance(words, { cwd: folder.path, environment: { PARLANCE_DATA_DIR: folder.path } });
  return { parlance, withAccounts, path: (name: string) => join(folder.path, name) };
}

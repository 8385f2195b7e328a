import type { Accounts } from "../accounts/accounts.ts";
import type { Feature } from "../feature.ts";
import { configuration, type ReadConfiguration } from "./routes.ts";

/** The settings in force, for operators to read. */
export function configurationFeature(accounts: Accounts, read: ReadConfiguration): Feature {
  return { admin: [configuration(accounts, read)] };
}

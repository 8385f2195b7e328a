import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import type { CountWrongKey } from "../../http/authenticate.ts";
import type { Accounts } from "../accounts/accounts.ts";
import type { Feature } from "../feature.ts";
import { consolePages } from "./console-pages.ts";
import { consoleSession } from "./console-session.ts";
import { signInCodes } from "./sign-in-code-routes.ts";

/** The same from `src` and from `dist`. */
const FOLDER = join(import.meta.dirname, "../../../console/dist");

/** The web console and its sessions, unless the operator disabled them. */
export function consoleFeature({ server }: Config, accounts: Accounts, countWrongKey: CountWrongKey): Feature {
  return {
    public: server.console ? [consolePages(FOLDER), consoleSession(accounts, countWrongKey)] : [],
    admin: [signInCodes(accounts)],
  };
}

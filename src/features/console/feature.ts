import { join } from "node:path";
import type { Feature } from "../../http/feature.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import { consolePages } from "./console-pages.ts";
import { consolePeople } from "./console-people.ts";
import { consoleSession } from "./console-session.ts";
import type { ConsoleSessionParts } from "./describe-session.ts";
import { signInCodes } from "./sign-in-code-routes.ts";

/** The same from `src` and from `dist`. */
const FOLDER = join(import.meta.dirname, "../../../console/dist");

/** The web console and its sessions, unless the operator disabled them. */
export function consoleFeature(parts: ConsoleSessionParts & { config: Settings }): Feature {
  const { config, accounts } = parts;
  return {
    public: config.server.console ? [consolePages(FOLDER), consoleSession(parts), consolePeople(parts)] : [],
    admin: [signInCodes(accounts)],
  };
}

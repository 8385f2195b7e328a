import { join } from "node:path";
import type { Feature } from "../../http/feature.ts";
import type { Logger } from "../../kernel/logger.ts";
import { buildInBackground } from "../../kernel/process/build-in-background.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import { docsPages } from "./docs-pages.ts";

/** The same from `src` and from `dist`. */
const FOLDER = join(import.meta.dirname, "../../../dist-docs");

/** The documentation, which the console links to. */
export function docsFeature({ config, logger }: { config: Settings; logger: Logger }): Feature {
  let isPrepared = false;
  const prepare = () => {
    if (isPrepared) return;
    isPrepared = true;
    buildInBackground(logger, { script: "build-docs.mjs", args: ["--if-stale"], subject: "the documentation" });
  };
  return { public: config.server.console ? [docsPages(FOLDER, prepare)] : [] };
}

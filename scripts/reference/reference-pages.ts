/** Generators of the pages in docs/reference and of the console's types, by path. */

import { fieldsPage } from "../fields/fields-page.ts";
import { apiReference } from "./api-reference.ts";
import { cliReference } from "./cli-reference.ts";
import { consoleTypes } from "./console-types.ts";
import { eventsReference } from "./events-reference.ts";
import { metricsReference } from "./metrics-reference.ts";
import { modelCards } from "./model-cards.ts";
import { rolesReference } from "./roles-reference.ts";

export const GENERATED_PAGES: Readonly<Record<string, () => Promise<string>>> = {
  "console/src/api/answers.ts": consoleTypes,
  "docs/reference/api.md": apiReference,
  "docs/reference/cli.md": cliReference,
  "docs/reference/events.md": eventsReference,
  "docs/reference/fields.md": async () => fieldsPage(),
  "docs/reference/local-models.md": modelCards,
  "docs/reference/metrics.md": metricsReference,
  "docs/reference/roles.md": rolesReference,
};

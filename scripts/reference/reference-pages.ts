/** Generators of the pages in docs/reference, by path. */

import { apiReference } from "./api-reference.ts";
import { cliReference } from "./cli-reference.ts";
import { metricsReference } from "./metrics-reference.ts";

export const GENERATED_PAGES: Readonly<Record<string, () => Promise<string>>> = {
  "docs/reference/api.md": apiReference,
  "docs/reference/cli.md": cliReference,
  "docs/reference/metrics.md": metricsReference,
};

import type { FastifyPluginAsync } from "fastify";
import { operation, routes } from "../../http/operation.ts";
import { invalidRequest } from "../../kernel/faults.ts";
import {
  ChangeQuery,
  CompareQuery,
  ImportBody,
  toConfigurationComparison,
  toConfigurationVersion,
  VersionsQuery,
} from "../../wire/openai/organization/organization-entries.ts";
import { toListBody } from "../../wire/openai/organization/organization-list.ts";
import {
  ConfigurationComparison,
  ConfigurationImported,
  ConfigurationRestored,
  ConfigurationVersionList,
} from "../../wire/openapi/configuration-answers.ts";
import { type Accounts, READ, requireDefaultOrganization, WRITE } from "../accounts/index.ts";
import type { ConfigurationStore } from "./configuration-store.ts";
import type { ConfigurationEntries } from "./entries.ts";
import { changeOf } from "./entry-routes.ts";

/** /v1/organization/configuration/versions: who changed what, comparison and return to an earlier version. */
export function configurationVersions(
  accounts: Accounts,
  store: ConfigurationStore,
  entries: ConfigurationEntries,
): FastifyPluginAsync {
  return routes(
    (app) => requireDefaultOrganization(app, accounts),
    operation(
      "GET /configuration/versions",
      {
        ...READ,
        summary: "Lists the versions of the configuration, newest first. Not in OpenAI's API.",
        query: VersionsQuery,
        answer: ConfigurationVersionList,
      },
      async ({ query }) => {
        const { before, limit } = query;
        const rows = await store.versions({ before, limit: limit + 1 });
        return toListBody({ entries: rows.slice(0, limit), hasMore: rows.length > limit }, toConfigurationVersion);
      },
    ),
    operation(
      "GET /configuration/versions/:version",
      {
        ...READ,
        summary: "Compares a version of the configuration with the one before, or with another. Not in OpenAI's API.",
        query: CompareQuery,
        answer: ConfigurationComparison,
      },
      async ({ params, query }) => {
        const to = versionIn(params.version);
        const { from = Math.max(0, to - 1) } = query;
        if (from > to) throw invalidRequest("'from' must not be above the version of the path.", "from");
        return toConfigurationComparison({ from, to, changes: await entries.compare(from, to) });
      },
    ),
    operation(
      "POST /configuration/import",
      {
        ...WRITE,
        summary: "Creates and replaces many entries as one version: all of them, or none. Not in OpenAI's API.",
        query: ChangeQuery,
        body: ImportBody,
        answer: ConfigurationImported,
      },
      async ({ body, request }) => {
        const written = body.entries.map(({ kind, name, value }) => ({ kind, name, value: value ?? null }));
        const version = await entries.import(changeOf(request), written, body.replace);
        return { object: "organization.configuration.imported" as const, version };
      },
    ),
    operation(
      "POST /configuration/versions/:version/restore",
      {
        ...WRITE,
        summary:
          "Returns to an earlier version of the configuration as a new one, which undoes later changes; restoring the version before that redoes them. Not in OpenAI's API.",
        query: ChangeQuery,
        answer: ConfigurationRestored,
      },
      async ({ params, request }) => {
        const restored = versionIn(params.version);
        const version = await entries.restore(changeOf(request), restored);
        return { object: "organization.configuration.restored" as const, version, restored };
      },
    ),
  );
}

function versionIn(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw invalidRequest("The version in the path must be a whole number.", "version", "invalid_value");
}

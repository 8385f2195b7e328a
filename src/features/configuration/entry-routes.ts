import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";
import { operation, type RouteAdder, routes } from "../../http/operation.ts";
import { invalidRequest } from "../../kernel/faults.ts";
import { pageOfRows } from "../../storage/page.ts";
import {
  ChangeQuery,
  ConnectionBody,
  ConnectionEntryBody,
  EntriesQuery,
  McpServerEntryBody,
  ModelEntryBody,
  SettingBody,
  type ShownEntry,
  toConfigurationEntry,
} from "../../wire/openai/organization/organization-entries.ts";
import { toDeleted, toListBody } from "../../wire/openai/organization/organization-list.ts";
import { parse } from "../../wire/openai/validate.ts";
import { ConfigurationEntry, ConfigurationEntryList } from "../../wire/openapi/configuration-answers.ts";
import { deleted } from "../../wire/openapi/list-answers.ts";
import { type Accounts, actorOf, READ, requireDefaultOrganization, WRITE } from "../accounts/index.ts";
import type { ChangeRequest, ConfigurationEntries } from "./entries.ts";

/** Entries of models, connections, MCP servers and settings below /v1/organization. */
export function configurationEntries(accounts: Accounts, entries: ConfigurationEntries): FastifyPluginAsync {
  return routes(
    (app) => requireDefaultOrganization(app, accounts),
    operation(
      "GET /configuration/entries",
      {
        ...READ,
        summary:
          "Lists the models, connections, MCP servers and settings of parlance.yaml and of the API, with what is locked. Not in OpenAI's API; admin keys of the default organization only.",
        query: EntriesQuery,
        answer: ConfigurationEntryList,
      },
      async ({ query: { kind, ...page } }) => {
        const rows = entries.list(kind).map(toConfigurationEntry);
        return toListBody(pageOfRows(rows, page), (row) => row);
      },
    ),
    operation(
      "POST /models",
      {
        ...WRITE,
        summary:
          "Adds a model to the configuration, in force on every replica within a second. Not in OpenAI's API; admin keys of the default organization only.",
        query: ChangeQuery,
        readsIfMatch: true,
        body: ModelEntryBody,
        answer: ConfigurationEntry,
      },
      async ({ body, request, reply }) => {
        const { id } = body;
        return show(reply, await entries.create(changeOf(request), "model", id, request.body));
      },
    ),
    operation(
      "POST /models/:id",
      {
        ...WRITE,
        summary:
          "Replaces a model of the configuration; `If-Match` refuses to overwrite another change. Not in OpenAI's API.",
        query: ChangeQuery,
        readsIfMatch: true,
        body: ModelEntryBody,
        answer: ConfigurationEntry,
      },
      async ({ params, body: { id }, request, reply }) => {
        if (id !== params.id) {
          throw invalidRequest("'id' must be that of the path: a model with another ID is another entry.", "id");
        }
        return show(reply, await entries.replace(changeOf(request), "model", id, request.body));
      },
    ),
    read("/models/:id", "model", "Retrieves a model of the configuration. Not in OpenAI's API.", entries),
    remove(
      "/models/:id/entry",
      "model",
      "Removes a model from the configuration, not its files; running requests end normally. Not in OpenAI's API.",
      entries,
    ),
    operation(
      "POST /connections",
      {
        ...WRITE,
        summary:
          "Adds a connection to an upstream, whose key is stored encrypted and never shown. Not in OpenAI's API; admin keys of the default organization only.",
        query: ChangeQuery,
        readsIfMatch: true,
        body: ConnectionEntryBody,
        answer: ConfigurationEntry,
      },
      async ({ body: { name, ...value }, request, reply }) => {
        return show(reply, await entries.create(changeOf(request), "connection", name, value));
      },
    ),
    replace("/connections/:id", "connection", "Replaces a connection. Not in OpenAI's API.", ConnectionBody, entries),
    read("/connections/:id", "connection", "Retrieves a connection, without its key. Not in OpenAI's API.", entries),
    remove("/connections/:id", "connection", "Removes a connection that no model uses. Not in OpenAI's API.", entries),
    operation(
      "POST /mcp_servers",
      {
        ...WRITE,
        summary:
          "Adds an MCP server to the configuration, in force on every replica within a second. Not in OpenAI's API; admin keys of the default organization only.",
        query: ChangeQuery,
        readsIfMatch: true,
        body: McpServerEntryBody,
        answer: ConfigurationEntry,
      },
      async ({ body: { name }, request, reply }) => {
        return show(reply, await entries.create(changeOf(request), "mcp_server", name, request.body));
      },
    ),
    replace(
      "/mcp_servers/:id",
      "mcp_server",
      "Replaces an MCP server; running calls end normally. Not in OpenAI's API.",
      McpServerEntryBody,
      entries,
    ),
    read(
      "/mcp_servers/:id",
      "mcp_server",
      "Retrieves an MCP server of the configuration, without its secrets. Not in OpenAI's API.",
      entries,
    ),
    remove(
      "/mcp_servers/:id",
      "mcp_server",
      "Removes an MCP server; running calls end normally. Not in OpenAI's API.",
      entries,
    ),
    operation(
      "POST /configuration/settings/:id",
      {
        ...WRITE,
        summary: "Sets prices, guardrails, webhooks or default limits of the installation. Not in OpenAI's API.",
        query: ChangeQuery,
        readsIfMatch: true,
        body: SettingBody,
        answer: ConfigurationEntry,
      },
      async ({ params, body: { value }, request, reply }) => {
        return show(reply, await entries.replace(changeOf(request), "setting", params.id, value ?? null));
      },
    ),
    read("/configuration/settings/:id", "setting", "Retrieves a setting that was set. Not in OpenAI's API.", entries),
    remove("/configuration/settings/:id", "setting", "Resets a setting to its default. Not in OpenAI's API.", entries),
  );
}

/** Author, reason and condition of a change. */
export function changeOf(request: FastifyRequest): ChangeRequest {
  const { reason } = parse(ChangeQuery, request.query);
  const ifVersion = versionOf(request.headers["if-match"]);
  return { actor: actorOf(request), organizationId: request.caller.organizationId, reason, ifVersion };
}

function versionOf(header: string | undefined): number | undefined {
  if (header === undefined || header === "*") return undefined;
  const version = /^(?:W\/)?"?(\d{1,15})"?$/.exec(header)?.[1];
  if (version === undefined) throw invalidRequest("'If-Match' must be a version, such as \"12\".", "If-Match");
  return Number(version);
}

function show(reply: FastifyReply, entry: ShownEntry) {
  if (entry.version !== undefined) reply.header("etag", `"${entry.version}"`);
  return toConfigurationEntry(entry);
}

function read(
  path: `${string}/:id`,
  kind: ShownEntry["kind"],
  summary: string,
  entries: ConfigurationEntries,
): RouteAdder {
  return operation(`GET ${path}`, { ...READ, summary, answer: ConfigurationEntry }, async ({ params, reply }) =>
    show(reply, entries.find(kind, params.id)),
  );
}

function replace(
  path: `${string}/:id`,
  kind: ShownEntry["kind"],
  summary: string,
  body: z.ZodType,
  entries: ConfigurationEntries,
): RouteAdder {
  return operation(
    `POST ${path}`,
    { ...WRITE, summary, query: ChangeQuery, readsIfMatch: true, body, answer: ConfigurationEntry },
    async ({ params, body, request, reply }) => {
      const value = body;
      return show(reply, await entries.replace(changeOf(request), kind, params.id, value));
    },
  );
}

function remove(
  path: `${string}/:id` | `${string}/:id/entry`,
  kind: ShownEntry["kind"],
  summary: string,
  entries: ConfigurationEntries,
): RouteAdder {
  const object = "organization.configuration.entry";

  return operation(
    `DELETE ${path}`,
    { ...WRITE, summary, query: ChangeQuery, readsIfMatch: true, answer: deleted(`${object}.deleted`) },
    async ({ params, request }) => {
      await entries.remove(changeOf(request), kind, params.id);
      return toDeleted(object, params.id);
    },
  );
}

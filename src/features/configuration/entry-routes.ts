import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";
import { operation } from "../../http/operation.ts";
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
  toConfigurationEntry,
} from "../../wire/openai/organization/organization-entries.ts";
import { toDeleted, toListBody } from "../../wire/openai/organization/organization-list.ts";
import { parse } from "../../wire/openai/validate.ts";
import { ConfigurationEntry, ConfigurationEntryList } from "../../wire/openapi/configuration-answers.ts";
import { deleted } from "../../wire/openapi/organization-answers.ts";
import { type Accounts, actorOf, READ, requireDefaultOrganization, WRITE } from "../accounts/index.ts";
import type { ChangeRequest, ConfigurationEntries, ShownEntry } from "./entries.ts";

interface OfEntry {
  Params: { id: string };
}

/** Entries of models, connections, MCP servers and settings below /v1/organization. */
export function configurationEntries(accounts: Accounts, entries: ConfigurationEntries): FastifyPluginAsync {
  return async (app) => {
    requireDefaultOrganization(app, accounts);

    app.get(
      "/configuration/entries",
      operation({
        ...READ,
        summary:
          "Lists the models, connections, MCP servers and settings of parlance.yaml and of the API, with what is locked. Not in OpenAI's API; admin keys of the default organization only.",
        query: EntriesQuery,
        answer: ConfigurationEntryList,
      }),
      async (request) => {
        const { kind, ...page } = parse(EntriesQuery, request.query);
        const rows = entries.list(kind).map(toConfigurationEntry);
        return toListBody(pageOfRows(rows, page), (row) => row);
      },
    );

    app.post(
      "/models",
      operation({
        ...WRITE,
        summary:
          "Adds a model to the configuration, in force on every replica within a second. Not in OpenAI's API; admin keys of the default organization only.",
        query: ChangeQuery,
        body: ModelEntryBody,
        answer: ConfigurationEntry,
      }),
      async (request, reply) => {
        const { id } = parse(ModelEntryBody, request.body);
        return show(reply, await entries.create(changeOf(request), "model", id, request.body));
      },
    );
    app.post<OfEntry>(
      "/models/:id",
      operation({
        ...WRITE,
        summary:
          "Replaces a model of the configuration; `If-Match` refuses to overwrite another change. Not in OpenAI's API.",
        query: ChangeQuery,
        body: ModelEntryBody,
        answer: ConfigurationEntry,
      }),
      async (request, reply) => {
        const { id } = parse(ModelEntryBody, request.body);
        if (id !== request.params.id) {
          throw invalidRequest("'id' must be that of the path: a model with another ID is another entry.", "id");
        }
        return show(reply, await entries.replace(changeOf(request), "model", id, request.body));
      },
    );
    read(app, "/models/:id", "model", "Retrieves a model of the configuration. Not in OpenAI's API.", entries);
    remove(
      app,
      "/models/:id/entry",
      "model",
      "Removes a model from the configuration, not its files; running requests end normally. Not in OpenAI's API.",
      entries,
    );

    app.post(
      "/connections",
      operation({
        ...WRITE,
        summary:
          "Adds a connection to an upstream, whose key is stored encrypted and never shown. Not in OpenAI's API; admin keys of the default organization only.",
        query: ChangeQuery,
        body: ConnectionEntryBody,
        answer: ConfigurationEntry,
      }),
      async (request, reply) => {
        const { name, ...value } = parse(ConnectionEntryBody, request.body);
        return show(reply, await entries.create(changeOf(request), "connection", name, value));
      },
    );
    replace(
      app,
      "/connections/:id",
      "connection",
      "Replaces a connection. Not in OpenAI's API.",
      ConnectionBody,
      entries,
    );
    read(
      app,
      "/connections/:id",
      "connection",
      "Retrieves a connection, without its key. Not in OpenAI's API.",
      entries,
    );
    remove(
      app,
      "/connections/:id",
      "connection",
      "Removes a connection that no model uses. Not in OpenAI's API.",
      entries,
    );

    app.post(
      "/mcp_servers",
      operation({
        ...WRITE,
        summary:
          "Adds an MCP server to the configuration, in force on every replica within a second. Not in OpenAI's API; admin keys of the default organization only.",
        query: ChangeQuery,
        body: McpServerEntryBody,
        answer: ConfigurationEntry,
      }),
      async (request, reply) => {
        const { name } = parse(McpServerEntryBody, request.body);
        return show(reply, await entries.create(changeOf(request), "mcp_server", name, request.body));
      },
    );
    replace(
      app,
      "/mcp_servers/:id",
      "mcp_server",
      "Replaces an MCP server; running calls end normally. Not in OpenAI's API.",
      McpServerEntryBody,
      entries,
    );
    read(
      app,
      "/mcp_servers/:id",
      "mcp_server",
      "Retrieves an MCP server of the configuration, without its secrets. Not in OpenAI's API.",
      entries,
    );
    remove(
      app,
      "/mcp_servers/:id",
      "mcp_server",
      "Removes an MCP server; running calls end normally. Not in OpenAI's API.",
      entries,
    );

    app.post<OfEntry>(
      "/configuration/settings/:id",
      operation({
        ...WRITE,
        summary: "Sets prices, guardrails, webhooks or default limits of the installation. Not in OpenAI's API.",
        query: ChangeQuery,
        body: SettingBody,
        answer: ConfigurationEntry,
      }),
      async (request, reply) => {
        const { value } = parse(SettingBody, request.body);
        return show(reply, await entries.replace(changeOf(request), "setting", request.params.id, value ?? null));
      },
    );
    read(
      app,
      "/configuration/settings/:id",
      "setting",
      "Retrieves a setting that was set. Not in OpenAI's API.",
      entries,
    );
    remove(
      app,
      "/configuration/settings/:id",
      "setting",
      "Resets a setting to its default. Not in OpenAI's API.",
      entries,
    );
  };
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
  app: FastifyInstance,
  path: string,
  kind: ShownEntry["kind"],
  summary: string,
  entries: ConfigurationEntries,
): void {
  app.get<OfEntry>(path, operation({ ...READ, summary, answer: ConfigurationEntry }), async ({ params }, reply) =>
    show(reply, entries.find(kind, params.id)),
  );
}

function replace(
  app: FastifyInstance,
  path: string,
  kind: ShownEntry["kind"],
  summary: string,
  body: z.ZodType,
  entries: ConfigurationEntries,
): void {
  app.post<OfEntry>(
    path,
    operation({ ...WRITE, summary, query: ChangeQuery, body, answer: ConfigurationEntry }),
    async (request, reply) => {
      const value = parse(body, request.body);
      return show(reply, await entries.replace(changeOf(request), kind, request.params.id, value));
    },
  );
}

function remove(
  app: FastifyInstance,
  path: string,
  kind: ShownEntry["kind"],
  summary: string,
  entries: ConfigurationEntries,
): void {
  const object = "organization.configuration.entry";
  app.delete<OfEntry>(
    path,
    operation({ ...WRITE, summary, query: ChangeQuery, answer: deleted(`${object}.deleted`) }),
    async (request) => {
      await entries.remove(changeOf(request), kind, request.params.id);
      return toDeleted(object, request.params.id);
    },
  );
}

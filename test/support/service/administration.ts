import { accountExtensions } from "../../../src/serving/account-extensions.ts";
/** The administration API alone, on a new database with two separate organizations. */

import "./check-answers.ts";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fastify } from "fastify";
import OpenAI from "openai";
import { Catalog } from "../../../src/catalog/catalog.ts";
import { Accounts } from "../../../src/features/accounts/accounts.ts";
import { OPERATOR } from "../../../src/features/accounts/audit/audit.ts";
import { accountRoutes, projectAccountRoutes } from "../../../src/features/accounts/feature.ts";
import { organizations } from "../../../src/features/accounts/organizations/organization-routes.ts";
import { budgetRoutesOf } from "../../../src/features/budgets/feature.ts";
import { configuration } from "../../../src/features/configuration/routes.ts";
import { signInCodes } from "../../../src/features/console/sign-in-code-routes.ts";
import { ModelOperations } from "../../../src/features/models/model-operations.ts";
import { organizationModels } from "../../../src/features/models/organization-model-routes.ts";
import { moderationPolicy } from "../../../src/features/moderations/moderation-policy.ts";
import { rateLimits } from "../../../src/features/quota/rate-limit-routes.ts";
import { spendLimits } from "../../../src/features/quota/spend-limit-routes.ts";
import { overview } from "../../../src/features/usage/overview-routes.ts";
import { RequestHistory } from "../../../src/features/usage/request-history.ts";
import { requests } from "../../../src/features/usage/request-routes.ts";
import { UsageReports } from "../../../src/features/usage/usage-report.ts";
import { usage } from "../../../src/features/usage/usage-routes.ts";
import { authenticateScope } from "../../../src/http/authenticate.ts";
import { BodyMemory } from "../../../src/http/body-memory.ts";
import { useErrorFormat } from "../../../src/http/errors.ts";
import { useJsonBodies } from "../../../src/http/json-body.ts";
import { refuseNul } from "../../../src/http/refuse-nul.ts";
import { useRequestLog } from "../../../src/http/request-log.ts";
import { createModelStore } from "../../../src/model-store/create-model-store.ts";
import { type DatabaseOptions, openDatabase } from "../../../src/storage/database.ts";

export interface Administration {
  accounts: Accounts;
  /** Method and pattern of every route, without those that Fastify adds. */
  routes: readonly { method: string; pattern: string }[];
  /** Client with the default organization's admin key. */
  admin: OpenAI;
  /** Client with another organization's admin key. */
  foreign: OpenAI;
  /** With the default organization's admin key. `path` is below /v1/organization unless it begins with `/v1/`. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  sendForeign(method: string, path: string, body?: unknown): Promise<Answer>;
  /** With a temporary key of the operator; `path` is below /v1. */
  sendOperator(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** ID of the other organization. */
  foreignId: string;
  [Symbol.asyncDispose](): Promise<void>;
}

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any;
}

const KNOWN = new Set(["one", "two", "openai/*", "group:team-a"]);
const bodyMemory = new BodyMemory(1_000_000);

export async function startAdministration(options: DatabaseOptions): Promise<Administration> {
  const database = openDatabase(options);
  const accounts = new Accounts({ database, extensions: accountExtensions(), logger: options.logger });
  const { adminKey } = await accounts.ensureBootstrapKeys({ apiKey: undefined, adminKey: undefined });
  const other = await accounts.organizations.create(OPERATOR, "Another organization");
  const hub = { endpoint: "https://huggingface.co", token: undefined, offline: true };
  const store = createModelStore({ modelsDirectory: join(tmpdir(), "parlance-no-models"), hub }, options.logger);
  const app = fastify({ forceCloseConnections: true });
  const routes: { method: string; pattern: string }[] = [];
  app.addHook("onRoute", ({ method, url }) => {
    const isOperators = url.startsWith("/v1/organizations");
    if (method !== "HEAD" && !isOperators) routes.push({ method: String(method), pattern: url });
  });
  const history = new RequestHistory({ database, logger: options.logger, days: 7 });
  useRequestLog(app, {
    logger: options.logger,
    measure: () => {},
    recordRequest: (entry) => history.record(entry),
    catalogIdOf: () => undefined,
  });
  useErrorFormat(app);
  useJsonBodies(app);
  app.register(
    async (scope) => {
      authenticateScope(scope, accounts, "admin", {
        countWrongKey: async () => {},
        ignoresMismatchedIds: false,
        bodyMemory,
      });
      refuseNul(scope);
      const reports = new UsageReports(database);
      const budgetUsage = { reports, spentIn: reports.spentIn.bind(reports) };
      const models = new ModelOperations({
        catalog: new Catalog(),
        store,
        refresh: async () => {},
        requireUnshared: async () => {},
        machine: async () => ({ cores: 2, modelMemoryBytes: 8e9, freeBytes: 8e9 }),
      });
      for (const plugin of [
        ...accountRoutes(accounts, (entry) => (KNOWN.has(entry) ? entry : undefined)),
        moderationPolicy(accounts, (id) => id === "judge"),
        organizationModels(accounts, models),
        usage(reports),
        requests(history, accounts, new AbortController().signal),
        overview({ accounts, history, reports, catalog: new Catalog() }),
        configuration(accounts, () => ({ file: undefined, settings: [], models: [] })),
        signInCodes(accounts),
        rateLimits(accounts, {
          models: () => [{ id: "one", aliases: [], accessGroups: [] }],
          resolve: (id) => id,
          defaults: () => ({}),
        }),
        spendLimits(accounts),
        ...budgetRoutesOf(accounts, budgetUsage, { recordsEndUsers: true, recordsTags: true, sendsMail: true }),
      ]) {
        scope.register(plugin);
      }
    },
    { prefix: "/v1/organization" },
  );
  app.register(
    async (scope) => {
      authenticateScope(scope, accounts, "admin", {
        countWrongKey: async () => {},
        ignoresMismatchedIds: false,
        bodyMemory,
      });
      refuseNul(scope);
      for (const plugin of projectAccountRoutes(accounts)) scope.register(plugin);
    },
    { prefix: "/v1/projects" },
  );
  app.register(
    async (scope) => {
      authenticateScope(scope, accounts, "operator", {
        countWrongKey: async () => {},
        ignoresMismatchedIds: false,
        bodyMemory,
      });
      scope.register(organizations(accounts));
    },
    { prefix: "/v1/organizations" },
  );
  await app.listen({ host: "127.0.0.1", port: 0 });
  const origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const operatorKey = await accounts.operatorKeys.create((await accounts.defaultScope("admin")).organizationId);
  const keys = { own: adminKey?.reveal() ?? "", foreign: other.adminKey.secret.reveal() };
  const client = (key: string) =>
    new OpenAI({ baseURL: `${origin}/v1`, apiKey: null, adminAPIKey: key, maxRetries: 0 });
  const sender =
    (key: string, root = "/v1/organization"): Administration["send"] =>
    async (method, path, body, headers) => {
      const answer = await fetch(`${origin}${path.startsWith("/v1/") ? "" : root}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers,
        },
        body: body === undefined ? null : JSON.stringify(body),
      });
      const isJson = answer.headers.get("content-type")?.includes("json");
      return { status: answer.status, body: isJson ? await answer.json() : await answer.text() };
    };
  return {
    accounts,
    routes,
    admin: client(keys.own),
    foreign: client(keys.foreign),
    send: sender(keys.own),
    sendForeign: sender(keys.foreign),
    sendOperator: sender(operatorKey.secret.reveal(), "/v1"),
    foreignId: other.organization.id,
    async [Symbol.asyncDispose]() {
      await app.close();
      await history.close();
      await accounts.close();
      await database.close();
    },
  };
}

/** Definitions of routes with their handlers: a route without one fails the start. */

import type {
  FastifyContextConfig,
  FastifyInstance,
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
  HTTPMethods,
  RouteOptions,
} from "fastify";
import type { z } from "zod";
import type { Caller } from "../contracts/caller.ts";
import { parse } from "../wire/openai/validate.ts";
import type { AnswerOf } from "../wire/openapi/named.ts";
import type { Operation, Permission, RegisteredOperation } from "../wire/openapi/operation.ts";
import type { ScopeKind } from "./authenticate.ts";
import { countRequest, isCounted } from "./count-requests.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    operation?: Operation;
  }
  interface FastifyInstance {
    /** Kind of the keys that the scope authenticates; undefined in a scope without keys. */
    authenticates?: ScopeKind;
  }
}

/** An operation, with what its route needs beside it. */
interface OperationDefinition extends Operation {
  route?: Pick<RouteOptions, "bodyLimit" | "errorHandler" | "onRequest" | "wsHandler"> & {
    config?: Omit<FastifyContextConfig, "operation">;
  };
}

/** Method and path below the scope's prefix, such as `GET /files/:file`. */
type RouteName = `${"GET" | "POST" | "PUT" | "PATCH" | "DELETE"} ${string}`;

/** Parameters of paths that are not all the same. */
export type PathParams = Readonly<Record<string, string | undefined>>;

type ParamsOf<Path extends string> =
  Record<never, never> extends Record<Path, true> ? Record<string, string> & NamesOf<Path> : NamesOf<Path>;
type NamesOf<Path extends string> = Path extends `${string}:${infer Rest}`
  ? { [Name in NameOf<Rest>]: string } & NamesOf<Rest>
  : Path extends `${string}*`
    ? { "*": string }
    : Record<never, string>;
type NameOf<Text extends string> = Text extends `${infer Name}${"/" | ":" | "."}${string}` ? NameOf<Name> : Text;

type ValueOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

type AnswerTo<Definition extends Operation> = FastifyReply | BodyOf<AnswersOf<Definition>>;
type AnswersOf<Definition> =
  | (Definition extends { answer: infer Schema } ? Schema : never)
  | (Definition extends { others: Readonly<Record<number, infer Schema>> } ? Schema : never);
/** An operation without a JSON answer sends what it likes. */
type BodyOf<Schema> = [Schema] extends [never] ? unknown : Schema extends z.ZodType ? AnswerOf<Schema> : unknown;

/** What the handler of an operation gets: parameters, query and body as its schemas have read them. */
interface OperationCall<Route extends string, Definition extends Operation> {
  params: ParamsOf<Route>;
  query: ValueOf<Definition["query"]>;
  body: ValueOf<Definition["body"]>;
  /** Undefined in a scope without keys. */
  caller: Caller;
  request: FastifyRequest<{ Params: ParamsOf<Route> }>;
  reply: FastifyReply;
}

/** Adds a route to a scope. */
export type RouteAdder = (app: FastifyInstance) => void;

/** Routes of a scope, in their order. */
export function routes(...adders: readonly RouteAdder[]): FastifyPluginAsync {
  return async (app) => {
    for (const add of adders) add(app);
  };
}

/** Routes of a scope within a scope, for hooks and content types that the others do not have. */
export function scope(...adders: readonly RouteAdder[]): RouteAdder {
  return (app) => app.register(routes(...adders));
}

/**
 * Declares an operation: the reference, the OpenAPI document and its checks come from the definition, whose schemas parse
 * the query and the body before the handler is called; a Fault names the first field that is wrong.
 */
export function operation<const Route extends RouteName, const Definition extends OperationDefinition>(
  route: Route,
  definition: Definition,
  handler: (call: OperationCall<Route, Definition>) => AnswerTo<Definition> | Promise<AnswerTo<Definition>>,
): RouteAdder {
  const { query, body, isBodyOptional = false } = definition;
  const read = (request: FastifyRequest<{ Params: ParamsOf<Route> }>, reply: FastifyReply) =>
    ({
      params: request.params,
      query: query && parse(query, request.query),
      body: body && parse(body, isBodyOptional ? (request.body ?? {}) : request.body),
      caller: request.caller,
      request,
      reply,
    }) as OperationCall<Route, Definition>;
  if (!countsRequests(route, definition)) {
    return addRoute(route, definition, (request, reply) => handler(read(request, reply)));
  }
  return addRoute(route, definition, async (request, reply) => {
    const call = read(request, reply);
    await countRequest(request, reply);
    return handler(call);
  });
}

/** Declares an operation whose handler reads the request by itself: its body is a stream, a form, or read in parts. */
export function rawOperation<const Route extends RouteName>(
  route: Route,
  definition: OperationDefinition,
  handler: RouteHandler<Route>,
): RouteAdder {
  if (!countsRequests(route, definition)) return addRoute(route, definition, handler);
  return addRoute(route, definition, async (request, reply) => {
    await countRequest(request, reply);
    return handler(request, reply);
  });
}

type RouteHandler<Route extends string> = (
  request: FastifyRequest<{ Params: ParamsOf<Route> }>,
  reply: FastifyReply,
) => unknown;

function countsRequests(route: RouteName, definition: Operation): boolean {
  return isCounted(route.split(" ", 1)[0] as string, definition);
}

function addRoute<Route extends RouteName>(
  route: Route,
  { route: { config, ...options } = {}, ...definition }: OperationDefinition,
  handler: RouteHandler<Route>,
): RouteAdder {
  const [method, url] = route.split(" ", 2) as [HTTPMethods, string];
  const { customMethod } = definition;
  return (app) => {
    if (customMethod !== undefined && !app.hasConstraintStrategy("customMethod")) {
      app.addConstraintStrategy(byCustomMethod);
    }
    const constraints = customMethod === undefined ? {} : { constraints: { customMethod } };
    const isKeyless = SCOPES[definition.permission] === undefined;
    const shared = { ...(isKeyless && { bodyLimit: KEYLESS_BODY_BYTES }), ...options, ...constraints, method, url };
    app.route({ ...shared, config: { ...config, operation: definition }, handler: handler as never });
  };
}

/** Bodies of requests whose sender is unknown: passwords, tokens and codes. */
const KEYLESS_BODY_BYTES = 64 * 1024;

/** Tells routes of the same path apart by its end, such as `:generateContent`. */
const byCustomMethod = {
  name: "customMethod",
  storage: () => {
    const handlers = new Map<string, unknown>();
    return {
      get: (method: string) => handlers.get(method) ?? null,
      set: (method: string, handler: unknown) => void handlers.set(method, handler),
    };
  },
  deriveConstraint: ({ url = "" }: { url?: string | undefined }) => {
    const end = url.indexOf("?");
    return url.slice(url.lastIndexOf(":", end === -1 ? undefined : end) + 1, end === -1 ? undefined : end);
  },
  validate: () => {},
} as never;

/** Kind of key that the scope of an operation authenticates. */
const SCOPES: Readonly<Record<Permission, ScopeKind | undefined>> = {
  project: "project",
  admin: "admin",
  "admin-or-project": "admin",
  operator: "operator",
  "optional-admin": undefined,
  metrics: undefined,
  console: undefined,
  public: undefined,
};

/**
 * Collects the operations of all routes added from now on. Throws for a route that has no permission, or another one
 * than its scope checks, and for one of projects whose bodies nothing bounds, or whose requests nothing counts.
 */
export function collectOperations(app: FastifyInstance): readonly RegisteredOperation[] {
  const operations: RegisteredOperation[] = [];
  app.addHook("onRoute", function ({ method, url, config }) {
    for (const each of [method].flat()) {
      if (each === "HEAD" || each === "OPTIONS") continue;
      const definition = config?.operation;
      if (definition === undefined) {
        throw new Error(`${each} ${url} has no permission: declare it by operation(…)`);
      }
      if (this.authenticates !== SCOPES[definition.permission]) {
        const scope = this.authenticates === undefined ? "no keys" : `${this.authenticates} keys`;
        throw new Error(
          `${each} ${url} has the permission ${definition.permission}, but its scope authenticates ${scope}`,
        );
      }
      if (this.authenticates === "admin" && definition.requires === undefined) {
        throw new Error(`${each} ${url} does not name the permission that a user needs: set \`requires\``);
      }
      if (this.authenticates === "project" && each !== "GET" && this.bodyMemory === undefined) {
        throw new Error(`${each} ${url} takes bodies of any number: its scope needs boundBodyMemory`);
      }
      if (isCounted(each, definition) && this.countRequest === undefined) {
        throw new Error(`${each} ${url} counts as a request: its scope needs countRequests, or it says \`counts\``);
      }
      operations.push({ ...definition, method: each, path: toPathTemplate(url, definition) });
    }
  });
  return operations;
}

/** `/v1/files/:file` → `/v1/files/{file}`; `/v1/models/*` → `/v1/models/{model}` */
function toPathTemplate(url: string, { wildcard = "", customMethod }: Operation): string {
  const path = url.replace(/:(\w+)/g, "{$1}").replace(/\*$/, `{${wildcard}}`);
  return customMethod === undefined ? path : `${path}:${customMethod}`;
}

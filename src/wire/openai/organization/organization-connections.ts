/** POST /v1/organization/connections/test and /discover */

import { z } from "zod";
import type { ConnectedHost, ConnectionTest, DiscoveredHosts } from "../../openapi/configuration-answers.ts";
import { type AnswerOf, named } from "../../openapi/named.ts";

export const ConnectionTestBody = named(
  "ConnectionTestBody",
  z
    .strictObject({
      connection: z.string().min(1).max(64).optional().describe("Name of a stored connection, in place of the rest."),
      base_url: z.string().min(1).max(2_000).optional().describe("Address, with or without /v1."),
      api_key: z.string().min(1).max(10_000).optional(),
      headers: z.record(z.string().regex(/^[A-Za-z0-9-]{1,100}$/), z.string().max(10_000)).optional(),
      model: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .describe("Model whose first token is measured. Default: the first chat model of a local server, else none."),
    })
    .refine(({ connection, base_url }) => (connection === undefined) !== (base_url === undefined), {
      path: ["base_url"],
      error: "either `base_url` or `connection` is required",
    }),
);

interface Host {
  kind: NonNullable<AnswerOf<typeof ConnectedHost>>["kind"];
  version: string | undefined;
  baseUrl: string;
  isAccepted: boolean;
  models: readonly {
    id: string;
    task: "chat" | "embedding" | undefined;
    contextWindow: number | undefined;
    tools: boolean | undefined;
    vision: boolean | undefined;
    reasoning: boolean | undefined;
  }[];
}

interface Test {
  host: Host | undefined;
  problem: string | undefined;
  firstToken: { model: string; ms: number | undefined; problem: string | undefined } | undefined;
}

export function toConnectionTest({ host, problem, firstToken }: Test): AnswerOf<typeof ConnectionTest> {
  return {
    object: "organization.connection.test",
    ok: host?.isAccepted === true && firstToken?.problem === undefined,
    problem: problem ?? firstToken?.problem ?? null,
    server: host === undefined ? null : toHost(host),
    first_token:
      firstToken === undefined
        ? null
        : { model: firstToken.model, milliseconds: firstToken.ms ?? null, problem: firstToken.problem ?? null },
  };
}

export function toDiscoveredHosts(hosts: readonly Host[]): AnswerOf<typeof DiscoveredHosts> {
  return { object: "list", data: hosts.map(toHost) };
}

function toHost({ kind, version, baseUrl, isAccepted, models }: Host): AnswerOf<typeof ConnectedHost> {
  return {
    kind,
    version: version ?? null,
    base_url: baseUrl,
    engine: kind === "anthropic" ? "anthropic" : "openai-compatible",
    accepted: isAccepted,
    models: models.map(({ id, task, contextWindow, tools, vision, reasoning }) => ({
      id,
      task: task ?? null,
      context_window: contextWindow ?? null,
      abilities: { tools: tools ?? null, vision: vision ?? null, reasoning: reasoning ?? null },
    })),
  };
}

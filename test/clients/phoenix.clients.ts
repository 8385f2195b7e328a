/** Phoenix as the receiver of the service's traces: what its API and its page read of a request. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { installPythonClients, PYTHON_SCRIPTS, pythonClientEnvironment } from "./python-clients.ts";
import { reportChecks } from "./report-checks.ts";

const REQUIREMENTS = "requirements-phoenix.txt";
const VERSION = /^arize-phoenix==(\S+)$/m.exec(readFileSync(join(PYTHON_SCRIPTS, REQUIREMENTS), "utf8"))?.[1] ?? "";

/** Phoenix has prices of this model's name: prompt $2 and completion $8 per million, as the service has. */
const CONFIG = (url: string) => `
builtin_models: false
usage: { labels: { end_users: true, tag_metadata: [feature] } }
opentelemetry: { endpoint: "${url}" }
models:
  - id: gpt-4.1
    task: chat
    price: { prompt: "0.000002", completion: "0.000008" }
    deployments: [{ engine: scripted, replies: [{ text: Squawk }] }]
  - id: house-model
    task: chat
    price: { prompt: "0.001", completion: "0.002" }
    deployments: [{ engine: scripted, replies: [{ text: Squawk }] }]
`;

let service: ServiceProcess;
let phoenix: ChildProcess;
let url: string;

interface Span {
  name: string;
  span_kind: string;
  attributes: Record<string, unknown>;
}

interface Read {
  data: Span[];
}

beforeAll(async () => {
  const interpreter = await installPythonClients(REQUIREMENTS);
  const unused = { baseUrl: "http://127.0.0.1:1/v1", apiKey: "none" };
  phoenix = spawn(interpreter, [join(PYTHON_SCRIPTS, "phoenix_server.py")], {
    env: pythonClientEnvironment(unused, "none"),
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: phoenix.stdout as NonNullable<typeof phoenix.stdout> });
  [url] = (await once(lines, "line")) as [string];
  service = await startServiceProcess({ config: CONFIG(url) });
  for (const [model, user] of [
    ["gpt-4.1", "ada"],
    ["gpt-4.1", "ada"],
    ["house-model", "bob"],
  ] as const) {
    const messages = [{ role: "user", content: "Hello there" }];
    const labels = { user, metadata: { session_id: `session of ${user}`, feature: "search" } };
    const answer = await service.post("/v1/chat/completions", { model, messages, ...labels });
    expect(answer.status).toBe(200);
  }
});
afterAll(async () => {
  await service?.stop();
  const ended = phoenix === undefined ? undefined : once(phoenix, "exit");
  phoenix?.stdin?.end();
  await ended;
});

reportChecks(() => VERSION);

const read = async (path: string) => (await (await fetch(`${url}${path}`)).json()) as Read;

async function query<Result>(text: string): Promise<Result> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}/graphql`, { method: "POST", headers, body: JSON.stringify({ query: text }) });
  const { data, errors } = (await response.json()) as { data: Result; errors?: object };
  expect(errors).toBeUndefined();
  return data;
}

async function modelSpans(): Promise<Span[]> {
  const { data } = await read("/v1/projects/default/spans?limit=100");
  return data.filter((span) => span.span_kind === "LLM");
}

describe("arize-phoenix (traces)", () => {
  test("reads model, tokens, cost, user and session of a request", async () => {
    await expect.poll(async () => (await modelSpans()).length, { timeout: 60_000, interval: 500 }).toBe(3);
    const spans = await modelSpans();
    const house = spans.find(({ attributes }) => attributes["llm.model_name"] === "house-model");
    const { "llm.token_count.prompt": prompt, "llm.token_count.completion": completion } = house?.attributes ?? {};
    expect(house?.attributes).toMatchObject({
      "session.id": "session of bob",
      "user.id": "bob",
      "tag.tags": ["feature:search"],
      "llm.cost.total": Number(prompt) * 0.001 + Number(completion) * 0.002,
      "gen_ai.usage.cost": Number(prompt) * 0.001 + Number(completion) * 0.002,
    });
    expect(Number(prompt)).toBeGreaterThan(0);
  });

  test("sums the tokens of a session", async () => {
    interface Sessions {
      projects: {
        edges: { node: { sessions: { edges: { node: { sessionId: string; tokenUsage: { total: number } } }[] } } }[];
      };
    }
    const fields = "sessionId tokenUsage { total }";
    const text = `{ projects { edges { node { sessions(first: 10) { edges { node { ${fields} } } } } } } }`;
    const { projects } = await query<Sessions>(text);
    const sessions = projects.edges.flatMap(({ node }) => node.sessions.edges.map((edge) => edge.node));
    expect(sessions.map(({ sessionId }) => sessionId).sort()).toEqual(["session of ada", "session of bob"]);
    const spans = await modelSpans();
    const ofAda = spans.filter(({ attributes }) => attributes["user.id"] === "ada");
    const total = ofAda.reduce((sum, { attributes }) => sum + Number(attributes["llm.token_count.total"]), 0);
    expect(sessions.find(({ sessionId }) => sessionId === "session of ada")?.tokenUsage.total).toBe(total);
  });

  test("computes the service's cost where it has the same price", async () => {
    interface Costs {
      projects: {
        edges: {
          node: { spans: { edges: { node: { spanKind: string; costSummary: Cost; attributes: string } }[] } };
        }[];
      };
    }
    interface Cost {
      total: { cost: number | null };
    }
    const fields = "spanKind attributes costSummary { total { cost } }";
    const text = `{ projects { edges { node { spans(first: 50) { edges { node { ${fields} } } } } } } }`;
    const costs = async () => {
      const { projects } = await query<Costs>(text);
      const spans = projects.edges.flatMap(({ node }) => node.spans.edges.map((edge) => edge.node));
      return spans.flatMap(({ attributes, costSummary }) => {
        const { llm } = JSON.parse(attributes) as { llm?: { model_name: string; cost: { total: number } } };
        return llm?.model_name === "gpt-4.1" ? [{ byService: llm.cost.total, byPhoenix: costSummary.total.cost }] : [];
      });
    };
    // Phoenix computes costs after it has stored the spans.
    await expect
      .poll(async () => (await costs()).every((each) => each.byPhoenix !== null), { timeout: 60_000 })
      .toBe(true);
    const computed = await costs();
    expect(computed).toHaveLength(2);
    for (const { byService, byPhoenix } of computed) expect(byPhoenix).toBeCloseTo(byService, 9);
  });
});

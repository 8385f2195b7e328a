/** Carries out a setup, by the administration API of the running service. */

import { hostname } from "node:os";
import { Fault } from "../../kernel/faults.ts";
import type { ConfigurationEntryList, ConnectionTest } from "../../wire/openapi/configuration-answers.ts";
import type { AnswerOf } from "../../wire/openapi/named.ts";
import type { CreatedProjectApiKey } from "../../wire/openapi/organization-answers.ts";
import { findProject, projectPath } from "../find-account.ts";
import { chatModels } from "../first-chat-model.ts";
import { printable } from "../printable.ts";
import { httpClient, type ServiceClient } from "../service-client.ts";
import type { Plan, PlannedOwner, PlannedServer } from "./plan.ts";

const ROOT = "/v1/organization";
/** A provider may list hundreds, most of them dated copies. */
const MAX_MODELS = 100;

type Server = NonNullable<AnswerOf<typeof ConnectionTest>["server"]>;

/**
 * `key`: of the first project; undefined: another one is created. `print` gets a line for each step. Throws a Fault for
 * the step that fails; those before it stay.
 */
export async function applyPlan(
  client: ServiceClient,
  { server, owner }: Plan,
  { key = undefined, print }: { key?: string | undefined; print: (line: string) => void },
): Promise<void> {
  const connected = server === undefined ? [] : await connect(client, server, print);
  if (owner !== undefined) {
    await addOwner(client, owner);
    print(`${owner.email} is the owner, and signs in at ${client.origin}/`);
  }
  const secret = key ?? (await createKey(client));
  // The key is shown only once, so also where no model answers yet.
  print(await firstAnswer(httpClient(client.origin, secret), connected).catch(describeFailure));
  print(`For your clients:\n\nexport OPENAI_BASE_URL=${client.origin}/v1 OPENAI_API_KEY=${secret}\n`);
}

async function createKey(client: ServiceClient): Promise<string> {
  const path = `${projectPath(await findProject(client, undefined))}/api_keys`;
  const name = `Setup on ${hostname()}`;
  return (await client.read<AnswerOf<typeof CreatedProjectApiKey>>("POST", path, { name })).value;
}

/** Adds the models of a server that the service does not have, and resolves with the IDs of all. */
async function connect(
  client: ServiceClient,
  { baseUrl, apiKey }: PlannedServer,
  print: (line: string) => void,
): Promise<string[]> {
  const key = apiKey !== undefined && { api_key: apiKey };
  const tested = await client.read<AnswerOf<typeof ConnectionTest>>("POST", `${ROOT}/connections/test`, {
    base_url: baseUrl,
    ...key,
  });
  const { server } = tested;
  if (server?.accepted !== true) {
    throw new Fault("unavailable", `${baseUrl}: ${tested.problem ?? "no inference server answers there."}`);
  }
  const connection = `${server.kind}-${new URL(server.base_url).host.replace(/[^a-z0-9]+/gi, "-")}`.slice(0, 64);
  const { data } = await client.read<AnswerOf<typeof ConfigurationEntryList>>("GET", `${ROOT}/configuration/entries`);
  const has = (kind: string, name: string) => data.some((entry) => entry.kind === kind && entry.name === name);
  const isNative = server.engine === "anthropic";
  if (!isNative && !has("connection", connection)) {
    await client.send("POST", `${ROOT}/connections`, { name: connection, base_url: server.base_url, ...key });
  }
  const models = server.models.slice(0, MAX_MODELS);
  const missing = models.filter(({ id }) => !has("model", id));
  for (const model of missing) {
    const deployment = isNative ? { engine: server.engine, ...key, model: model.id } : { connection, model: model.id };
    await client.send("POST", `${ROOT}/models`, toEntry(model, deployment));
  }
  print(`${server.kind} at ${server.base_url}: ${missing.length} models added, ${server.models.length} there.`);
  return models.map(({ id }) => id);
}

function toEntry({ id, task, context_window: window }: Server["models"][number], deployment: object) {
  return {
    id,
    task: task ?? "chat",
    deployments: [{ ...deployment, ...(window !== null && { context_window: window }) }],
  };
}

/** Signs in as the operator, who makes the first owner. */
async function addOwner(client: ServiceClient, { email, password }: PlannedOwner): Promise<void> {
  const { code } = await client.read<{ code: string }>("POST", `${ROOT}/console_sign_in_codes`);
  const { origin } = client;
  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    fetch(`${origin}${path}`, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json", origin, ...headers },
    });
  const session = await post("/console/session", { code });
  const cookie = session.headers
    .getSetCookie()
    .map((each) => each.split(";", 1)[0])
    .join("; ");
  const name = email.split("@", 1)[0] ?? email;
  const made = await post("/console/first_owner", { email, name, password }, { cookie });
  if (!made.ok) {
    const { error } = (await made.json()) as { error: { message: string } };
    throw new Fault("invalid-request", error.message);
  }
}

/** Asks one of the server's models, or else the first one of the service, and resolves with what it says. */
async function firstAnswer(client: ServiceClient, preferred: readonly string[]): Promise<string> {
  const models = await chatModels(client);
  const model = models.find((id) => preferred.includes(id)) ?? models[0];
  if (model === undefined) return "There is no chat model yet.";
  const messages = [{ role: "user", content: "Say hello in five words." }];
  const beganAt = performance.now();
  const { choices } = await client.read<{ choices: { message: { content: string | null } }[] }>(
    "POST",
    "/v1/chat/completions",
    { model, messages, max_tokens: 200 },
  );
  const seconds = ((performance.now() - beganAt) / 1000).toFixed(1);
  const text = printable(choices[0]?.message.content ?? "")
    .slice(0, 200)
    .replace(/\s+/g, " ")
    .trim();
  return `${model} answered in ${seconds} s: ${text}`;
}

function describeFailure(failure: unknown): string {
  if (failure instanceof Fault) return `No answer yet: ${printable(failure.message)}`;
  throw failure;
}

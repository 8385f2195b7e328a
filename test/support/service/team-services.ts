/** Services with two models, and the official client for their administrators and callers. */

import OpenAI from "openai";
import { afterEach } from "vitest";
import type { ServiceOptions } from "./prepare-service.ts";
import type { Service } from "./service-client.ts";

const CONFIG = `
builtin_models: false
models:
  - id: parrot
    task: chat
    deployments: [{ engine: scripted, echo: true }]
  - id: owl
    task: chat
    access_groups: [team-a]
    deployments: [{ engine: scripted, echo: true }]
`;

/** Returns a function that starts a service with `start`, which stops after the test. Call it at the top of the file. */
export function useTeamServices<O extends ServiceOptions, S extends Service>(start: (options?: O) => Promise<S>) {
  const running: S[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((service) => service.stop()));
  });
  return async (options?: O) => {
    const service = await start({ config: CONFIG, ...options } as O);
    running.push(service);
    return service;
  };
}

export function administrator(service: Service, adminKey = service.adminKey) {
  const client = new OpenAI({ baseURL: service.baseUrl, apiKey: null, adminAPIKey: adminKey, maxRetries: 0 });
  return client.admin.organization;
}

export function caller(
  service: Service,
  apiKey = service.apiKey,
  headers: { organization?: string; project?: string } = {},
) {
  return new OpenAI({ baseURL: service.baseUrl, apiKey, maxRetries: 0, ...headers });
}

export const say = (client: OpenAI, model: string) =>
  client.chat.completions.create({ model, messages: [{ role: "user", content: "Polly." }] });

export const listed = async (client: OpenAI) => (await Array.fromAsync(client.models.list())).map(({ id }) => id);

export const INVALID = { status: 401, code: "invalid_api_key" };

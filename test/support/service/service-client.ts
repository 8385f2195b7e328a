/** Where a service of tests listens, and how to call it. */

import OpenAI from "openai";

/** Where a service listens, and its keys. */
export interface Access {
  origin: string;
  apiKey: string;
  adminKey: string;
}

export interface ServiceClient extends Access {
  baseUrl: string;
  client(options?: { apiKey?: string; maxRetries?: number }): OpenAI;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** POSTs JSON with the API key. */
  post(path: string, body: unknown, init?: RequestInit): Promise<Response>;
}

/** Keys of the services of tests. */
export const API_KEY = `sk-test-${"a".repeat(32)}`;
export const ADMIN_KEY = `sk-admin-test-${"b".repeat(32)}`;

/** A service of one test or file. */
export interface Service extends ServiceClient {
  dataDirectory: string;
  configFile: string;
  /** Everything logged so far; of a process, everything printed. */
  output(): string;
  /** The parsed lines of the log so far. */
  log(): Record<string, unknown>[];
  /** Drains and stops it. */
  stop(): Promise<unknown>;
}

export function clientOf({ origin, apiKey, adminKey }: Access): ServiceClient {
  const client: ServiceClient = {
    origin,
    baseUrl: `${origin}/v1`,
    apiKey,
    adminKey,
    client: (options) => new OpenAI({ baseURL: `${origin}/v1`, apiKey, ...options }),
    fetch: (path, init) =>
      fetch(`${origin}${path}`, { ...init, headers: { authorization: `Bearer ${apiKey}`, ...init?.headers } }),
    post: (path, body, init) =>
      client.fetch(path, {
        method: "POST",
        body: JSON.stringify(body),
        ...init,
        headers: { "content-type": "application/json", ...init?.headers },
      }),
  };
  return client;
}

export function parseLog(lines: readonly string[]): Record<string, unknown>[] {
  return lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
}

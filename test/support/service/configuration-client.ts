/** Requests of an administrator to the configuration of a service. */

import type { Service } from "./service.ts";

export interface ConfigurationAnswer {
  status: number;
  etag: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: answers of many operations, which the service itself checks.
  body: any;
}

export type ConfigurationClient = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<ConfigurationAnswer>;

/** `path` follows /v1/organization. */
export function configurationClient({ origin, adminKey }: Pick<Service, "origin" | "adminKey">): ConfigurationClient {
  return async (method, path, body, headers = {}) => {
    const answer = await fetch(`${origin}/v1/organization${path}`, {
      method,
      headers: {
        authorization: `Bearer ${adminKey}`,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    const isJson = answer.headers.get("content-type")?.includes("json") === true;
    return { status: answer.status, etag: answer.headers.get("etag"), body: isJson ? JSON.parse(text) : text };
  };
}

/** Status of a chat with a model, and the text of its answer. */
export async function chatStatus(
  service: Service,
  model: string,
): Promise<{ status: number; text: string | undefined }> {
  const answer = await service.post("/v1/chat/completions", { model, messages: [{ role: "user", content: "Hi" }] });
  const body = (await answer.json()) as { choices?: { message: { content: string } }[] };
  return { status: answer.status, text: body.choices?.[0]?.message.content };
}

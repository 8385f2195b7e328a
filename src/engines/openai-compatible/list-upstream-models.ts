/** Lists an upstream's models (GET /models) as the parts that match a wildcard. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import type { Connections } from "./connection/connections.ts";
import { Exchange } from "./connection/exchange.ts";
import { readText } from "./connection/read-body.ts";
import { withScopedSignal } from "./connection/scoped-signal.ts";
import type { UpstreamSettings } from "./connection-settings.ts";
import { UpstreamError } from "./upstream-error.ts";
import { requestTemplate } from "./upstream-request.ts";

const MAX_LIST_BYTES = 8 * 1024 * 1024;
const MAX_MODELS = 10_000;
const ID = /^[\x21-\x7e]{1,200}$/;

const ModelList = lazy.object(() => ({ data: z.array(z.object({ id: z.string() })) }));

/** Throws UpstreamError, or what the connection throws, when the upstream does not list its models. */
export function listUpstreamModels(
  connections: Connections,
  settings: UpstreamSettings,
  signal: AbortSignal,
): Promise<string[]> {
  return withScopedSignal(signal, (own) => list(connections, settings, own));
}

async function list(connections: Connections, settings: UpstreamSettings, signal: AbortSignal): Promise<string[]> {
  const request = { ...requestTemplate(settings, "models"), method: "GET" as const };
  const limits = { ...settings, maxResponseBytes: MAX_LIST_BYTES };
  const exchange = new Exchange(connections, request, limits, signal);
  try {
    const head = await exchange.head();
    if (head?.status !== 200) throw new UpstreamError(`answered with status ${head?.status} when asked for its models`);
    const body = await readText(exchange);
    signal.throwIfAborted();
    const { data } = ModelList.parse(JSON.parse(body));
    return data
      .slice(0, MAX_MODELS)
      .map(({ id }) => toOpenPart(settings.model, id))
      .filter((name) => name !== undefined && ID.test(name)) as string[];
  } finally {
    exchange.release();
  }
}

/** The reverse of how a `*` in the settings' `model` is filled; undefined for names that it cannot make. */
function toOpenPart(setting: string | undefined, name: string): string | undefined {
  if (setting === undefined) return name;
  const [before = "", after, ...rest] = setting.split("*");
  if (after === undefined || rest.length > 0) return undefined;
  const isMade = name.startsWith(before) && name.endsWith(after) && name.length > before.length + after.length;
  return isMade ? name.slice(before.length, name.length - after.length) : undefined;
}

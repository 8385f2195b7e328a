/** Access tokens of OAuth, which expire: one request renews a token for all that wait for it. */

import { z } from "zod";
import { HOUR_SECONDS } from "../../kernel/durations.ts";
import { Fault } from "../../kernel/faults.ts";
import { lazy } from "../../kernel/lazy.ts";
import type { Authorize } from "../openai-compatible/authorize.ts";

const Answer = lazy.object(() => ({
  access_token: z.string().min(1),
  expires_in: z.coerce.number().min(1).catch(HOUR_SECONDS),
}));

/** Renewal before the end, since a request may take a moment to reach the provider. */
const EARLY_SECONDS = 60;
const TIMEOUT_MS = 20_000;

export interface TokenRequest {
  url: string;
  form: Readonly<Record<string, string>>;
}

interface Token {
  value: string;
  expiresAtMs: number;
}

/** `deployment`: for messages. `toRequest` is called for each renewal and may throw a Fault. */
export function bearerTokens(deployment: string, toRequest: () => Promise<TokenRequest>): Authorize {
  let token: Token | undefined;
  let renewal: Promise<Token> | undefined;
  return async (_request, signal) => {
    if (token === undefined || token.expiresAtMs <= Date.now()) {
      renewal ??= fetchToken(deployment, toRequest).finally(() => {
        renewal = undefined;
      });
      token = await untilAborted(renewal, signal);
    }
    return { authorization: `Bearer ${token.value}` };
  };
}

/** The renewal goes on for the other requests that wait for it. */
async function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const abort = Promise.withResolvers<never>();
  const onAbort = () => abort.reject(signal.reason);
  signal.addEventListener("abort", onAbort);
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([promise, abort.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

async function fetchToken(deployment: string, toRequest: () => Promise<TokenRequest>): Promise<Token> {
  const { url, form } = await toRequest();
  const askedAtMs = Date.now();
  let response: Response;
  try {
    const body = new URLSearchParams(form);
    response = await fetch(url, { method: "POST", body, redirect: "error", signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch (cause) {
    throw failure(deployment, "upstream-failed", "could not be asked for an access token", cause);
  }
  const answer = Answer.safeParse(await response.json().catch(() => undefined));
  if (!response.ok || !answer.success) {
    const kind = response.status >= 500 ? "upstream-failed" : "upstream-refused";
    throw failure(deployment, kind, `gave no access token (status ${response.status})`);
  }
  const { access_token: value, expires_in: seconds } = answer.data;
  const usableSeconds = Math.max(seconds - EARLY_SECONDS, seconds / 2);
  return { value, expiresAtMs: askedAtMs + usableSeconds * 1000 };
}

function failure(deployment: string, kind: "upstream-failed" | "upstream-refused", problem: string, cause?: unknown) {
  const message = `The identity provider of \`${deployment}\` ${problem}.`;
  return new Fault(kind, message, { code: "upstream_error", cause });
}

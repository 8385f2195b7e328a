/** Pages of sign-on in the browser: the one that continues to the console, and those of failures. */

import { randomBytes } from "node:crypto";
import type { FastifyReply } from "fastify";

const HEADERS = {
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

export interface FailureText {
  status: number;
  title: string;
  message: string;
  remedy: string;
}

/**
 * Continues to the console. A redirect would belong to the navigation from the provider, with which browsers send no
 * cookie of `SameSite=Strict`.
 */
export function sendContinuation(
  reply: FastifyReply,
  address: string,
  { title, message } = { title: "Signing in", message: "You are signed in." },
): FastifyReply {
  const url = escapeHtml(address);
  const refresh = `<meta http-equiv="refresh" content="0; url=${url}">`;
  const body = `<p>${escapeHtml(message)} <a href="${url}">Continue to the console</a></p>`;
  return sendPage(reply, title, body, refresh);
}

/** Says what happened and what to do. `again`: where the person begins again. */
export function sendFailure(
  reply: FastifyReply,
  failure: FailureText,
  again: { url: string; text: string },
): FastifyReply {
  const body = `<h1>${escapeHtml(failure.title)}</h1>
<p>${escapeHtml(failure.message)}</p>
<p>${escapeHtml(failure.remedy)}</p>
<p><a href="${escapeHtml(again.url)}">${escapeHtml(again.text)}</a></p>
<p><small>Request ${escapeHtml(reply.request.id)}</small></p>`;
  return sendPage(reply.code(failure.status), failure.title, body);
}

function sendPage(reply: FastifyReply, title: string, body: string, head = ""): FastifyReply {
  const nonce = randomBytes(16).toString("base64");
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  return reply
    .headers({ ...HEADERS, "content-security-policy": policy })
    .type("text/html; charset=utf-8")
    .send(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
${head}
<title>${escapeHtml(title)} · Parlance</title>
<style nonce="${nonce}">
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { display: grid; place-content: center; min-height: 90vh; margin: 0 1rem; }
main { max-width: 34rem; overflow-wrap: anywhere; }
</style>
<main>
${body}
</main>
</html>
`);
}

function escapeHtml(text: string): string {
  const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

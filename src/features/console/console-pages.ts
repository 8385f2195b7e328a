/** Serves the built console at `/`. All other pages are fragments of it, so no path of the API is taken. */

import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import staticFiles from "@fastify/static";
import type { FastifyPluginAsync, FastifyReply } from "fastify";
import { operation, routes } from "../../http/operation.ts";

/** Placeholder that the build writes where a nonce belongs. */
const NONCE = /__CSP_NONCE__/g;

/** GET / and GET /assets/* */
export function consolePages(folder: string): FastifyPluginAsync {
  return routes(
    (app) =>
      app.addHook("onRequest", (_request, reply, done) => {
        reply.headers(SECURITY_HEADERS);
        done();
      }),
    operation(
      "GET /",
      {
        summary: "Serves the web console; to Ollama's clients, a text that says that it is running.",
        tag: "Service",
        permission: "public",
        content: ["text/html", "text/plain"],
      },
      async ({ reply }) => {
        const page = await readFile(join(folder, "index.html"), "utf8").catch(() => undefined);
        const nonce = randomBytes(16).toString("base64");
        reply.header("content-security-policy", contentSecurityPolicy(nonce)).header("cache-control", "no-store");
        if (page === undefined) return sendHtml(reply.code(503).header("retry-after", "2"), NOT_BUILT(nonce));
        return sendHtml(reply, page.replace(NONCE, nonce));
      },
    ),
    (app) =>
      app.register(staticFiles, {
        root: join(folder, "assets"),
        serve: false,
        // Names contain a hash of the content.
        immutable: true,
        maxAge: "365d",
        preCompressed: true,
        index: false,
      }),
    operation(
      "GET /assets/*",
      {
        summary: "Serves the console's files.",
        tag: "Service",
        permission: "public",
        wildcard: "file",
        content: ["application/octet-stream"],
      },
      ({ params, reply }) => reply.sendFile(params["*"]),
    ),
  );
}

function sendHtml(reply: FastifyReply, html: string): FastifyReply {
  return reply.type("text/html; charset=utf-8").send(html);
}

const SECURITY_HEADERS = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(self)",
};

/** Only `style-src` needs the nonce, for the style elements that Mantine adds. */
function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    "font-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

const NOT_BUILT = (nonce: string) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="2">
<title>Parlance</title>
<style nonce="${nonce}">
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { display: grid; place-content: center; min-height: 90vh; margin: 0 1rem; }
p { max-width: 32rem; }
</style>
<h1>The console is being built</h1>
<p>This takes less than a minute, and the API already answers. If this page stays, the log of
<code>npm start</code> says why; <code>npm run console</code> builds the console by hand.</p>
</html>
`;

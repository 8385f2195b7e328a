/** Serves the built documentation site below /docs. */

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import staticFiles from "@fastify/static";
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { operation, routes } from "../../http/operation.ts";

const OPERATION = { tag: "Service", permission: "public", content: ["text/html"] } as const;
/** Files of the site other than its pages. */
const ASSET = /\.(?:js|css|json|png|jpg|svg|ico|woff2|txt)$/;
const HTML = "text/html; charset=utf-8";

/**
 * GET /docs and GET /docs/*. `prepare` is called with the first request, so that a service whose documentation nobody
 * reads does not build it.
 */
export function docsPages(folder: string, prepare: () => void): FastifyPluginAsync {
  const sendPage = async ({ headers }: FastifyRequest, reply: FastifyReply, path: string) => {
    // A browser, rather than a scanner or a health check.
    if (headers.accept?.includes("text/html")) prepare();
    const page = await readPage(folder, path);
    if (page !== undefined) return sendHtml(reply.header("cache-control", "no-cache"), page);
    const notFound = await readPage(folder, "404");
    if (notFound !== undefined) return sendHtml(reply.code(404), notFound);
    return sendHtml(reply.code(503).header("retry-after", "5").header("cache-control", "no-store"), NOT_BUILT);
  };
  return routes(
    (app) =>
      app.addHook("onRequest", (_request, reply, done) => {
        reply.headers(SECURITY_HEADERS);
        done();
      }),
    (app) => app.register(staticFiles, { root: folder, serve: false, index: false, cacheControl: false }),
    // Relative, since a reverse proxy may serve the service below a path.
    operation("GET /docs", { ...OPERATION, summary: "Redirects to the documentation." }, ({ reply }) =>
      reply.redirect("docs/", 308),
    ),
    operation(
      "GET /docs/*",
      {
        ...OPERATION,
        summary: "Serves the documentation of this version.",
        wildcard: "file",
        content: ["text/html", "application/octet-stream"],
      },
      ({ params, request, reply }) => {
        const path = params["*"];
        if (!ASSET.test(path)) return sendPage(request, reply, path);
        // Names of assets contain a hash of the content.
        reply.header("cache-control", path.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache");
        return reply.sendFile(path);
      },
    ),
  );
}

/** Reads a page by its address, such as `how-to/receive-webhooks`; undefined for an unknown address. */
async function readPage(folder: string, path: string): Promise<string | undefined> {
  const name = path === "" || path.endsWith("/") ? `${path}index` : path.replace(/\.html$/, "");
  if (!/^[\w/-]+$/.test(name)) return undefined;
  return readFile(join(folder, `${name}.html`), "utf8").catch(() => undefined);
}

function sendHtml(reply: FastifyReply, page: string): FastifyReply {
  return reply.header("content-security-policy", contentSecurityPolicy(page)).type(HTML).send(page);
}

const SECURITY_HEADERS = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

/** Allows the inline scripts of the page by their hashes. Highlighted code has inline styles. */
function contentSecurityPolicy(page: string): string {
  const scripts = [...page.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)];
  const hashes = scripts.map(([, code = ""]) => `'sha256-${createHash("sha256").update(code).digest("base64")}'`);
  return [
    "default-src 'none'",
    `script-src 'self' ${hashes.join(" ")}`.trim(),
    "style-src 'self' 'unsafe-inline'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

const NOT_BUILT = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="5">
<title>Documentation of Parlance</title>
<style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { display: grid; place-content: center; min-height: 90vh; margin: 0 1rem; }
p { max-width: 32rem; }
</style>
<h1>The documentation is being built</h1>
<p>This takes about a minute, once. If this page stays, the log of <code>npm start</code> says why;
<code>npm run docs</code> builds the documentation by hand.</p>
</html>
`;

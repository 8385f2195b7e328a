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
    operation(
      "GET /console/artifact",
      {
        summary: "Serves the frame in which the console shows what an answer drew, without access to the service.",
        tag: "Service",
        permission: "public",
        content: ["text/html"],
      },
      ({ reply }) => sendHtml(reply.headers(ARTIFACT_HEADERS), ARTIFACT_FRAME),
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
    "frame-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/**
 * Scripts of an artifact run in an opaque origin, which has no cookies, storage or page, and reach no network: `sandbox`
 * holds also where the address is opened outside of a frame.
 */
const ARTIFACT_HEADERS = {
  "content-security-policy": [
    "sandbox allow-scripts",
    "default-src 'none'",
    "script-src 'unsafe-inline'",
    "style-src 'unsafe-inline'",
    "img-src data: blob:",
    "media-src data: blob:",
    "font-src data:",
    "require-trusted-types-for 'script'",
    "trusted-types default",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join("; "),
  "x-frame-options": "SAMEORIGIN",
  "x-dns-prefetch-control": "off",
  "cache-control": "no-store",
};

/**
 * Writes the first document that the console sends. A frame within it would have APIs of its own, and browsers do not
 * apply `frame-src` to `srcdoc`: the default policy lets no text with this attribute become HTML, nor a text in pieces
 * (`document.write`) or with entities (XML). What an artifact overwrites, such as `RegExp.prototype.exec`, is read before.
 */
const ARTIFACT_FRAME = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Artifact</title>
<script>
// Browsers do not know the policy's directive for them yet. XSLT makes elements past the default policy.
for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport", "XSLTProcessor"])
  Object.defineProperty(self, name, { value: undefined });
const isSafe = typeof trustedTypes === "object";
if (isSafe) {
  const { apply } = Reflect;
  const { exec } = RegExp.prototype;
  const isRefused = (text, sink) =>
    sink === "Document write" || sink === "Document writeln" || sink === "HTMLIFrameElement srcdoc" ||
    apply(exec, /srcdoc|<!entity/i, [text]) !== null;
  let isWritten = false;
  trustedTypes.createPolicy("default", {
    createHTML(text, type, sink) {
      if (isWritten) return isRefused(text, sink) ? null : text;
      isWritten = true;
      return text.replaceAll(/srcdoc/gi, "src_doc");
    },
    // The document that a \`javascript:\` address leaves has APIs of its own.
    createScript: (text, type, sink) => (sink === "Location href" ? null : text),
    createScriptURL: (url) => url,
  });
  // Who has the policy names another sink than the text is for.
  Object.defineProperty(TrustedTypePolicyFactory.prototype, "defaultPolicy", { value: null });
}
addEventListener("message", function show({ source, data }) {
  if (source !== parent || typeof data?.html !== "string") return;
  removeEventListener("message", show);
  document.open();
  document.write(isSafe ? data.html : "This browser is too old to show it safely: it has no Trusted Types.");
  document.close();
});
</script>
</html>
`;

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

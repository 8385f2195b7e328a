/** Minimal Fastify + undici proxy: no keys, no parsing, bytes forwarded unchanged. Forked; sends its port to the parent. */

import type { AddressInfo } from "node:net";
import { fastify } from "fastify";
import { Pool } from "undici";

const [origin = "", port = "0"] = process.argv.slice(2);
const pool = new Pool(origin, { headersTimeout: 0, bodyTimeout: 0 });
const app = fastify();
app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
app.post("/v1/chat/completions", async (request, reply) => {
  const { statusCode, headers, body } = await pool.request({
    method: "POST",
    path: request.url,
    headers: { "content-type": "application/json" },
    body: request.body as Buffer,
  });
  return reply.code(statusCode).header("content-type", headers["content-type"]).send(body);
});
await app.listen({ host: "127.0.0.1", port: Number(port) });
process.send?.((app.server.address() as AddressInfo).port);

/** Upstream with OpenAI's Images API, and moderations that flag "gore": records what it receives, and answers with one small image each. */

import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

interface ReceivedImages {
  path: string;
  headers: IncomingMessage["headers"];
  /** Fields of JSON or of the form; files as their name, type and length. */
  fields: Record<string, unknown>;
}

export interface ImageUpstream extends AsyncDisposable {
  baseUrl: string;
  received: ReceivedImages[];
}

export const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const USAGE = {
  ...{ total_tokens: 1_070, input_tokens: 14, output_tokens: 1_056 },
  input_tokens_details: { text_tokens: 10, image_tokens: 4 },
};
const FACTS = { size: "1024x1024", quality: "high", background: "opaque", output_format: "png" };

export async function startImageUpstream(): Promise<ImageUpstream> {
  const received: ReceivedImages[] = [];
  const server = createServer(async (request, response) => {
    const fields = await readFields(request);
    const path = request.url ?? "";
    received.push({ path, headers: request.headers, fields });
    if (path.endsWith("moderations")) {
      const results = [fields.input].flat().map((input) => verdictOf(JSON.stringify(input).includes("gore")));
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ id: "m", model: "m", results }));
      return;
    }
    const prompt = String(fields.prompt ?? "");
    if (prompt.includes("refuse")) {
      const error = { message: "Your request was rejected by the safety system.", code: "moderation_blocked" };
      response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify({ error }));
      return;
    }
    if (String(fields.stream) === "true") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const name = path.endsWith("edits") ? "image_edit" : "image_generation";
      const send = (event: object) =>
        response.write(`data: ${JSON.stringify({ created_at: 1, ...FACTS, ...event })}\n\n`);
      for (let index = 0; index < Number(fields.partial_images); index++)
        send({ type: `${name}.partial_image`, b64_json: PIXEL, partial_image_index: index });
      if (!prompt.includes("break")) send({ type: `${name}.completed`, b64_json: PIXEL, usage: USAGE });
      response.end();
      return;
    }
    const image = prompt.includes("address") ? { url: "https://images.example/1.png" } : { b64_json: PIXEL };
    const data = Array.from({ length: Number(fields.n) }, () => ({ ...image, revised_prompt: `${prompt}, at dawn` }));
    response.writeHead(200, { "content-type": "application/json" });
    const usage = fields.model === "gpt-image-1" ? { usage: USAGE, ...FACTS } : {};
    response.end(JSON.stringify({ created: 1, data, ...usage }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    server.close();
  };
  return { baseUrl: `http://127.0.0.1:${port}/v1`, received, [Symbol.asyncDispose]: close };
}

function verdictOf(flagged: boolean) {
  const categories = { "violence/graphic": flagged };
  return { flagged, categories, category_scores: { "violence/graphic": flagged ? 0.97 : 0.01 } };
}

async function readFields(request: IncomingMessage): Promise<Record<string, unknown>> {
  const body = await buffer(request);
  const type = request.headers["content-type"] ?? "";
  if (!type.startsWith("multipart/")) return JSON.parse(body.toString());
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
  const fields: Record<string, unknown[]> = {};
  for (const [name, value] of form) {
    const shown = typeof value === "string" ? value : { name: value.name, type: value.type, bytes: value.size };
    fields[name] = [...(fields[name] ?? []), shown];
  }
  return Object.fromEntries(Object.entries(fields).map(([name, all]) => [name, all.length === 1 ? all[0] : all]));
}

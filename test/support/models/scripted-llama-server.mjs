#!/usr/bin/env node
// Answers as a llama-server does, with the request it got as its text: for tests of what is sent, and of its end.
import { createServer } from "node:http";

const options = process.argv.slice(2);
const option = (name) => options[options.indexOf(name) + 1];
if (options.includes("--fail")) {
  console.error("error: invalid argument: --fail");
  process.exit(1);
}
const template = options.includes("--with-tools") ? "{{ tools }}<think>" : "{{ messages }}";

const server = createServer(async (request, response) => {
  const json = (body, status = 200) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  if (request.url === "/health") {
    if (options.includes("--never-ready")) return json({ error: { message: "Loading model" } }, 503);
    return json({ status: "ok" });
  }
  if (request.headers.authorization !== `Bearer ${process.env.LLAMA_API_KEY}`) {
    return json({ error: { code: 401, message: "Invalid API Key" } }, 401);
  }
  if (request.url === "/props") {
    return json({
      total_slots: Number(option("--parallel")),
      default_generation_settings: { n_ctx: Number(option("--ctx-size")) / Number(option("--parallel")) },
      chat_template: template,
      modalities: { vision: options.includes("--mmproj") },
    });
  }
  if (request.url === "/v1/models") return json({ data: [{ id: "x", meta: { n_vocab: 1000 } }] });
  const body = JSON.parse(Buffer.concat(await Array.fromAsync(request)).toString());
  const said = body.messages?.at(-1).content;
  if (said === "crash") process.kill(process.pid, "SIGSEGV");
  if (said === "hang") return;
  const content = said === "key" ? [process.env.LLAMA_API_KEY, process.env.DATABASE_URL] : body;
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (data) =>
    response.write(
      `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "x", ...data })}\n\n`,
    );
  for (let index = 0; index < body.n; index += 1) {
    const text = JSON.stringify(content);
    const isChat = request.url === "/v1/chat/completions";
    const part = isChat ? { delta: { role: "assistant", content: text } } : { text };
    send({ choices: [{ index, ...part, finish_reason: null }] });
    send({ choices: [{ index, ...(isChat ? { delta: {} } : { text: "" }), finish_reason: "stop" }] });
    // One usage for each choice.
    send({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 } });
  }
  response.end("data: [DONE]\n\n");
});
server.listen(Number(option("--port")), option("--host"));

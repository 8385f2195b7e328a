/**
 * Tokens that ten turns of a session like Claude Code's read from the cache of the default chat model, whose first system
 * block is `x-anthropic-billing-header: …` with another value in each turn. `other-header` is the same block under a name
 * that the service does not know, as every block was before. Run with `node bench/claude-code-cache.ts`.
 */

import { startServiceProcess } from "../test/support/service/service-process.ts";

const TURNS = 10;
const MODEL = "smollm2-135m-instruct";
const RULES = Array.from(
  { length: 60 },
  (_, index) => `Rule ${index + 1}: when you edit file ${index + 1}, read it first and keep its style.`,
).join("\n");
const tools = ["read_file", "edit_file", "run"].map((name) => ({
  name,
  description: `Tool ${name} of the coding agent.`,
  input_schema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
}));

interface Message {
  content: { type: string; text?: string }[];
  usage: { input_tokens: number; cache_read_input_tokens: number };
}

await using lifetime = new AsyncDisposableStack();
const service = await startServiceProcess({ config: "builtin_models: true\n" });
lifetime.defer(async () => void (await service.stop()));
for (const header of ["x-anthropic-billing-header", "other-header"]) {
  const messages: { role: string; content: string }[] = [];
  const cached: number[] = [];
  let prompts = 0;
  const beganAt = performance.now();
  for (let turn = 0; turn < TURNS; turn += 1) {
    messages.push({ role: "user", content: `Step ${turn + 1}: look at the next file.` });
    const attribution = `${header}: cc_version=2.1.${turn}; cch=${(turn * 7919).toString(16)};`;
    const system = [attribution, RULES].map((text) => ({ type: "text", text }));
    const body = { model: MODEL, max_tokens: 8, temperature: 0, system, messages, tools };
    const response = await service.post("/v1/messages", body);
    if (!response.ok) throw new Error(await response.text());
    const { content, usage } = (await response.json()) as Message;
    cached.push(usage.cache_read_input_tokens);
    prompts += usage.input_tokens + usage.cache_read_input_tokens;
    messages.push({ role: "assistant", content: content[0]?.text ?? "…" });
  }
  const total = cached.reduce((sum, tokens) => sum + tokens, 0);
  const seconds = ((performance.now() - beganAt) / 1000).toFixed(1);
  console.log(`${header}: ${total} of ${prompts} prompt tokens from the cache (${cached.join(", ")}) in ${seconds} s`);
}

/**
 * What the chat models within 1.1 GB are worth to a home: 30 plain prompts, 30 questions in five languages and ten tasks
 * with tools, greedy. Run with
 * `node bench/chat-models/chat-models.ts [MODEL…]`; models are downloaded once. A question counts by a pattern in its
 * answer, so read the answers that it prints before you trust the count.
 */

import { parseArgs } from "node:util";
import type OpenAI from "openai";
import { PLAIN_PROMPTS } from "../../test/support/models/plain-prompts.ts";
import { startServiceProcess } from "../../test/support/service/service-process.ts";
import { LANGUAGE_PROMPTS } from "./language-prompts.ts";
import { TOOL_TASKS, TOOLS, type ToolTask } from "./tool-tasks.ts";

const { positionals } = parseArgs({ allowPositionals: true });
const MODELS =
  positionals.length > 0
    ? positionals
    : ["smollm2-135m-instruct", "qwen2.5-coder-0.5b-instruct", "qwen2.5-coder-1.5b-instruct"];

for (const model of MODELS) await measure(model);

async function measure(model: string): Promise<void> {
  const service = await startServiceProcess({
    config: `
local: { unload_after_seconds: 0 }
builtin_models: false
models: [{ id: ${model}, task: chat, deployments: [{ engine: llama-cpp, model: ${model}, gpu: false, context_size: 4096 }] }]
`,
  });
  const client = service.client({ maxRetries: 0 });
  const used = { tokens: 0, ms: 0 };
  const ask = async (messages: OpenAI.ChatCompletionMessageParam[], fields: object = {}) => {
    const beganAt = performance.now();
    const { choices, usage } = await client.chat.completions.create({
      ...{ model, messages, temperature: 0, max_completion_tokens: 64 },
      ...fields,
    });
    used.ms += performance.now() - beganAt;
    used.tokens += usage?.completion_tokens ?? 0;
    return choices[0]?.message as OpenAI.ChatCompletionMessage;
  };
  const count = async (name: string, prompts: readonly (readonly [string, RegExp])[]) => {
    let right = 0;
    for (const [content, answer] of prompts) {
      const text = (await ask([{ role: "user", content }])).content ?? "";
      if (answer.test(text)) right += 1;
      else console.log(`    ${content} → ${JSON.stringify(text)}`);
    }
    console.log(`  ${name}: ${right} of ${prompts.length}`);
  };
  console.log(model);
  await count("plain prompts", PLAIN_PROMPTS);
  for (const [language, prompts] of Object.entries(LANGUAGE_PROMPTS)) await count(language, prompts);
  let solved = 0;
  for (const task of TOOL_TASKS) {
    const fault = await faultIn(task, ask);
    if (fault === undefined) solved += 1;
    else console.log(`    ${task.say} → ${fault}`);
  }
  console.log(`  tasks with tools: ${solved} of ${TOOL_TASKS.length}`);
  console.log(`  ${used.tokens} tokens in ${(used.ms / 1000).toFixed(0)} s, prompts included`);
  await service.stop();
}

/** Returns what the model did instead; undefined: it solved the task. */
async function faultIn(
  { say, call, result, answer }: ToolTask,
  ask: (messages: OpenAI.ChatCompletionMessageParam[], fields?: object) => Promise<OpenAI.ChatCompletionMessage>,
): Promise<string | undefined> {
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: say }];
  const offered = { tools: TOOLS, parallel_tool_calls: false, max_completion_tokens: 100 };
  const first = await ask(messages, offered);
  const [made] = (first.tool_calls ?? []) as OpenAI.ChatCompletionMessageFunctionToolCall[];
  const said = JSON.stringify(made?.function ?? first.content);
  if (call === undefined) return made === undefined && answer?.test(first.content ?? "") ? undefined : said;
  if (made?.function.name !== call.name) return said;
  const values = JSON.parse(made.function.arguments) as Record<string, unknown>;
  if (!Object.entries(call.arguments).every(([name, pattern]) => pattern.test(String(values[name])))) return said;
  if (result === undefined) return undefined;
  messages.push(first, { role: "tool", tool_call_id: made.id, content: result });
  const { content } = await ask(messages, offered);
  return answer?.test(content ?? "") ? undefined : JSON.stringify(content);
}

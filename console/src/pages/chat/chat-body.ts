import type OpenAI from "openai";
import type { CodeSamples } from "../../components/as-code.tsx";
import { curlJson, PYTHON_CLIENT, TYPESCRIPT_CLIENT, toPython } from "../../components/code-text.ts";
import type { Conversation, Parameters, Turn } from "./conversation.ts";

type Body = OpenAI.Chat.ChatCompletionCreateParamsStreaming;

/** Body of the request that answers the last of `turns` by the model at `column`. */
export function toChatBody(model: string, parameters: Parameters, turns: readonly Turn[], column: number): Body {
  const { system, temperature, topP, maxTokens, frequencyPenalty, presencePenalty, seed, stop } = parameters;
  const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [];
  if (system.trim() !== "") messages.push({ role: "system", content: system });
  for (const [index, turn] of turns.entries()) {
    messages.push(toUserMessage(turn));
    const answer = turn.answers[column];
    if (index < turns.length - 1 && answer !== undefined && answer.text !== "") {
      messages.push({ role: "assistant", content: answer.text });
    }
  }
  const schema = parseJson(parameters.schema);
  const tools = parseJson(parameters.tools);
  return {
    model,
    messages,
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(maxTokens !== undefined && { max_completion_tokens: maxTokens }),
    ...(frequencyPenalty !== undefined && { frequency_penalty: frequencyPenalty }),
    ...(presencePenalty !== undefined && { presence_penalty: presencePenalty }),
    ...(seed !== undefined && { seed }),
    ...(stop.length > 0 && { stop }),
    ...(parameters.reasoningEffort !== undefined && {
      reasoning_effort: parameters.reasoningEffort as "low" | "medium" | "high",
    }),
    ...(schema !== undefined && {
      response_format: { type: "json_schema" as const, json_schema: { name: "answer", schema: schema as never } },
    }),
    ...(Array.isArray(tools) && { tools: tools as OpenAI.Chat.ChatCompletionTool[] }),
    stream: true,
    stream_options: { include_usage: true },
  };
}

function toUserMessage({ text, images }: Turn): OpenAI.Chat.ChatCompletionUserMessageParam {
  if (images.length === 0) return { role: "user", content: text };
  const parts = images.map((url) => ({ type: "image_url" as const, image_url: { url } }));
  return { role: "user", content: [...parts, { type: "text", text }] };
}

function parseJson(text: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The current settings as code; without turns, with an example question. */
export function chatSamples({ models, parameters, turns }: Conversation, draft: string): CodeSamples {
  const [model = "MODEL"] = models;
  const question = draft.trim() === "" ? "What is the capital of France?" : draft;
  const last = turns.at(-1);
  const asked = draft.trim() === "" && last !== undefined ? turns : [...turns, newTurn(question)];
  const { stream: _stream, stream_options: _options, ...body } = toChatBody(model, parameters, asked, 0);
  const named = Object.entries(body)
    .map(([name, value]) => `    ${name}=${toPython(value, 4)},\n`)
    .join("");
  return {
    curl: curlJson("chat/completions", { ...body, stream: true }, "-N "),
    python: `${PYTHON_CLIENT()}
stream = client.chat.completions.create(
${named}    stream=True,
)
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)
print()
`,
    typescript: `${TYPESCRIPT_CLIENT()}
const stream = await client.chat.completions.create(${JSON.stringify({ ...body, stream: true }, undefined, 2)});
for await (const chunk of stream) {
  process.stdout.write(chunk.choices[0]?.delta.content ?? "");
}
console.log();
`,
  };
}

export function newTurn(text: string, images: string[] = []): Turn {
  return { id: crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`, text, images, answers: [] };
}

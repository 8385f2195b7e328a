// untranslated file: code
import type { CodeSamples } from "../../components/as-code.tsx";
import { curlJson, PYTHON_CLIENT, TYPESCRIPT_CLIENT, toPython } from "../../components/code-text.ts";
import { t } from "../../i18n/translate.ts";
import { newTurn, toChatBody } from "./chat-body.ts";
import type { Conversation } from "./conversation.ts";
import { pathOf } from "./conversation-tree.ts";
import { toResponseBody } from "./tools/response-body.ts";
import { usesServiceTools } from "./tools/service-tools.ts";

/** Fields that OpenAI's clients do not know: extensions of other servers, which Python's client sends as `extra_body`. */
const EXTENSIONS: ReadonlySet<string> = new Set([
  "min_p",
  "top_k",
  "min_tokens",
  "repeat_penalty",
  "repetition_penalty",
  "repeat_last_n",
  "guided_json",
  "chat_template_kwargs",
  "think",
  "moderation",
]);

/** How a stream is asked for and read. */
const COMPLETIONS = {
  path: "chat/completions",
  method: "chat.completions.create",
  python: `for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)`,
  typescript: `for await (const chunk of stream) {
  process.stdout.write(chunk.choices[0]?.delta.content ?? "");
}`,
};
const RESPONSES: typeof COMPLETIONS = {
  path: "responses",
  method: "responses.create",
  python: `for event in stream:
    if event.type == "response.output_text.delta":
        print(event.delta, end="", flush=True)`,
  typescript: `for await (const event of stream) {
  if (event.type === "response.output_text.delta") process.stdout.write(event.delta);
}`,
};

/** The current settings as code; without turns, with an example question. */
export function chatSamples(conversation: Conversation, draft: string): CodeSamples {
  const { models, parameters } = conversation;
  const turns = pathOf(conversation);
  const [model = "MODEL"] = models;
  const question = draft.trim() === "" ? t("What is the capital of France?") : draft;
  const last = turns.at(-1);
  const sentTurns = draft.trim() === "" && last !== undefined ? turns : [...turns, newTurn(question)];
  const chatBody = toChatBody(model, parameters, sentTurns, 0);
  const isResponse = usesServiceTools(parameters);
  const { path, method, python, typescript } = isResponse ? RESPONSES : COMPLETIONS;
  const sent: Record<string, unknown> = {
    ...(isResponse ? toResponseBody(chatBody, { parameters, turns: sentTurns, column: 0 }) : chatBody),
  };
  const { stream: _stream, stream_options: _options, ...body } = sent;
  const entries = Object.entries(body);
  const standardFields = entries.filter(([name]) => !EXTENSIONS.has(name));
  const extra = Object.fromEntries(entries.filter(([name]) => EXTENSIONS.has(name)));
  const hasExtra = Object.keys(extra).length > 0;
  const parts = [...standardFields, ...(hasExtra ? [["extra_body", extra] as const] : [])]
    .map(([name, value]) => `    ${name}=${toPython(value, 4)},\n`)
    .join("");
  const fields = JSON.stringify({ ...Object.fromEntries(standardFields), stream: true }, undefined, 2);
  // A spread keeps TypeScript from refusing fields that the client's types do not have.
  const typed = hasExtra ? fields.replace(/\n\}$/, `,\n  ...${JSON.stringify(extra)},\n}`) : fields;
  return {
    curl: curlJson(path, { ...body, stream: true }, "-N "),
    python: `${PYTHON_CLIENT()}
stream = client.${method}(
${parts}    stream=True,
)
${python}
print()
`,
    typescript: `${TYPESCRIPT_CLIENT()}
const stream = await client.${method}(${typed});
${typescript}
console.log();
`,
  };
}

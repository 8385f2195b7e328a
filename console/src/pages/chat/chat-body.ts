import type OpenAI from "openai";
import { randomId } from "../../components/random-id.ts";
import { checkOther, checkSchema, checkTools } from "./check-json.ts";
import type { Parameters, Turn } from "./conversation.ts";

export type ChatBody = OpenAI.Chat.ChatCompletionCreateParamsStreaming;
type Message = OpenAI.Chat.ChatCompletionMessageParam;

/** Fields of the request by the parameter that sets them. */
const FIELDS = {
  temperature: "temperature",
  topP: "top_p",
  minP: "min_p",
  topK: "top_k",
  maxTokens: "max_completion_tokens",
  minTokens: "min_tokens",
  frequencyPenalty: "frequency_penalty",
  presencePenalty: "presence_penalty",
  repeatPenalty: "repeat_penalty",
  seed: "seed",
  choices: "n",
  reasoningEffort: "reasoning_effort",
  parallelToolCalls: "parallel_tool_calls",
} as const satisfies Partial<Record<keyof Parameters, string>>;

const TOP_LOGPROBS = 5;

const TAKEN: ReadonlySet<string> = new Set([
  ...Object.values(FIELDS),
  ...["model", "messages", "stream", "stream_options", "stop", "response_format", "tools", "tool_choice", "max_tokens"],
  ...["logprobs", "top_logprobs"],
]);

/** What is wrong in the JSON of the parameters, by parameter. */
export function parameterProblems({ schema, tools, other }: Parameters) {
  return {
    schema: checkSchema(schema).problem,
    tools: checkTools(tools).problem,
    other: checkOther(other, TAKEN).problem,
  };
}

/** Names of the tools; [] while their JSON is wrong. */
export function toolNames({ tools }: Parameters): string[] {
  const { value } = checkTools(tools);
  return Array.isArray(value) ? value.map((tool) => tool.function.name) : [];
}

/** Body of the request that answers the last of `turns` by the model at `column`. */
export function toChatBody(model: string, parameters: Parameters, turns: readonly Turn[], column: number): ChatBody {
  const { stop, toolChoice } = parameters;
  const messages = [
    ...systemMessages(parameters),
    ...turns.flatMap((turn, index) => [...toUserMessages(turn), ...toAnswerMessages(turns, index, column)]),
  ];
  const set = Object.entries(FIELDS).flatMap(([name, field]) => {
    const value = parameters[name as keyof typeof FIELDS];
    return value === undefined ? [] : [[field, value] as const];
  });
  const schema = checkSchema(parameters.schema).value;
  const tools = checkTools(parameters.tools).value;
  const hasTools = Array.isArray(tools) && tools.length > 0;
  return {
    model,
    messages,
    ...Object.fromEntries(set.filter(([field]) => field !== "parallel_tool_calls" || hasTools)),
    ...(stop.length > 0 && { stop }),
    ...(schema !== undefined && {
      response_format: { type: "json_schema" as const, json_schema: { name: "answer", schema: schema as never } },
    }),
    ...(hasTools && { tools: tools as OpenAI.Chat.ChatCompletionTool[] }),
    ...(hasTools && toolChoice !== undefined && { tool_choice: toToolChoice(toolChoice) }),
    ...(parameters.logprobs === true && { logprobs: true, top_logprobs: TOP_LOGPROBS }),
    ...(checkOther(parameters.other, TAKEN).value as object | undefined),
    stream: true,
    stream_options: { include_usage: true },
  };
}

export function systemMessages({ system }: Parameters): Message[] {
  return system.trim() === "" ? [] : [{ role: "system", content: system }];
}

/** The answer to an earlier turn; nothing for the last one. */
export function toAnswerMessages(turns: readonly Turn[], index: number, column: number): Message[] {
  const answer = turns[index]?.answers[column];
  if (index === turns.length - 1 || answer === undefined) return [];
  // Calls without results are left out: the API refuses them.
  if (turns[index + 1]?.toolResults !== undefined) return [toCallingMessage(answer)];
  return answer.text === "" ? [] : [{ role: "assistant", content: answer.text }];
}

function toToolChoice(choice: string): OpenAI.Chat.ChatCompletionToolChoiceOption {
  if (choice === "auto" || choice === "none" || choice === "required") return choice;
  return { type: "function", function: { name: choice } };
}

export function toUserMessages({ text, images, files = [], toolResults, approvals }: Turn): Message[] {
  if (approvals !== undefined) return [];
  if (toolResults !== undefined) {
    return toolResults.map(({ id, content }) => ({ role: "tool", tool_call_id: id, content }));
  }
  const texts = files.flatMap(({ name, text: content }) => (content === undefined ? [] : [fileText(name, content)]));
  const whole = [...texts, text].join("\n\n");
  const documents = files.flatMap(({ name, url }) =>
    url === undefined ? [] : [{ type: "file" as const, file: { filename: name, file_data: url } }],
  );
  if (images.length + documents.length === 0) return [{ role: "user", content: whole }];
  const parts = images.map((url) => ({ type: "image_url" as const, image_url: { url } }));
  return [{ role: "user", content: [...parts, ...documents, { type: "text", text: whole }] }];
}

/** A text file in a question. Its fence is longer than any within it. */
function fileText(name: string, text: string): string {
  const fence = "`".repeat(1 + Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length)));
  return `${name}:\n${fence}\n${text.trimEnd()}\n${fence}`;
}

function toCallingMessage({ text, toolCalls }: Turn["answers"][number]): Message {
  return {
    role: "assistant",
    content: text === "" ? null : text,
    tool_calls: toolCalls.map(({ id, name, arguments: given }) => ({
      id,
      type: "function",
      function: { name, arguments: given },
    })),
  };
}

export function newTurn(text: string, part: Partial<Turn> = {}): Turn {
  const id = randomId();
  return { id, text, images: [], answers: [], ...part };
}

/** The same question once more, with another text if given. */
export function sameTurn(
  { text: question, images, files, toolResults, approvals }: Turn,
  text: string = question,
): Turn {
  return newTurn(text, {
    images,
    ...(files && { files }),
    ...(toolResults && { toolResults }),
    ...(approvals && { approvals }),
  });
}

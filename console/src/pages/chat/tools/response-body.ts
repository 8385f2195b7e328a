import type OpenAI from "openai";
import { type ChatBody, systemMessages, toAnswerMessages, toUserMessages } from "../chat-body.ts";
import type { Parameters, Turn } from "../conversation.ts";
import { toSentItem } from "./service-tools.ts";

export type ResponseBody = OpenAI.Responses.ResponseCreateParamsStreaming;
type InputItem = OpenAI.Responses.ResponseInputItem;
type Fields = Record<string, unknown>;

/** What the model at `column` answers the last turn of. */
interface SentConversation {
  parameters: Parameters;
  turns: readonly Turn[];
  column: number;
}

/** Body of the Responses API that asks the same as a body of chat completions, with tools that the service runs. */
export function toResponseBody(body: ChatBody, conversation: SentConversation): ResponseBody {
  const { parameters } = conversation;
  const { vectorStores = [], webSearch = false, codeInterpreter = false } = parameters;
  const { model, messages: _messages, stream: _stream, stream_options: _options, tools = [], ...rest } = body;
  const { tool_choice, ...others } = rest;
  const { max_completion_tokens, response_format, reasoning_effort, logprobs: _logprobs, ...same } = others;
  const hasStores = vectorStores.length > 0;
  const sent: Fields = {
    ...same,
    model,
    input: toInput(conversation),
    ...(max_completion_tokens != null && { max_output_tokens: max_completion_tokens }),
    ...(reasoning_effort != null && { reasoning: { effort: reasoning_effort } }),
    ...(response_format?.type === "json_schema" && {
      text: { format: { type: "json_schema", ...response_format.json_schema } },
    }),
    tools: [
      ...(hasStores ? [{ type: "file_search", vector_store_ids: vectorStores }] : []),
      ...(webSearch ? [{ type: "web_search" }] : []),
      ...toMcpTools(parameters),
      ...(codeInterpreter ? [{ type: "code_interpreter", container: { type: "auto" } }] : []),
      ...(parameters.imageGeneration === true ? [{ type: "image_generation" }] : []),
      ...tools.map((tool) => (tool.type === "function" ? { type: "function", strict: null, ...tool.function } : tool)),
    ],
    ...(tool_choice !== undefined && { tool_choice: toToolChoice(tool_choice) }),
    include: [
      ...(hasStores ? ["file_search_call.results"] : []),
      ...(webSearch ? ["web_search_call.action.sources"] : []),
      ...(codeInterpreter ? ["code_interpreter_call.outputs"] : []),
    ],
    // The page sends the conversation with each question.
    store: false,
    stream: true,
  };
  delete sent.top_logprobs;
  return sent as unknown as ResponseBody;
}

/** Messages and calls in their order, so that the model knows what its tools returned. */
function toInput({ parameters, turns, column }: SentConversation): InputItem[] {
  const ofTurns = turns.flatMap((turn, index) => {
    const isLast = index === turns.length - 1;
    const calls = isLast ? [] : (turn.answers[column]?.serviceCalls ?? []);
    return [
      ...toUserMessages(turn).flatMap(toItems),
      ...(turn.approvals ?? []).map(
        ({ id, approve }): InputItem => ({
          type: "mcp_approval_response",
          approval_request_id: id,
          approve,
        }),
      ),
      ...calls.flatMap((call) => (toSentItem(call) as InputItem | undefined) ?? []),
      ...toAnswerMessages(turns, index, column).flatMap(toItems),
    ];
  });
  return [...systemMessages(parameters).flatMap(toItems), ...ofTurns];
}

/** Each call asks first, but for tools that the conversation allows. */
function toMcpTools({ mcpServers = [], allowedTools = [] }: Parameters): Fields[] {
  return mcpServers.map((label) => {
    const names = allowedTools.filter(({ server }) => server === label).map(({ tool }) => tool);
    return {
      type: "mcp",
      server_label: label,
      require_approval: names.length === 0 ? "always" : { never: { tool_names: names } },
    };
  });
}

function toItems(message: ChatBody["messages"][number]): InputItem[] {
  if (message.role === "tool") {
    return [{ type: "function_call_output", call_id: message.tool_call_id, output: String(message.content) }];
  }
  const { role, content } = message as { role: "system" | "user" | "assistant"; content?: unknown };
  const calls = message.role === "assistant" ? (message.tool_calls ?? []) : [];
  return [
    ...(content == null || content === "" ? [] : [{ role, content: toContent(content) } as InputItem]),
    ...calls.flatMap((call): InputItem[] =>
      call.type === "function"
        ? [{ type: "function_call", call_id: call.id, name: call.function.name, arguments: call.function.arguments }]
        : [],
    ),
  ];
}

function toContent(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  return content.map((part: { type: string; text?: string; image_url?: { url: string }; file?: object }) => {
    if (part.type === "image_url") return { type: "input_image", detail: "auto", image_url: part.image_url?.url };
    if (part.type === "file") return { type: "input_file", ...part.file };
    return { type: "input_text", text: part.text };
  });
}

function toToolChoice(choice: NonNullable<ChatBody["tool_choice"]>): unknown {
  return typeof choice === "object" && choice.type === "function"
    ? { type: "function", name: choice.function.name }
    : choice;
}

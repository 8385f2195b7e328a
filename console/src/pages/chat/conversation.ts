/** What a conversation consists of. */

export interface Parameters {
  system: string;
  temperature: number | undefined;
  topP: number | undefined;
  minP: number | undefined;
  topK: number | undefined;
  maxTokens: number | undefined;
  minTokens: number | undefined;
  frequencyPenalty: number | undefined;
  presencePenalty: number | undefined;
  repeatPenalty: number | undefined;
  seed: number | undefined;
  /** Answers to one question. */
  choices: number | undefined;
  stop: string[];
  reasoningEffort: string | undefined;
  /** JSON Schema of the answer, as text; empty: free text. */
  schema: string;
  /** JSON array of tools, as text; empty: none. */
  tools: string;
  /** `auto`, `none`, `required` or a tool's name; undefined: the model's default. */
  toolChoice: string | undefined;
  parallelToolCalls: boolean | undefined;
  /** JSON object of further fields of the request, as text. */
  other: string;
}

export interface Measures {
  firstTokenSeconds: number | undefined;
  seconds: number;
  promptTokens: number;
  cachedTokens: number;
  completionTokens: number;
}

export interface ToolCall {
  id: string;
  name: string;
  arguments: string;
}

export interface Answer {
  model: string;
  text: string;
  /** Further choices. */
  alternatives: string[];
  reasoning: string;
  toolCalls: ToolCall[];
  state: "running" | "done" | "stopped" | "failed";
  error?: string;
  finishReason?: string;
  /** ID of the request, to rate it. */
  requestId?: string;
  measures?: Measures;
}

export interface ToolResult {
  id: string;
  name: string;
  content: string;
}

export interface Turn {
  id: string;
  text: string;
  /** Data URLs. */
  images: string[];
  /** Results of the previous answer's tool calls, which stand in place of a question. */
  toolResults?: ToolResult[];
  /** One per model, in the order of `Conversation.models`. */
  answers: Answer[];
}

export interface Conversation {
  id: string;
  /** Epoch milliseconds of the last change. */
  changedAt: number;
  models: string[];
  parameters: Parameters;
  turns: Turn[];
}

export const NO_PARAMETERS: Parameters = {
  system: "",
  temperature: undefined,
  topP: undefined,
  minP: undefined,
  topK: undefined,
  maxTokens: undefined,
  minTokens: undefined,
  frequencyPenalty: undefined,
  presencePenalty: undefined,
  repeatPenalty: undefined,
  seed: undefined,
  choices: undefined,
  stop: [],
  reasoningEffort: undefined,
  schema: "",
  tools: "",
  toolChoice: undefined,
  parallelToolCalls: undefined,
  other: "",
};

export function newConversation(models: string[] = [], parameters: Parameters = NO_PARAMETERS): Conversation {
  return { id: crypto.randomUUID(), changedAt: Date.now(), models, parameters, turns: [] };
}

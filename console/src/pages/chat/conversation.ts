/** What a conversation consists of. */

import { randomId } from "../../components/random-id.ts";
import type { Approval, Citation, McpToolName, ServiceCall } from "./tools/service-tools.ts";

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
  /** Shows how probable each token was. */
  logprobs: boolean | undefined;
  /** JSON object of further fields of the request, as text. */
  other: string;
  /** IDs of vector stores that the model searches. */
  vectorStores?: string[];
  webSearch?: boolean;
  /** Names of MCP servers whose tools the model calls. */
  mcpServers?: string[];
  /** Tools that are called without a question in this conversation. */
  allowedTools?: McpToolName[];
  codeInterpreter?: boolean;
  imageGeneration?: boolean;
}

export interface Measures {
  firstTokenSeconds: number | undefined;
  seconds: number;
  promptTokens: number;
  cachedTokens: number;
  completionTokens: number;
}

/** How far an answer is that is being generated. */
interface Progress {
  firstTokenSeconds: number | undefined;
  seconds: number;
  /** Parts of the stream, most of which are one token. */
  tokens: number;
}

/** Token of an answer with its log probability, and the most probable ones in its place. */
export interface TokenProbability {
  text: string;
  logprob: number;
  top: { text: string; logprob: number }[];
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
  /** Calls of tools that the service ran. */
  serviceCalls?: ServiceCall[];
  citations?: Citation[];
  state: "running" | "done" | "stopped" | "failed";
  error?: string;
  finishReason?: string;
  /** ID of the request, to rate it. */
  requestId?: string;
  measures?: Measures;
  /** While it is generated. */
  progress?: Progress;
  /** Tokens of the first choice, if the request asks for log probabilities. */
  tokens?: TokenProbability[];
}

export interface ToolResult {
  id: string;
  name: string;
  content: string;
}

/** File in a question: its text, or its content as a data URL. */
export interface AttachedFile {
  name: string;
  text?: string;
  url?: string;
}

export interface Turn {
  id: string;
  /** Turn that it follows; null: none; left out: the one before it in the list. */
  parent?: string | null;
  text: string;
  /** Data URLs. */
  images: string[];
  files?: AttachedFile[];
  /** Results of the previous answer's tool calls, which stand in place of a question. */
  toolResults?: ToolResult[];
  /** Decisions about calls of the previous answer, which stand in place of a question. */
  approvals?: Approval[];
  /** One per model, in the order of `Conversation.models`. */
  answers: Answer[];
}

/** State of a conversation on the server. */
export interface SavedState {
  /** Revision that this browser has read or written; 0: the server has none. */
  revision: number;
  /** Whether this browser has changes that the server lacks. */
  isChanged: boolean;
}

/** Place of a conversation in the list. */
export interface Arrangement {
  /** Null: in no folder. */
  folder: string | null;
  isPinned: boolean;
}

export interface Conversation {
  id: string;
  /** Epoch milliseconds of the last change. */
  changedAt: number;
  models: string[];
  parameters: Parameters;
  /** All branches; `pathOf` finds those that are shown. */
  turns: Turn[];
  /** Turn that is shown after another one, by the ID of the other; empty for a first turn. */
  selected?: Record<string, string>;
  /** Name that the person gave it; left out: the beginning of the first question. */
  title?: string;
  /** Where the list has it, if it belongs to this browser only: the server has that of others. */
  arrangement?: Arrangement;
  /** Left out: it belongs to this browser only. */
  saved?: SavedState;
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
  logprobs: undefined,
  other: "",
};

/** Begins a conversation, in which no tool may be called without a question yet. */
export function newConversation(
  models: string[] = [],
  { allowedTools: _, ...parameters }: Parameters = NO_PARAMETERS,
): Conversation {
  return { id: randomId(), changedAt: Date.now(), models, parameters, turns: [] };
}

/** Conversations, which stay in this browser. */

export interface Parameters {
  system: string;
  temperature: number | undefined;
  topP: number | undefined;
  maxTokens: number | undefined;
  frequencyPenalty: number | undefined;
  presencePenalty: number | undefined;
  seed: number | undefined;
  stop: string[];
  reasoningEffort: string | undefined;
  /** JSON Schema of the answer, as text; empty: free text. */
  schema: string;
  /** JSON array of tools, as text; empty: none. */
  tools: string;
}

export interface Measures {
  firstTokenSeconds: number | undefined;
  seconds: number;
  promptTokens: number;
  completionTokens: number;
}

export interface ToolCall {
  name: string;
  arguments: string;
}

export interface Answer {
  model: string;
  text: string;
  reasoning: string;
  toolCalls: ToolCall[];
  state: "running" | "done" | "stopped" | "failed";
  error?: string;
  finishReason?: string;
  measures?: Measures;
}

export interface Turn {
  id: string;
  text: string;
  /** Data URLs. */
  images: string[];
  /** One per model, in the order of `Conversation.models`. */
  answers: Answer[];
}

export interface Conversation {
  models: string[];
  parameters: Parameters;
  turns: Turn[];
}

const NO_PARAMETERS: Parameters = {
  system: "",
  temperature: undefined,
  topP: undefined,
  maxTokens: undefined,
  frequencyPenalty: undefined,
  presencePenalty: undefined,
  seed: undefined,
  stop: [],
  reasoningEffort: undefined,
  schema: "",
  tools: "",
};

const STORAGE_KEY = "parlance-conversation";

/** Reads the stored conversation; an interrupted answer counts as stopped. */
export function loadConversation(): Conversation {
  try {
    const stored = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? "null") as Conversation | null;
    if (stored === null || !Array.isArray(stored.turns)) throw new Error("nothing stored");
    const turns = stored.turns.map((turn) => ({
      ...turn,
      answers: turn.answers.map((answer) =>
        answer.state === "running" ? { ...answer, state: "stopped" as const } : answer,
      ),
    }));
    return { models: stored.models, parameters: { ...NO_PARAMETERS, ...stored.parameters }, turns };
  } catch {
    return { models: [], parameters: NO_PARAMETERS, turns: [] };
  }
}

export function storeConversation(conversation: Conversation): void {
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify(conversation));
  } catch {
    // Storage is full or disabled: the conversation lasts until the page is closed.
  }
}

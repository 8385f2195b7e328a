import { Fault } from "../kernel/faults.ts";
import { chatModels } from "./first-chat-model.ts";
import type { ServiceClient } from "./service-client.ts";

export interface ModelAnswer {
  id: string;
  metadata?: { task: string; context_window?: number | null; capabilities?: { tools?: boolean | null } };
}

/** Tokens: the prompt and the tools of coding agents take about 20,000. */
const MIN_AGENT_WINDOW = 32_768;
/** Has tools and 40,960 tokens. */
const PULLED_MODEL = "qwen3-4b";

export async function readModel(service: ServiceClient, id: string): Promise<ModelAnswer> {
  return service.read<ModelAnswer>("GET", `/v1/models/${encodeURIComponent(id)}?include_metadata=true`);
}

/** Whether a coding agent can work with a model. What an upstream does not state is no reason against its model. */
export function suitsAgents({ metadata }: ModelAnswer): boolean {
  return metadata?.capabilities?.tools !== false && (metadata?.context_window ?? MIN_AGENT_WINDOW) >= MIN_AGENT_WINDOW;
}

/** Finds the chat model with tools and the largest context window. Throws a Fault where none suits a coding agent. */
export async function agentModel(service: ServiceClient, client: string): Promise<ModelAnswer> {
  const models = await Promise.all((await chatModels(service)).map((id) => readModel(service, id)));
  const [largest] = models
    .filter(({ metadata }) => metadata?.capabilities?.tools !== false)
    .sort((one, other) => windowOf(other) - windowOf(one));
  if (largest !== undefined && suitsAgents(largest)) return largest;
  const size = (tokens: number) => tokens.toLocaleString("en");
  const present =
    largest === undefined
      ? "there is none."
      : `the largest is \`${largest.id}\` with ${size(windowOf(largest))} tokens.`;
  throw new Fault(
    "not-found",
    `${client} needs a chat model with tools and a context window of at least ${size(MIN_AGENT_WINDOW)} tokens; ${present} Download one (\`parlance models pull ${PULLED_MODEL}\`; \`parlance models recommend\` lists others), or name a model with --model.`,
  );
}

function windowOf({ metadata }: ModelAnswer): number {
  return metadata?.context_window ?? MIN_AGENT_WINDOW;
}

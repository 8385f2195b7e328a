import { withSummaries } from "../../wire/responses/compaction.ts";
import { type ResponsesBody, refuseStorage } from "../../wire/responses/responses-body.ts";
import type { InputItem, Prompt } from "../../wire/responses/responses-input.ts";
import { referencedIds, replaceReferences } from "../../wire/responses/stored-items.ts";
import type { ResponseStorage } from "./response-storage.ts";
import type { HoldBytes } from "./stored-items.ts";

interface PromptSource {
  projectId: string;
  hold: HoldBytes;
  /** Messages of the stored prompt that the request names; default: it names none. */
  promptMessages?: readonly InputItem[] | undefined;
}

/** Reads the stored items that a request continues from or refers to. Throws a Fault for unknown ids. */
export async function resolvePrompt(
  storage: ResponseStorage | undefined,
  body: ResponsesBody,
  { projectId, hold, promptMessages = [] }: PromptSource,
): Promise<Prompt> {
  const { input = [], previous_response_id: previous, conversation } = body;
  if (storage === undefined) {
    refuseStorage(body);
    return { context: promptMessages, input };
  }
  const { items, conversations } = storage;
  let context: unknown[] = [];
  if (previous !== undefined) context = await items.readChain({ projectId, id: previous }, hold);
  if (conversation !== undefined) context = await conversations.readItems({ projectId, id: conversation }, hold);
  const ids = referencedIds(input);
  const referencedItems = ids.length === 0 ? new Map() : await items.find(projectId, ids, hold);
  // Stored items were validated as input when they were stored.
  const prompt = {
    context: [...promptMessages, ...(context as InputItem[])],
    input: replaceReferences(input, referencedItems),
  };
  return withSummaries(prompt, (content) => storage.summaries.open(projectId, content));
}

import type { Task } from "../../contracts/task.ts";
import { asText, type Fields } from "./imported.ts";
import type { AddNote, LiteLlmVariables } from "./litellm-variables.ts";

/** An entry of LiteLLM's model list. */
export interface Entry {
  params: Fields;
  info: Fields;
  /** Place of the entry in the file. */
  path: string;
  task: Task;
  variables: LiteLlmVariables;
  note: AddNote;
}

/** Address without the slashes at its end. */
export function addressOf(params: Fields): string | undefined {
  return (asText(params.api_base) ?? asText(params.base_url))?.replace(/\/+$/, "");
}

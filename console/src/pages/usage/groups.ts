import { type Message, msg } from "../../i18n/translate.ts";

export const GROUPS = [
  { value: "model", label: msg("Model") },
  { value: "project_id", label: msg("Project") },
  { value: "api_key_id", label: msg("Key") },
  { value: "user_id", label: msg("Person") },
  { value: "end_user", label: msg("End user") },
  { value: "tag", label: msg("Tag") },
  { value: "operation", label: msg("Operation") },
  { value: "time", label: msg("Time") },
] as const;
export type Group = (typeof GROUPS)[number]["value"];

/** Titles of tables by group; by time, the interval's. */
export const BY_GROUP: Readonly<Record<Exclude<Group, "time">, Message>> = {
  model: msg("By model"),
  project_id: msg("By project"),
  api_key_id: msg("By key"),
  user_id: msg("By person"),
  end_user: msg("By end user"),
  tag: msg("By tag"),
  operation: msg("By operation"),
};

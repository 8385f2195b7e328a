/** The tool `code_interpreter` of a Responses request, its items and citations. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { listOf } from "../../kernel/list-of.ts";
import { MAX_CONTAINER_FILES } from "../openai/containers.ts";
import { optional } from "../openai/optional.ts";
import { ReferencedSkills } from "../openai/skills.ts";
import type { Annotation, ServiceItem } from "./item-events.ts";

export const CODE_OUTPUTS = "code_interpreter_call.outputs";

export const CodeInterpreterTool = lazy.strictObject(() => ({
  type: z.literal("code_interpreter"),
  container: z.union([
    z.string().min(1),
    z.strictObject({
      type: z.literal("auto"),
      file_ids: optional(listOf(z.string().min(1)).max(MAX_CONTAINER_FILES)),
      // Not in OpenAI's API, where the tool `shell` has them.
      skills: optional(ReferencedSkills),
      memory_limit: optional(z.enum(["1g", "4g", "16g", "64g"])),
      network_policy: optional(z.strictObject({ type: z.literal("disabled") })),
    }),
  ]),
}));

export const CODE_PARAMETERS = {
  type: "object",
  properties: { code: { type: "string", description: "Python code, as the cell of a notebook." } },
  required: ["code"],
  additionalProperties: false,
};

export type CodeOutput = { type: "logs"; logs: string } | { type: "image"; url: string };

export function toCodeItem(
  id: string,
  parts: { status: string; code: string; containerId: string; outputs: readonly CodeOutput[] | null },
): ServiceItem {
  const { status, code, containerId, outputs } = parts;
  return { id, type: "code_interpreter_call", status, code, container_id: containerId, outputs };
}

/** Returns the container of the latest call among the items of a conversation. */
export function latestContainer(items: readonly { type?: unknown; container_id?: unknown }[]): string | undefined {
  const id = items.findLast(({ type }) => type === "code_interpreter_call")?.container_id;
  return typeof id === "string" ? id : undefined;
}

export interface CitedFile {
  id: string;
  containerId: string;
  path: string;
}

/** Returns citations of files that an answer's text names, by path or by name. */
export function findFileCitations(text: string, files: readonly CitedFile[]): Annotation[] {
  return files.flatMap(({ id, containerId, path }) => {
    const filename = path.slice(path.lastIndexOf("/") + 1);
    const mark = [`sandbox:${path}`, path, filename].find((each) => text.includes(each));
    if (mark === undefined) return [];
    const start_index = text.indexOf(mark);
    const place = { start_index, end_index: start_index + mark.length };
    return [{ type: "container_file_citation", container_id: containerId, file_id: id, filename, ...place }];
  });
}

/** Output of an earlier call in place of its item. */
export function textOfCodeOutputs(outputs: unknown): string {
  const logs = Array.isArray(outputs)
    ? outputs.flatMap(({ logs: text }) => (typeof text === "string" ? [text] : []))
    : [];
  return logs.length === 0 ? "The output of this code is not repeated here." : logs.join("\n");
}

/** Runs what a server answers through the guardrails of a call: its result, or the message of its failure. */

import type { GuardResult } from "../../inference/guardrails/guard-tool.ts";
import { Fault } from "../../kernel/faults.ts";
import { parseObject } from "../../kernel/json/parse-object.ts";
import type { CallToolResult, CompleteResult, GetPromptResult, ReadResourceResult } from "./mcp-connection.ts";
import { describeFailure } from "./mcp-result.ts";
import { type Parts, partsOfCompletion, partsOfContents, partsOfPrompt, partsOfToolResult } from "./result-parts.ts";

/** Returns the result of an MCP tool after the guardrails. Throws a Fault. `unreadable`: see `GuardResult`. */
export function guardToolResult(
  result: CallToolResult,
  guardResult: GuardResult,
  unreadable?: string,
): Promise<CallToolResult> {
  return guardParts(partsOfToolResult(result), guardResult, unreadable);
}

/** The same for a prompt, whose messages are content like that of results. */
export function guardPromptResult(result: GetPromptResult, guardResult: GuardResult): Promise<GetPromptResult> {
  const content = result.messages.map((message) => message.content);
  return guardParts(partsOfPrompt(result), guardResult, unreadableIn({ content }));
}

/** The same for the contents of a resource. */
export function guardResourceResult(result: ReadResourceResult, guardResult: GuardResult): Promise<ReadResourceResult> {
  const content = result.contents.map((resource) => ({ type: "resource" as const, resource }));
  return guardParts(partsOfContents(result), guardResult, unreadableIn({ content }));
}

/** The same for the values of an argument. */
export function guardCompletion(result: CompleteResult, guardResult: GuardResult): Promise<CompleteResult> {
  return guardParts(partsOfCompletion(result), guardResult);
}

/**
 * Returns a failure and its message, which a server may have written, after the guardrails. Where they refuse the message
 * or cannot check it, that is the failure.
 */
export async function guardFailure(
  failure: unknown,
  message: string,
  guardResult: GuardResult,
): Promise<{ failure: unknown; message: string }> {
  try {
    const [guarded = ""] = await guardResult([message]);
    return { failure, message: guarded };
  } catch (refusal) {
    return { failure: refusal, message: describeFailure(refusal) };
  }
}

/** The same for the failure of a server as its clients read it. */
export async function guardFault(fault: Fault, guardResult: GuardResult): Promise<Fault> {
  const { failure, message } = await guardFailure(fault, fault.message, guardResult);
  if (failure instanceof Fault && failure !== fault) return failure;
  const { kind, code, cause } = fault;
  return new Fault(kind, failure === fault ? message : "The server failed.", { ...fault, code, cause });
}

/** The first content of a result that has no text, by its type; undefined: all has. */
export function unreadableIn({ content = [] }: CallToolResult): string | undefined {
  for (const block of content) {
    if (block.type === "image") return "images";
    if (block.type === "audio") return "audio";
    if (block.type === "resource" && !("text" in block.resource)) return "files";
  }
  return undefined;
}

async function guardParts<Value>(
  { texts, others, join }: Parts<Value>,
  guardResult: GuardResult,
  unreadable?: string,
): Promise<Value> {
  const rest = Object.keys(others).length === 0 ? [] : [JSON.stringify(others)];
  const guarded = await guardResult([...texts, ...rest], unreadable);
  const values = guarded.values();
  const fields = rest.length === 0 ? {} : parseObject(guarded.at(-1) ?? "");
  if (fields !== undefined) return join(() => values.next().value ?? "", fields);
  const message =
    "A guardrail put a text that is not a JSON object in place of the structured content or other fields of the result.";
  throw new Fault("answer-unfit", message, { code: "upstream_error" });
}

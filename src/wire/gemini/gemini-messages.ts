/** Contents of Gemini's requests as messages of chat completions, whose images, files and recordings every model is given. */

import { unsupportedValue } from "../../kernel/faults.ts";
import { OpenCalls } from "../open-calls.ts";
import type { GenerateContentBody, Part } from "./generate-body.ts";
import { readThoughtSignature } from "./thought-signatures.ts";

type Fields = Record<string, unknown>;
type Call = Fields & { id: string; name: string };

/** Throws a Fault for content that models here do not take. */
export function toMessages({ systemInstruction, contents }: GenerateContentBody): Fields[] {
  const calls = new GeminiCalls();
  const system = toParts(systemInstruction?.parts ?? [], "systemInstruction");
  const messages = system.length === 0 ? [] : [{ role: "system", content: system }];
  return [
    ...messages,
    ...contents.flatMap(({ role, parts }, index) => {
      const path = `contents[${index}]`;
      return role === "model" ? fromModel(parts ?? [], path, calls) : fromUser(parts ?? [], path, role, calls);
    }),
  ];
}

/** Gemini's clients may send neither calls nor results with an ID. */
class GeminiCalls {
  readonly #open = new OpenCalls();
  #count = 0;

  add({ id, name }: { id?: string | null | undefined; name: string }): string {
    // Nine letters or digits, which the strictest chat templates require.
    const call = { id: id ?? `call${String(this.#count++).padStart(5, "0")}`, name };
    this.#open.add(call);
    return call.id;
  }

  /** Returns the ID of the call that a result answers; undefined without one. */
  take({ id, name }: { id?: string | null | undefined; name: string }): string | undefined {
    return this.#open.take(id == null ? { name } : { id })?.id;
  }
}

function fromModel(parts: readonly Part[], path: string, calls: GeminiCalls): Fields[] {
  const details: Fields[] = [];
  const called: Call[] = [];
  let thought = "";
  for (const { text, thought: isThought, thoughtSignature: sent, functionCall } of parts) {
    if (isThought === true) thought += text ?? "";
    const read = sent == null ? undefined : readThoughtSignature(sent);
    if (functionCall != null) called.push(toCall(functionCall, read?.signature, calls));
    else if (read?.encrypted !== undefined) details.push({ type: "reasoning.encrypted", data: read.encrypted });
    else if (read !== undefined) {
      details.push({ type: "reasoning.text", text: thought, signature: read.signature });
      thought = "";
    }
  }
  const content = toParts(
    parts.filter((part) => part.thought !== true && part.functionCall == null),
    path,
  );
  if (content.length === 0 && called.length === 0) return [];
  return [
    {
      role: "assistant",
      content: content.length === 0 ? "" : content,
      ...(called.length > 0 && { tool_calls: called }),
      ...(details.length > 0 && { reasoning_details: details }),
    },
  ];
}

function toCall(
  { id, name, args }: NonNullable<Part["functionCall"]>,
  signature: string | undefined,
  calls: GeminiCalls,
): Call {
  return {
    ...{ id: calls.add({ id, name }), name, type: "function" },
    function: { name, arguments: JSON.stringify(args ?? {}) },
    ...(signature !== undefined && { extra_content: { google: { thought_signature: signature } } }),
  };
}

/** Results of calls come first; their images follow with the user's parts. */
function fromUser(parts: readonly Part[], path: string, role: string | null | undefined, calls: GeminiCalls): Fields[] {
  const results: Fields[] = [];
  const others: Part[] = [];
  for (const [index, part] of parts.entries()) {
    const { functionResponse: result } = part;
    if (result == null) {
      others.push(part);
      continue;
    }
    const param = `${path}.parts[${index}].functionResponse`;
    const id = calls.take(result);
    if (id === undefined) throw unsupportedValue(`'${param}' answers no functionCall before it.`, param);
    results.push({ role: "tool", tool_call_id: id, content: textOf(result.response ?? {}) });
    others.push(...((result.parts ?? []) as Part[]));
  }
  const content = toParts(others, path);
  if (content.length === 0) return results;
  return [...results, { role: role === "system" ? "system" : "user", content }];
}

/** Google's documentation has clients write a text as `result` or `output`. */
function textOf(response: Fields): string {
  const [[name, value] = [], ...others] = Object.entries(response);
  const isText = (name === "result" || name === "output") && typeof value === "string" && others.length === 0;
  return isText ? value : JSON.stringify(response);
}

function toParts(parts: readonly Part[], path: string): Fields[] {
  return parts.flatMap((part, index) => toPart(part, `${path}.parts[${index}]`));
}

function toPart({ text, inlineData, fileData, functionCall }: Part, path: string): Fields[] {
  if (inlineData != null) {
    const { mimeType, data, displayName } = inlineData;
    const url = `data:${mimeType};base64,${data}`;
    if (mimeType.startsWith("image/")) return [{ type: "image_url", image_url: { url } }];
    const audio = /^audio\/(?:x-)?([\w-]+)/.exec(mimeType)?.[1];
    if (audio !== undefined) return [{ type: "input_audio", input_audio: { data, format: audio } }];
    return [{ type: "file", file: { filename: displayName ?? "", file_data: url } }];
  }
  if (fileData != null) return [toReference(fileData, `${path}.fileData.fileUri`)];
  if (functionCall != null) {
    throw unsupportedValue(
      `'${path}.functionCall' belongs to a content with the role 'model'.`,
      `${path}.functionCall`,
    );
  }
  return text ? [{ type: "text", text }] : [];
}

/** An image by its address, or a file of the project. */
function toReference({ fileUri, mimeType }: NonNullable<Part["fileData"]>, param: string): Fields {
  const id = /(?:^|\/)(file-\w+)$/.exec(fileUri)?.[1];
  if (id !== undefined) return { type: "file", file: { file_id: id } };
  if (mimeType?.startsWith("image/") && /^https?:/i.test(fileUri)) {
    return { type: "image_url", image_url: { url: fileUri } };
  }
  const message = `'${param}' must be the address of an image, with its 'mimeType', or the ID of a file of this project. Send other content as 'inlineData'.`;
  throw unsupportedValue(message, param);
}

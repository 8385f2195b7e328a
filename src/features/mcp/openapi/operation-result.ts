/** What a model reads of the answer to a call. */

import type { CallToolResult } from "../mcp-connection.ts";

export interface OperationAnswer {
  status: number;
  mediaType: string;
  bytes: Buffer;
}

const TEXT =
  /^(text\/|application\/(json|xml|yaml|x-yaml|javascript|graphql|x-www-form-urlencoded|([\w.-]+\+)?(json|xml|yaml))\b)/;

/** A status that is not a success is the tool's error, with what the API says of it. */
export function toResult({ status, mediaType, bytes }: OperationAnswer): CallToolResult {
  const block = blockOf(mediaType, bytes);
  if (status >= 200 && status < 300) return { content: [block] };
  const more = status >= 300 && status < 400 ? " Redirects are not followed." : "";
  const head = `The API answered with the status ${status}.${more}`;
  const text = block.type === "text" && block.text !== "" ? `${head}\n\n${block.text}` : head;
  return { isError: true, content: [{ type: "text", text }] };
}

export function failed(message: string): CallToolResult {
  return { isError: true, content: [{ type: "text", text: message }] };
}

type Block = { type: "text"; text: string } | { type: "image" | "audio"; data: string; mimeType: string };

function blockOf(mediaType: string, bytes: Buffer): Block {
  if (bytes.length === 0) return { type: "text", text: "" };
  const [kind] = mediaType.split("/");
  if (kind === "image" && !mediaType.includes("xml"))
    return { type: "image", data: bytes.toString("base64"), mimeType: mediaType };
  if (kind === "audio") return { type: "audio", data: bytes.toString("base64"), mimeType: mediaType };
  if (mediaType === "" || TEXT.test(mediaType) || kind === "image") return { type: "text", text: bytes.toString() };
  return {
    type: "text",
    text: `[content of the type ${mediaType.slice(0, 100)}, ${bytes.length} bytes, which is not passed on]`,
  };
}

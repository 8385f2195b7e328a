/** Files that a message of `parlance chat` has with it: images as such, others as text. */

import { readFile } from "node:fs/promises";
import { basename, extname } from "node:path";
import { Fault, invalidRequest } from "../kernel/faults.ts";

export type ContentPart = { type: "text"; text: string } | { type: "image_url"; image_url: { url: string } };

const IMAGES: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".webp": "image/webp",
  ".gif": "image/gif",
};
const MAX_BYTES = 20e6;

/** Throws a Fault for a file that cannot be read, is too large, or is neither an image nor text. */
export async function readChatFile(path: string): Promise<ContentPart> {
  const bytes = await readFile(path).catch((failure: NodeJS.ErrnoException) => {
    throw new Fault("not-found", `${path} cannot be read (${failure.code}).`, { cause: failure });
  });
  if (bytes.length > MAX_BYTES) {
    throw invalidRequest(`${path} has ${bytes.length} bytes. A file of a chat has at most ${MAX_BYTES}.`);
  }
  const type = IMAGES[extname(path).toLowerCase()];
  if (type !== undefined) {
    return { type: "image_url", image_url: { url: `data:${type};base64,${bytes.toString("base64")}` } };
  }
  if (bytes.includes(0)) throw invalidRequest(`${path} is neither text nor a PNG, JPEG, WebP or GIF image.`);
  return { type: "text", text: `File ${basename(path)}:\n\n${bytes.toString()}` };
}

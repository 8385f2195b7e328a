/** Images that requests edit or vary: uploaded, within a body, or named by an address or a file. */

import { openAsBlob } from "node:fs";
import { open } from "node:fs/promises";
import type { FastifyReply } from "fastify";
import type { ImageFile } from "../../contracts/image-model.ts";
import type { UploadedFile } from "../../http/upload.ts";
import type { ContentReference, ResolvedContent } from "../../wire/content-references.ts";
import { type ImageReference, toImageFile } from "../../wire/openai/images/image-body.ts";
import { base64Of } from "../../wire/openai/images/image-data-url.ts";
import { type FileStorage, mediaTypeOf } from "../files/index.ts";

export interface InputImages {
  images: readonly ImageFile[];
  mask: ImageFile | undefined;
}

export const NO_INPUTS: InputImages = { images: [], mask: undefined };
const SIGNATURE_BYTES = 16;

/** Throws a Fault for a file that is not an image. */
export async function imageOfUpload({ field, path, name, bytes }: UploadedFile): Promise<ImageFile> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SIGNATURE_BYTES), 0, SIGNATURE_BYTES, 0);
    const type = mediaTypeOf(buffer.subarray(0, bytesRead), "");
    return toImageFile({ name: name || field, bytes, open: () => openAsBlob(path, { type }) }, type, field);
  } finally {
    await file.close();
  }
}

/** `field`: where the request has the image. Throws a Fault for another content. */
export function imageOfBase64(base64: string, field: string): ImageFile {
  return imageOfBytes(Buffer.from(base64, "base64"), field);
}

/** Its name says nothing: upstreams get it, and no guardrail reads it. */
function imageOfBytes(bytes: Buffer, field: string): ImageFile {
  const type = mediaTypeOf(bytes.subarray(0, SIGNATURE_BYTES), "");
  const content = new Uint8Array(bytes);
  return toImageFile(
    { name: "image", bytes: bytes.length, open: async () => new Blob([content], { type }) },
    type,
    field,
  );
}

/**
 * Reads the images that a JSON body names. `admit`: counts the request before any is read elsewhere. Throws a Fault for
 * one that may not be read or is no image.
 */
export async function readReferences(
  reply: FastifyReply,
  { images, mask }: { images: readonly ImageReference[]; mask: ImageReference | undefined },
  { resolver, admit }: { resolver: FileStorage["resolver"]; admit: () => Promise<void> },
): Promise<InputImages> {
  const places = new Map(images.map((image, index) => [`images[${index}]`, image]));
  if (mask !== undefined) places.set("mask", mask);
  const elsewhere = [...places].flatMap(([at, reference]) => referenceOf(reference, at) ?? []);
  if (elsewhere.length > 0) await admit();
  const contents =
    elsewhere.length === 0 ? new Map<string, ResolvedContent>() : await resolver.readAll(reply, elsewhere);
  const imageAt = (at: string, { image_url: url = "" }: ImageReference) => {
    const content = contents.get(`${at}.image_url`) ?? contents.get(`${at}.file_id`);
    if (content !== undefined) return imageOfBytes(content.bytes, at);
    return imageOfBase64(base64Of(url) ?? "", `${at}.image_url`);
  };
  return {
    images: images.map((image, index) => imageAt(`images[${index}]`, image)),
    mask: mask && imageAt("mask", mask),
  };
}

/** Undefined for a data URL, which is the image itself. */
function referenceOf({ image_url: url, file_id: id }: ImageReference, at: string): ContentReference | undefined {
  if (id !== undefined) return { kind: "file", id, param: `${at}.file_id` };
  if (url === undefined || /^data:/i.test(url)) return undefined;
  return { kind: "url", url, param: `${at}.image_url` };
}

/** The contract of models that make images. Types only. */

import type { TokenUsage } from "../kernel/usage.ts";
import type { CallerHeaders, OpenModel } from "./open-model.ts";

export interface ImageModel extends OpenModel {
  readonly task: "image";
  readonly abilities: ImageAbilities;
  /**
   * Streams the images and ends with exactly one `finish`. Stops early, without throwing, once `signal` aborts. Throws a
   * Fault.
   */
  generate(request: ImageRequest, signal: AbortSignal): AsyncIterable<ImageEvent>;
}

/** Optional features that a request may use; undefined where an upstream decides. */
export interface ImageAbilities {
  edits: boolean | undefined;
  variations: boolean | undefined;
  /** True if the model sends images that are not finished. */
  partialImages: boolean | undefined;
  transparency: boolean | undefined;
}

export const IMAGE_FORMATS = ["png", "jpeg", "webp"] as const;

export interface ImageRequest {
  /** The requested catalog ID. */
  model: string;
  operation: "generation" | "edit" | "variation";
  /** "" for a variation. */
  prompt: string;
  /** Images to edit or to vary. */
  images: readonly ImageFile[];
  /** Its transparent pixels are the area to edit. */
  mask: ImageFile | undefined;
  count: number;
  /** Undefined: the model chooses. */
  size: ImageSize | undefined;
  /** Undefined: the model's default. */
  format: (typeof IMAGE_FORMATS)[number] | undefined;
  /** 0 to 100, for jpeg and webp. */
  compression: number | undefined;
  /** Further fields of OpenAI's API, as the caller wrote them: `quality`, `style`, `background`. */
  options: Readonly<Record<string, string>>;
  /** Unfinished images to send before each one, 0 to 3. */
  partialImages: number;
  /** True if the caller requested a stream; an upstream is then asked for one too. */
  stream: boolean;
  callerHeaders?: CallerHeaders;
}

export interface ImageSize {
  width: number;
  height: number;
}

export interface ImageFile {
  /** Name with an extension. */
  name: string;
  /** Such as `image/png`. */
  type: string;
  bytes: number;
  open(): Promise<Blob>;
}

export type ImageEvent =
  /** An unfinished image. */
  | { type: "partial"; index: number; base64: string }
  /** A finished image: its content, or the address where the provider has it. */
  | { type: "image"; base64?: string | undefined; url?: string | undefined; revisedPrompt?: string | undefined }
  /** End of the answer. `usage`: tokens, if the provider counts them; `facts`: what it says of the images. */
  | { type: "finish"; usage: TokenUsage | undefined; facts: ImageFacts };

/** Properties of finished images, undefined where the engine does not say. */
export interface ImageFacts {
  size?: string | undefined;
  quality?: string | undefined;
  background?: string | undefined;
  format?: string | undefined;
}

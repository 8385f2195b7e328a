/** Fields of POST /v1/images/generations, /edits and /variations, and the request that they come to. */

import { z } from "zod";
import { IMAGE_FORMATS, type ImageFile, type ImageRequest, type ImageSize } from "../../../contracts/image-model.ts";
import { invalidRequest, unsupportedValue } from "../../../kernel/faults.ts";
import { lazy } from "../../../kernel/lazy.ts";
import { parsedListOf } from "../../../kernel/list-of.ts";
import { named } from "../../openapi/named.ts";
import { optional } from "../optional.ts";
import { checkUnknownFields, type UnknownFieldsPolicy, type UnsupportedField } from "../unknown-fields.ts";
import { parse } from "../validate.ts";

export interface ImageLimits {
  maxImages: number;
  maxPixels: number;
}

/** OpenAI's limit. */
const MAX_PROMPT_CHARACTERS = 32_000;
const MAX_PARTIAL_IMAGES = 3;

const word = z.string().regex(/^[a-z0-9_-]{1,40}$/i, { error: "it must be one word of letters, digits, - and _" });
const size = z
  .string()
  .regex(/^(auto|[1-9]\d{0,4}x[1-9]\d{0,4})$/, { error: "it must be auto or a width and a height such as 1024x1024" });
const prompt = z.string().min(1).max(MAX_PROMPT_CHARACTERS);

const common = {
  /** Left out: the first image model. */
  model: optional(z.string().min(1)),
  n: optional(z.int().min(1)),
  size: optional(size),
  response_format: optional(z.enum(["url", "b64_json"])),
  user: optional(z.string()),
};
const shared = {
  ...common,
  prompt,
  quality: optional(word),
  background: optional(word),
  output_format: optional(z.enum(IMAGE_FORMATS)),
  output_compression: optional(z.int().min(0).max(100)),
  partial_images: optional(z.int().min(0).max(MAX_PARTIAL_IMAGES)),
  stream: optional(z.boolean()),
  safety_identifier: optional(z.string()),
};

export const ImageGenerationBody = named(
  "ImageGenerationBody",
  lazy.object(() => ({
    ...shared,
    style: optional(word),
    moderation: optional(word),
  })),
);
export const ImageEditBody = named("ImageEditBody", z.object({ ...shared, input_fidelity: optional(word) }));

/** An image that is not in a form: its address, a data URL or a file of the project. */
const reference = () =>
  z
    .strictObject({ image_url: optional(z.string().min(1)), file_id: optional(z.string().min(1)) })
    .refine(({ image_url: url, file_id: id }) => (url === undefined) !== (id === undefined), {
      error: "it must have either `image_url` or `file_id`",
    });

export const ImageEditJsonBody = named(
  "ImageEditJsonBody",
  lazy.object(() => ({
    ...shared,
    input_fidelity: optional(word),
    moderation: optional(word),
    images: parsedListOf(reference()).min(1),
    mask: optional(reference()),
  })),
);

export type ImageReference = z.output<typeof ImageEditJsonBody>["images"][number];

export const ImageVariationBody = named("ImageVariationBody", z.object(common));

const image = z.file().describe("PNG, JPEG or WebP; several as `image[]`.");

export const ImageEditFiles = lazy.object(() => ({
  image,
  mask: z.file().optional().describe("PNG of the same size, transparent where the image changes."),
}));
export const ImageVariationFiles = z.object({ image });

type Body = z.output<typeof ImageVariationBody> &
  Partial<z.output<typeof ImageGenerationBody> & z.output<typeof ImageEditBody>>;

/** Fields that would change the images and that only some providers honor. */
const UNSUPPORTED: Readonly<Record<string, UnsupportedField>> = {
  negative_prompt: { instead: "say in the prompt what the image must not show" },
  seed: { instead: "images are not repeatable" },
  steps: { instead: "the model's deployment sets them" },
  svg: { instead: "images are png, jpeg or webp" },
  frame_count: { instead: "images do not move" },
  markup: { instead: "send a mask" },
};

export interface ParsedImages {
  /** Undefined: the caller leaves the model to the service. */
  model: string | undefined;
  request: Omit<ImageRequest, "model" | "images" | "mask">;
  /** True: each image as a data URL rather than as Base64. */
  asUrl: boolean;
  ignoredFields: string[];
}

/** Reads the body of a generation. Throws a Fault whose `param` names the first invalid field. */
export function readGeneration(body: unknown, limits: ImageLimits, policy: UnknownFieldsPolicy): ParsedImages {
  const rules = { known: Object.keys(ImageGenerationBody.shape), unsupported: UNSUPPORTED, policy };
  const ignoredFields = checkUnknownFields(body, rules);
  return { ...toParsed("generation", parse(ImageGenerationBody, body), limits), ignoredFields };
}

export interface ParsedEdit extends ParsedImages {
  images: readonly ImageReference[];
  mask: ImageReference | undefined;
}

/** Reads the JSON body of an edit, like `readGeneration`. */
export function readJsonEdit(
  body: unknown,
  limits: ImageLimits & { maxInputImages: number },
  policy: UnknownFieldsPolicy,
): ParsedEdit {
  const rules = { known: Object.keys(ImageEditJsonBody.shape), unsupported: UNSUPPORTED, policy };
  const ignoredFields = checkUnknownFields(body, rules);
  const { images, mask, ...fields } = parse(ImageEditJsonBody, body);
  if (images.length > limits.maxInputImages) {
    const message = `\`images\` has ${images.length} entries; an edit may have at most ${limits.maxInputImages}.`;
    throw invalidRequest(message, "images", "invalid_value");
  }
  return { ...toParsed("edit", fields, limits), ignoredFields, images, mask };
}

type Fields = readonly (readonly [name: string, value: string])[];

/** Reads the form of an edit or a variation, like `readGeneration`. */
export function readImageForm(
  operation: "edit" | "variation",
  fields: Fields,
  limits: ImageLimits,
  policy: UnknownFieldsPolicy,
): ParsedImages {
  const schema = operation === "edit" ? ImageEditBody : ImageVariationBody;
  const body = toValues(fields);
  const ignoredFields = checkUnknownFields(body, {
    known: Object.keys(schema.shape),
    unsupported: UNSUPPORTED,
    policy,
  });
  return { ...toParsed(operation, parse(schema, body), limits), ignoredFields };
}

const NUMBERS: ReadonlySet<string> = new Set(["n", "output_compression", "partial_images"]);

/** Clients send unset fields as empty strings. */
function toValues(fields: Fields): Record<string, unknown> {
  const body = new Map<string, unknown>();
  for (const [name, value] of fields) {
    if (name === "image" || name === "image[]" || name === "mask" || value === "") continue;
    if (body.has(name)) throw invalidRequest(`The field '${name}' was sent more than once.`, name, "invalid_value");
    const isNumber = NUMBERS.has(name) && /^-?\d+(\.\d+)?$/.test(value);
    const isFlag = name === "stream" && /^(true|false)$/i.test(value);
    body.set(name, isNumber ? Number(value) : isFlag ? value.toLowerCase() === "true" : value);
  }
  return Object.fromEntries(body);
}

function toParsed(
  operation: ImageRequest["operation"],
  body: Body,
  limits: ImageLimits,
): Omit<ParsedImages, "ignoredFields"> {
  const { n: count = 1, stream = false, partial_images: partialImages = 0, response_format: format } = body;
  if (count > limits.maxImages) {
    throw invalidRequest(
      `\`n\` is ${count}; a request may have at most ${limits.maxImages} images.`,
      "n",
      "invalid_value",
    );
  }
  if (partialImages > 0 && !stream) {
    const message = "`partial_images` are sent in a stream only: set `stream`, or leave them out.";
    throw invalidRequest(message, "partial_images", "invalid_value");
  }
  if (stream && format === "url") {
    throw unsupportedValue("Streamed images are Base64: leave `response_format` out, or `stream`.", "response_format");
  }
  const { quality, background, style, moderation, input_fidelity, user, safety_identifier } = body;
  const options = { quality, background, style, moderation, input_fidelity, user, safety_identifier };
  return {
    model: body.model,
    request: {
      operation,
      prompt: body.prompt ?? "",
      count,
      size: toSize(body.size, limits),
      format: body.output_format,
      compression: body.output_compression,
      options: Object.fromEntries(
        Object.entries(options).filter((entry): entry is [string, string] => entry[1] !== undefined),
      ),
      partialImages,
      stream,
    },
    asUrl: format === "url",
  };
}

/** Throws a Fault for a size above the limit. */
export function toSize(
  value: string | undefined,
  { maxPixels }: Pick<ImageLimits, "maxPixels">,
): ImageSize | undefined {
  if (value === undefined || value === "auto") return undefined;
  const [width = 0, height = 0] = value.split("x").map(Number);
  if (width * height <= maxPixels) return { width, height };
  const message = `\`size\` is ${value}, ${width * height} pixels; an image may have at most ${maxPixels}.`;
  throw invalidRequest(message, "size", "invalid_value");
}

const TYPES: Readonly<Record<string, string>> = { "image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp" };

/** Names a file after its content, by which upstreams know its format. Throws a Fault for another type. */
export function toImageFile(file: Omit<ImageFile, "type">, type: string, field: string): ImageFile {
  const extension = TYPES[type];
  if (extension !== undefined) return { ...file, type, name: file.name.replace(/(\.[^.]*)?$/, extension) };
  throw invalidRequest(`The file in '${field}' is not a PNG, JPEG or WebP image.`, field, "invalid_value");
}

/** The tool `image_generation` of responses, through an image model of this service. */

import type { Caller } from "../../contracts/caller.ts";
import type { ImageEvent, ImageFacts, ImageRequest } from "../../contracts/image-model.ts";
import type { Inference } from "../../inference/inference.ts";
import { Fault, invalidRequest } from "../../kernel/faults.ts";
import { newId } from "../../kernel/id.ts";
import { type ImageLimits, toSize } from "../../wire/openai/images/image-body.ts";
import { base64Of } from "../../wire/openai/images/image-data-url.ts";
import { parse } from "../../wire/openai/validate.ts";
import {
  ImageGenerationTool,
  imageParameters,
  latestImage,
  toImageItem,
} from "../../wire/responses/image-generation.ts";
import type { ItemProgress } from "../../wire/responses/item-events.ts";
import {
  type CallContext,
  type CallOutcome,
  type ServiceCall,
  type ServiceToolType,
  type ToolContext,
  withPath,
} from "../tools/index.ts";
import { imageOfBase64 } from "./input-images.ts";

const NAME = "image_generation";
const MAX_PROMPT_CHARACTERS = 32_000;

export interface ImageToolOptions {
  inference: Inference;
  limits: ImageLimits;
}

/** Serves requests of callers with an image model; for others, an upstream with the Responses API may have the tool. */
export function imageGenerationTool({ inference, limits }: ImageToolOptions): ServiceToolType {
  const modelFor = (caller: Caller, model: unknown): string | undefined => {
    if (typeof model === "string") return inference.models.taskOf(caller, model) === "image" ? model : undefined;
    return inference.models.hasModel(caller, "image") ? inference.models.first(caller, "image") : undefined;
  };
  return {
    type: NAME,
    serves: (tool, _path, caller) => modelFor(caller, (tool as { model?: unknown }).model) !== undefined,
    open: async (tool, context) => {
      const { path, functionName } = context;
      const settings = withPath(path, () => parse(ImageGenerationTool, tool));
      const model = modelFor(context.caller, settings.model) as string;
      const session = new ImageSession(inference, context, {
        ...{ model, action: settings.action, mask: settings.input_image_mask?.image_url },
        size: withPath(path, () => toSize(settings.size, limits)),
        ...{ format: settings.output_format, compression: settings.output_compression },
        partialImages: settings.partial_images ?? 0,
        options: optionsOf(settings),
      });
      const mayEdit = settings.action === "auto" && session.latest !== undefined;
      const description = `Makes an image and shows it to the user${mayEdit ? ", or changes the latest one" : ""}.`;
      const parameters = imageParameters(mayEdit);
      const definition = { name: functionName(NAME), description, parameters, param: path };
      return { functions: [{ definition, name: NAME, begin: () => new ImageCall(session) }] };
    },
  };
}

type Settings = Pick<ImageRequest, "model" | "size" | "format" | "compression" | "partialImages" | "options"> & {
  action: "generate" | "edit" | "auto";
  /** Data URL. */
  mask: string | undefined;
};

function optionsOf({
  quality,
  background,
  input_fidelity,
  moderation,
}: Record<string, unknown>): Record<string, string> {
  const options = Object.entries({ quality, background, input_fidelity, moderation });
  return Object.fromEntries(options.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

/** The images of one response. */
class ImageSession {
  readonly settings: Settings;
  /** Base64 of the image that an edit changes. */
  latest: string | undefined;
  readonly #inference: Inference;
  readonly #path: string;

  constructor(inference: Inference, { path, items }: Pick<ToolContext, "path" | "items">, settings: Settings) {
    this.#inference = inference;
    this.#path = path;
    this.settings = settings;
    this.latest = latestImage(items);
  }

  /** Starts the request to the image model, which counts within that of the response. Throws a Fault. */
  async start(
    prompt: string,
    isEdit: boolean,
    { caller, signal }: Pick<CallContext, "caller" | "signal">,
  ): Promise<AsyncIterable<ImageEvent>> {
    const { action: _action, mask, ...settings } = this.settings;
    const image = isEdit && this.latest !== undefined ? imageOfBase64(this.latest, "image") : undefined;
    const request: ImageRequest = {
      ...settings,
      ...{ operation: image === undefined ? "generation" : "edit", prompt, count: 1, images: image ? [image] : [] },
      mask: image && mask ? imageOfBase64(base64Of(mask) ?? refuseMask(this.#path), "mask") : undefined,
      stream: settings.partialImages > 0,
    };
    const onLeave = (leave: () => void) => {
      if (signal.aborted) leave();
      else signal.addEventListener("abort", leave, { once: true });
    };
    return (await this.#inference.generateImages(caller, request, onLeave, { isWithinRequest: true })).events;
  }
}

function refuseMask(path: string): never {
  const message = "The mask must be a data URL such as data:image/png;base64,….";
  throw invalidRequest(message, `${path}.input_image_mask.image_url`, "invalid_value");
}

class ImageCall implements ServiceCall {
  readonly #id = newId("ig_");
  readonly #session: ImageSession;
  #prompt = "";
  #isEdit: boolean;
  #result: string | null = null;
  #facts: ImageFacts = {};
  #hasFailed = false;

  constructor(session: ImageSession) {
    this.#session = session;
    this.#isEdit = session.settings.action === "edit";
  }

  toItem(status: "in_progress" | "completed" | "incomplete") {
    const shown = status === "in_progress" ? status : status === "completed" && !this.#hasFailed ? status : "failed";
    const action = this.#isEdit ? "edit" : "generate";
    const parts = { action, prompt: this.#prompt, result: this.#result, facts: this.#facts } as const;
    return toImageItem(this.#id, { ...parts, status: shown });
  }

  begin(): ItemProgress[] {
    return [{ type: "response.image_generation_call.in_progress" }];
  }

  append(): ItemProgress[] {
    return [];
  }

  async *run(
    { prompt, edit }: Readonly<Record<string, unknown>>,
    context: CallContext,
  ): AsyncGenerator<ItemProgress, CallOutcome> {
    if (typeof prompt !== "string" || prompt.trim() === "" || prompt.length > MAX_PROMPT_CHARACTERS) {
      return this.#fail(`\`prompt\` must be a text of at most ${MAX_PROMPT_CHARACTERS} characters.`);
    }
    const { action } = this.#session.settings;
    this.#prompt = prompt;
    this.#isEdit = action === "edit" || (action === "auto" && edit === true);
    if (this.#isEdit && this.#session.latest === undefined) return this.#fail("The conversation has no image to edit.");
    yield { type: "response.image_generation_call.generating" };
    try {
      yield* this.#draw(prompt, context);
    } catch (failure) {
      if (!(failure instanceof Fault) || !isOfCall(failure)) throw failure;
      return this.#fail(failure.message);
    }
    if (this.#result === null) return this.#fail("The model gave its address only, which is not read here.");
    this.#session.latest = this.#result;
    yield { type: "response.image_generation_call.completed" };
    return { type: "result", text: "The image is done, and the user sees it. Do not repeat or link it." };
  }

  async *#draw(prompt: string, context: CallContext): AsyncGenerator<ItemProgress> {
    for await (const event of await this.#session.start(prompt, this.#isEdit, context)) {
      if (event.type === "partial") yield this.#toPartial(event);
      else if (event.type === "image") this.#take(event);
      else this.#facts = event.facts;
    }
  }

  refuse(): ItemProgress[] {
    this.#hasFailed = true;
    return [];
  }

  #take({ base64, revisedPrompt }: Extract<ImageEvent, { type: "image" }>): void {
    this.#result = base64 ?? null;
    this.#prompt = revisedPrompt ?? this.#prompt;
  }

  #toPartial({ index, base64 }: Extract<ImageEvent, { type: "partial" }>): ItemProgress {
    const { format = "png" } = this.#session.settings;
    const partial = { partial_image_index: index, partial_image_b64: base64, output_format: format };
    return { type: "response.image_generation_call.partial_image", ...partial };
  }

  #fail(reason: string): CallOutcome {
    this.#hasFailed = true;
    return { type: "result", text: `The image was not made: ${reason}` };
  }
}

/** Whether the model can go on without the image; a limit or an abort ends the response. */
function isOfCall({ kind }: Fault): boolean {
  return (
    kind === "invalid-request" || kind === "unavailable" || kind.startsWith("upstream-") || kind === "answer-unfit"
  );
}

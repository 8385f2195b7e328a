/** An image model behind an sd-server that Parlance started, called like any upstream with OpenAI's API. */

import { setTimeout as delay } from "node:timers/promises";
import type { EngineServices } from "../../contracts/engine.ts";
import type { ImageAbilities, ImageEvent, ImageModel, ImageRequest } from "../../contracts/image-model.ts";
import type { ModelHealth } from "../../contracts/open-model.ts";
import { Fault, invalidRequest, unavailable, unsupportedValue } from "../../kernel/faults.ts";
import type { HostedServer } from "../host/host-server.ts";
import type { ServerFacts } from "../host/messages.ts";
import { Connections } from "../openai-compatible/connection/connections.ts";
import { openAiCompatibleSettings } from "../openai-compatible/settings.ts";
import { UpstreamImage } from "../openai-compatible/upstream-image.ts";
import type { SdServerSettings } from "./settings.ts";

export interface SdServerImagesOptions {
  server: HostedServer;
  settings: SdServerSettings;
  services: EngineServices;
}

/** After a broken connection, time to wait for the exit of the process. */
const END_GRACE_MS = 500;
/** Tag by which a prompt may contain settings of the server, such as paths and steps. */
const SETTINGS_TAG = /<\/?sd_cpp_extra_args>/i;

export class SdServerImages implements ImageModel {
  readonly task = "image";
  readonly device = "sd-server";
  /** The server makes one request's images at a time. */
  readonly slots = 1;
  readonly abilities: ImageAbilities = { edits: true, variations: false, partialImages: false, transparency: false };
  readonly #options: SdServerImagesOptions;
  #upstream: { facts: ServerFacts; images: Promise<UpstreamImage> } | undefined;

  constructor(options: SdServerImagesOptions) {
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#options.server.pid;
  }

  health(): ModelHealth {
    return this.#options.server.health();
  }

  async close(): Promise<void> {
    await (await this.#upstream?.images)?.close();
    await this.#options.server.close();
  }

  async *generate(request: ImageRequest, signal: AbortSignal): AsyncGenerator<ImageEvent> {
    refuse(request);
    const { server } = this.#options;
    const facts = server.current();
    const ended = server.ended().then(() => true);
    try {
      const images = await this.#upstreamOf(facts);
      // The server does not stream.
      yield* images.generate({ ...request, stream: false, options: {}, callerHeaders: {} }, signal);
    } catch (error) {
      if (!(error instanceof Fault) || error.kind !== "upstream-failed") throw error;
      if (!(await Promise.race([ended, delay(END_GRACE_MS, false)]))) throw error;
      const message = "The model's engine failed: sd-server ended. Try again in a moment.";
      throw unavailable(message, "engine_failed", 2, error);
    }
  }

  /** A new one for each start of the server. */
  async #upstreamOf(facts: ServerFacts): Promise<UpstreamImage> {
    if (this.#upstream?.facts !== facts) {
      void this.#upstream?.images.then((images) => images.close());
      this.#upstream = { facts, images: this.#connect(facts) };
    }
    return this.#upstream.images;
  }

  async #connect({ origin }: ServerFacts): Promise<UpstreamImage> {
    const { services, settings: deployment } = this.#options;
    const settings = openAiCompatibleSettings.parse({
      base_url: `${origin}/v1`,
      model: services.name,
      first_byte_timeout_seconds: deployment.imageTimeoutSeconds,
    });
    const { name, catalogId, logger } = services;
    return new UpstreamImage({ name, catalogId, settings, connections: await Connections.open(settings), logger });
  }
}

/** Throws a Fault for what the server would ignore or misread. */
/** Options that do not change the image. */
const WITHOUT_EFFECT: readonly string[] = ["moderation", "user", "safety_identifier"];

function refuse({ prompt, operation, format, options }: ImageRequest): void {
  if (SETTINGS_TAG.test(prompt)) {
    const message = "The prompt contains <sd_cpp_extra_args>, which would change settings of the server. Leave it out.";
    throw invalidRequest(message, "prompt", "invalid_value");
  }
  if (operation === "edit" && format === "webp") {
    throw unsupportedValue("This model's edits are png or jpeg.", "output_format");
  }
  const [field] = Object.keys(options).filter((name) => options[name] !== "auto" && !WITHOUT_EFFECT.includes(name));
  const message = `This model does not support '${field}'. Leave it out; the deployment's \`options\` set it for all requests.`;
  if (field !== undefined) throw unsupportedValue(message, field);
}

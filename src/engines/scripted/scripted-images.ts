/** Image model for tests and demos: paints a gradient whose colors depend on the prompt. */

import { createHash } from "node:crypto";
import type { ImageAbilities, ImageEvent, ImageModel, ImageRequest } from "../../contracts/image-model.ts";
import type { ModelHealth } from "../../contracts/open-model.ts";
import { unsupportedValue } from "../../kernel/faults.ts";
import { type Color, gradientPng } from "./gradient-png.ts";
import { matches, pause, toFailure } from "./scripted-reply.ts";
import type { ScriptedReply, ScriptedSettings } from "./settings.ts";

const DEFAULT_SIZE = { width: 256, height: 256 };

export class ScriptedImages implements ImageModel {
  readonly task = "image";
  readonly device = "cpu";
  readonly slots: number;
  readonly abilities: ImageAbilities = { edits: true, variations: true, partialImages: true, transparency: false };
  readonly #replies: readonly ScriptedReply[];
  #isClosed = false;

  constructor({ slots, replies }: ScriptedSettings) {
    this.slots = slots;
    this.#replies = replies;
  }

  health(): ModelHealth {
    return this.#isClosed ? { state: "failed", reason: "it has been closed", retryAfterSeconds: 1 } : { state: "up" };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  async *generate(request: ImageRequest, signal: AbortSignal): AsyncGenerator<ImageEvent> {
    const { prompt, size = DEFAULT_SIZE, format = "png", count, partialImages } = request;
    if (format !== "png") throw unsupportedValue("This model paints PNG only.", "output_format");
    const reply = this.#replies.find(({ match }) => matches(match, prompt));
    await pause(reply?.delayMsBeforeFirst ?? 0, signal);
    if (reply?.failAfterTokens !== undefined) throw toFailure(reply.failWith);
    const inputs = await Promise.all(request.images.map(async (image) => (await image.open()).arrayBuffer()));
    for (let image = 0; image < count; image++) {
      const digest = createHash("sha256").update(`${prompt}\n${image}`);
      for (const input of inputs) digest.update(new Uint8Array(input));
      const bytes = digest.digest();
      const [from, to] = [colorAt(bytes, 0), colorAt(bytes, 3)];
      for (let index = 0; index < partialImages; index++) {
        if (signal.aborted) return;
        yield { type: "partial", index, base64: gradientPng(size, from, from).toString("base64") };
        await pause(reply?.delayMsPerToken ?? 0, signal);
      }
      if (signal.aborted) return;
      yield { type: "image", base64: gradientPng(size, from, to).toString("base64") };
    }
    yield { type: "finish", usage: undefined, facts: { format: "png", size: `${size.width}x${size.height}` } };
  }
}

function colorAt(bytes: Uint8Array, start: number): Color {
  return [bytes[start] ?? 0, bytes[start + 1] ?? 0, bytes[start + 2] ?? 0];
}

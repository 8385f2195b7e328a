/** Entry point of a model's process: opens the model that the service names and serves its calls. */

import { flushCompileCache } from "node:module";
import { isMainThread } from "node:worker_threads";
import type { Model } from "../../contracts/engine.ts";
import type { ModerationContext, ModerationInput } from "../../contracts/moderation-model.ts";
import { exitWithParent, killOnExit, watchParent } from "../../kernel/process/parent-watchdog.ts";
import { BackpressuredInput } from "./backpressured-input.ts";
import { isCountCall } from "./count-call.ts";
import { encodeFailure, type FromChild, type ModelFacts, type ServerFacts, type ToChild } from "./messages.ts";
import { isRankCall } from "./rank-call.ts";

/** Exports of a hosted engine's module. */
export interface HostedModule {
  open(settings: unknown, services: HostedServices): Promise<Model | HostedServer>;
}

/** A server that the module has started. This process ends when it does. */
export interface HostedServer extends ServerFacts {
  close(): Promise<void>;
}

export interface HostedServices {
  /** Writes a warning to the service's log. */
  warn(message: string): void;
  /** Registers a process that the module has started. It is killed when this one ends, however this one ends. */
  reportChildPid(pid: number): void;
}

interface Call {
  abort: AbortController;
  items: BackpressuredInput | undefined;
}

if (isMainThread) serve();
else watchParent();

function serve(): void {
  exitWithParent(Number(process.argv[2]), new URL(import.meta.url));
  const post = postInBatches();
  const calls = new Map<number, Call>();
  let model: Model | HostedServer | undefined;

  const open = async (message: Extract<ToChild, { type: "open" }>) => {
    process.title = `parlance ${message.name}`;
    try {
      const module: HostedModule = await import(message.module);
      model = await module.open(message.settings, {
        warn: (text) => post({ type: "warning", message: text }),
        reportChildPid: (pid) => {
          killOnExit(pid);
          post({ type: "child-pid", pid });
        },
      });
      post({ type: "opened", facts: factsOf(model) });
      flushCompileCache();
    } catch (failure) {
      post({ type: "open-failed", failure: encodeFailure(failure) });
    }
  };

  const run = async ({ id, input, hasItems }: Extract<ToChild, { type: "call" }>) => {
    const abort = new AbortController();
    const items = hasItems ? new BackpressuredInput(() => post({ type: "pull", id })) : undefined;
    calls.set(id, { abort, items });
    try {
      if (model === undefined) throw new Error("A call came before the model was open");
      for await (const event of perform(model, input, items, abort.signal)) {
        const sent = post({ type: "event", id, event });
        // Audio is large: a model that computes the next samples on this thread would delay it.
        if (model.task === "speech") await sent;
      }
      post({ type: "end", id });
    } catch (failure) {
      post({ type: "failed", id, failure: encodeFailure(failure) });
    }
    calls.delete(id);
  };

  process.on("message", (message: ToChild) => {
    switch (message.type) {
      case "open":
        return void open(message);
      case "call":
        return void run(message);
      case "item":
        return calls.get(message.id)?.items?.push(message.item);
      case "items-end":
        return calls.get(message.id)?.items?.end(message.failure);
      case "abort": {
        const call = calls.get(message.id);
        call?.abort.abort();
        return call?.items?.end(undefined);
      }
      case "close":
        return void Promise.resolve(model?.close()).finally(() => process.kill(process.pid, "SIGKILL"));
    }
  });
}

/**
 * Sends all events of one turn of the event loop in one message, since each message costs time in both processes.
 * Resolves once the message is sent.
 */
function postInBatches(): (message: FromChild) => Promise<void> {
  let batch: FromChild[] = [];
  let exit = Promise.withResolvers<void>();
  const send = () => {
    const [sent, { resolve }] = [batch, exit];
    batch = [];
    exit = Promise.withResolvers();
    process.send?.(sent, undefined, undefined, () => resolve());
  };
  return (message) => {
    if (batch.push(message) === 1) setImmediate(send);
    return exit.promise;
  };
}

async function* perform(
  model: Model | HostedServer,
  input: unknown,
  items: BackpressuredInput | undefined,
  signal: AbortSignal,
): AsyncGenerator<unknown, void> {
  switch (model.task) {
    case "server":
      throw new Error("A server is called over HTTP");
    case "chat":
      if (isCountCall(input)) return yield await model.countTokens?.(input.counted, signal);
      return yield* model.chat(input as Parameters<typeof model.chat>[0], signal);
    case "embedding":
      if (isRankCall(input)) return yield await model.rerank?.(input.ranked, signal);
      return yield await model.embed(input as Parameters<typeof model.embed>[0], signal);
    case "moderation": {
      const { inputs, context } = input as {
        inputs: readonly ModerationInput[];
        context: ModerationContext | undefined;
      };
      return yield await model.moderate(inputs, signal, context);
    }
    case "speech":
      return yield* model.speak(input as Parameters<typeof model.speak>[0], signal);
    case "transcription": {
      const request = input as Parameters<typeof model.transcribe>[0];
      const samples = (items?.read() ?? request.samples) as AsyncIterable<Float32Array>;
      return yield* model.transcribe({ ...request, samples }, signal);
    }
    case "image":
      return yield* model.generate(input as Parameters<typeof model.generate>[0], signal);
  }
}

function factsOf(model: Model | HostedServer): ModelFacts {
  if (model.task === "server") {
    const { task, origin, key, pid, properties } = model;
    return { task, origin, key, pid, properties };
  }
  const { slots, device, gpuBytes } = model;
  switch (model.task) {
    case "chat": {
      const { contextWindow, contextReason, maxMessages, samplingDefaults, abilities, usesGrammars } = model;
      const countsTokens = model.countTokens !== undefined;
      const context = { contextWindow, contextReason, maxMessages };
      return {
        task: model.task,
        slots,
        device,
        gpuBytes,
        ...context,
        samplingDefaults,
        abilities,
        usesGrammars,
        countsTokens,
      };
    }
    case "embedding": {
      const { slotsPerProject, dimensions, contextWindow } = model;
      const ranks = model.rerank !== undefined;
      return { task: model.task, slots, slotsPerProject, device, dimensions, contextWindow, ranks };
    }
    case "moderation": {
      const { slotsPerProject, categories, thresholds, takesImages, languages } = model;
      return { task: model.task, slots, slotsPerProject, device, categories, thresholds, takesImages, languages };
    }
    case "speech": {
      const { voices, voiceAliases, languages, voiceLanguages, sampleRate, wordTimes } = model;
      const facts = { task: model.task, slots, device, voices, voiceAliases, languages, sampleRate, wordTimes };
      return voiceLanguages === undefined ? facts : { ...facts, voiceLanguages };
    }
    case "transcription":
      return { task: model.task, slots, device, languages: model.languages, abilities: model.abilities };
    case "image":
      return { task: model.task, slots, device, abilities: model.abilities };
  }
}

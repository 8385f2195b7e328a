/** Models for the host's tests: the text of a request is a command that they execute. */

import { spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import type { ChatEvent, ChatModel } from "../../../src/contracts/chat-model.ts";
import type { Model } from "../../../src/contracts/engine.ts";
import { messageText } from "../../../src/contracts/message-text.ts";
import type { KnownSpeakers, TranscriptionEvent } from "../../../src/contracts/transcription-model.ts";
import type { HostedServices } from "../../../src/engines/host/model-child.ts";
import { Fault } from "../../../src/kernel/faults.ts";

export interface HostedSettings {
  task: "chat" | "moderation" | "speech" | "transcription";
  /** While this file exists, opening fails. */
  failWhenExists?: string;
  openMs?: number;
  warning?: string;
  /** Starts a program, and writes its PID as a warning. */
  hasProgram?: boolean;
}

const common = { slots: 2, device: "cpu", health: () => ({ state: "up" as const }), close: async () => {} };
const finish: ChatEvent = {
  type: "finish",
  usage: { promptTokens: 1, completionTokens: 1, cachedTokens: 0, reasoningTokens: 0, estimated: false },
};

export async function open(settings: HostedSettings, { warn, reportChildPid }: HostedServices): Promise<Model> {
  const { existsSync } = await import("node:fs");
  if (settings.openMs !== undefined) await delay(settings.openMs);
  if (settings.warning !== undefined) warn(settings.warning);
  if (settings.hasProgram) {
    const { pid = 0 } = spawn("sleep", ["3600"], { stdio: "ignore" });
    reportChildPid(pid);
    warn(`PID ${pid}`);
  }
  if (settings.failWhenExists !== undefined && existsSync(settings.failWhenExists)) {
    console.error("the weights are gone");
    throw new Fault("unavailable", "The weights are gone.", { code: "engine_failed", retryAfterSeconds: 7 });
  }
  switch (settings.task) {
    case "chat":
      return chat;
    case "moderation":
      return {
        ...common,
        task: "moderation",
        categories: ["length"],
        thresholds: undefined,
        takesImages: false,
        languages: undefined,
        moderate: flag,
      };
    case "speech":
      return {
        ...common,
        task: "speech",
        voices: ["hum"],
        voiceAliases: {},
        languages: ["en"],
        sampleRate: 8000,
        wordTimes: false,
        speak: async function* ({ text }) {
          yield Float32Array.from(text, (_, index) => index / 10);
        },
      };
    case "transcription":
      return {
        ...common,
        task: "transcription",
        languages: ["en"],
        abilities: { translation: false, prompt: false, temperature: false, wordTimes: false, diarization: false },
        transcribe: ({ samples, speakers }) => listen(speakers === undefined ? samples : voicesOf(speakers)),
      };
  }
}

const chat: ChatModel = {
  ...common,
  task: "chat",
  contextWindow: 100,
  abilities: {
    tools: false,
    jsonSchema: false,
    logprobs: false,
    vision: false,
    reasoning: false,
    choices: 1,
    completions: false,
    infill: false,
  },
  async *chat({ messages }, signal) {
    const [command, argument = ""] = messageText(messages.at(-1) ?? { role: "user", content: "" }).split(" ");
    switch (command) {
      case "fault":
        throw new Fault("invalid-request", "No.", { code: "unsupported_value", param: "messages", cause: "reason" });
      case "bug":
        throw new TypeError("undefined is not a function");
      case "environment":
        yield { type: "text", choice: 0, text: JSON.stringify(process.env), completionTokens: 1 };
        break;
      case "print":
        console.error(argument);
        break;
      case "exit":
        process.exit(Number(argument));
        break;
      case "count":
        for (let count = 1; count <= Number(argument); count++) {
          yield { type: "text", choice: 0, text: `${count} `, completionTokens: count };
        }
        break;
      case "busy": {
        const until = Date.now() + Number(argument);
        while (Date.now() < until);
        break;
      }
      case "forever":
        for (let count = 1; !signal.aborted; count++) {
          yield { type: "text", choice: 0, text: "on ", completionTokens: count };
          await delay(5);
        }
        return;
      case "deaf":
        yield { type: "text", choice: 0, text: "what? ", completionTokens: 1 };
        await delay(60_000);
    }
    yield finish;
  },
};

const flag: Extract<Model, { task: "moderation" }>["moderate"] = async (inputs) =>
  inputs.map(({ text }) => ({ scores: { length: text.length }, flags: { length: false }, appliedTo: {} }));

/** Yields the number of samples of each item. */
async function* listen(samples: AsyncIterable<Float32Array>): AsyncGenerator<TranscriptionEvent> {
  let count = 0;
  for await (const item of samples) {
    const text = String(item.length);
    yield { type: "segment", startSeconds: count++, endSeconds: count, text, words: undefined, confidence: undefined };
  }
  yield { type: "finish", audioSeconds: count, language: "en" };
}

async function* voicesOf({ voices = [] }: KnownSpeakers): AsyncGenerator<Float32Array> {
  yield* voices;
}

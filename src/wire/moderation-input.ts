/** Selects the texts of a typed chat request for moderation: everything that the chat model reads. */

import type { ChatRequest } from "../contracts/chat-model.ts";
import { filesIn, imagesIn, messageText } from "../contracts/message-text.ts";
import { type Fault, unsupportedValue } from "../kernel/faults.ts";
import { joinedTexts, type ModerationTexts, writtenIn } from "./moderation-texts.ts";

/** Builds the moderation input for formats that are never forwarded, where models read only the typed request. */
export function toModerationInput({ messages, tools, format }: ChatRequest): ModerationTexts {
  const image = messages.flatMap(imagesIn)[0];
  const file = messages.flatMap(filesIn)[0];
  const texts = messages.map((message) => [
    messageText(message),
    ...(message.reasoning ?? []).map(({ text }) => text).filter((text) => text !== ""),
    ...(message.toolCalls ?? []).flatMap((call) => writtenIn(`${call.name}\n${call.arguments}`)),
  ]);
  const further = tools.map(({ name, description, parameters }) => ({ name, description, parameters }) as unknown);
  if (format.type === "json-schema") further.push(format.schema);
  return {
    texts: [...texts.flat(), ...joinedTexts(messages, texts), ...further.flatMap(writtenIn)],
    unmoderatable: image ? unmoderatable("an image", image.param.type) : file && unmoderatable("a file", file.param),
  };
}

function unmoderatable(what: string, param: string): Fault {
  return unsupportedValue(`The moderation policy blocks messages by their text, and this part is ${what}.`, param);
}

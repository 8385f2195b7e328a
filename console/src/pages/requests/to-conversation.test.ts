import { expect, test } from "vitest";
import { toConversation } from "./to-conversation.ts";

const message = (role: string, content: string) => ({ role, parts: [{ type: "text" as const, content }] });

test("begins a conversation with the system prompt, the questions and the answers of a recorded prompt", () => {
  const conversation = toConversation("parrot", [
    message("system", "Be brief."),
    message("user", "Who are you?"),
    message("assistant", "A parrot."),
    message("user", "And who am I?"),
  ]);
  expect(conversation.models).toEqual(["parrot"]);
  expect(conversation.parameters.system).toBe("Be brief.");
  expect(conversation.turns.map(({ text, answers }) => [text, answers.map((answer) => answer.text)])).toEqual([
    ["Who are you?", ["A parrot."]],
    ["And who am I?", []],
  ]);
});

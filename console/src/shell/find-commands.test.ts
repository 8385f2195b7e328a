import { expect, test } from "vitest";
import { findCommands } from "./find-commands.ts";

const commands = ["Requests", "Chat", "Chat with echo-chat", "Team A"].map((label) => ({
  id: label,
  label,
  kind: label === "Team A" ? "Project" : "Page",
  run: () => {},
}));
const labelsOf = (text: string) => findCommands(commands, text).map(({ label }) => label);

test("keeps the order without a text", () => expect(labelsOf(" ")).toHaveLength(4));

test("finds every word in label or kind, the beginning of a label first", () => {
  expect(labelsOf("chat")).toEqual(["Chat", "Chat with echo-chat"]);
  expect(labelsOf("echo")).toEqual(["Chat with echo-chat"]);
  expect(labelsOf("project team")).toEqual(["Team A"]);
  expect(labelsOf("e")).toEqual(["Chat with echo-chat", "Requests", "Chat", "Team A"]);
  expect(labelsOf("nothing")).toEqual([]);
});

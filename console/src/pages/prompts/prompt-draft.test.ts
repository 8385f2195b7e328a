import { expect, test } from "vitest";
import { draftOf, toContent, typesFor } from "./prompt-draft.ts";

const CONTENT = {
  messages: [{ role: "user" as const, content: "{{words}} words in {{language}} about {{topic}}" }],
  variables: [
    { name: "words", type: "number" as const, description: "Length", default: 30 },
    { name: "language", type: "enum" as const, options: ["English", "Polish"], default: "English" },
    { name: "topic", type: "text" as const },
  ],
  model: "writer",
  temperature: 0,
  max_output_tokens: 50,
  top_p: 0.5,
};

test("a form without changes results in the same content", () => {
  expect(toContent(draftOf(CONTENT))).toEqual(CONTENT);
});

test("new placeholders are texts, and variables without one are left out", () => {
  const draft = {
    ...draftOf(CONTENT),
    messages: [{ key: "0", role: "user" as const, content: "{{ mood }} {{topic}}" }],
  };
  expect(typesFor(draft).map(({ name, type }) => `${name} ${type}`)).toEqual(["mood text", "topic text"]);
  expect(toContent(draft).variables).toEqual([
    { name: "mood", type: "text" },
    { name: "topic", type: "text" },
  ]);
  expect(() => toContent({ ...draft, further: "[]" })).toThrow("JSON object");
});

import { beforeEach, expect, test } from "vitest";
import { Fault } from "../kernel/faults.ts";
import { ChatSession } from "./chat-session.ts";

let session: ChatSession;
beforeEach(() => {
  session = new ChatSession("parrot", "Be brief.", {
    list: async () => ["parrot", "owl"],
    check: async (id) => {
      if (!["parrot", "owl"].includes(id)) throw new Fault("not-found", `The model \`${id}\` does not exist.`);
    },
  });
});

test("sends the system message and what was said, until it is cleared", async () => {
  session.ask("Hello");
  session.answered("Squawk!");
  session.ask("And?");
  expect(session.body()).toEqual({
    model: "parrot",
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hello" },
      { role: "assistant", content: "Squawk!" },
      { role: "user", content: "And?" },
    ],
  });
  session.answered("");
  await session.run("/clear");
  expect(session.body().messages).toEqual([{ role: "system", content: "Be brief." }]);
});

test("/model lists the models, and keeps the conversation with another one", async () => {
  session.ask("Hello");
  expect(await session.run("/model")).toBe("* parrot\n  owl");
  expect(await session.run("/model owl")).toBe("Talking to owl.");
  await expect(session.run("/model nobody")).rejects.toThrow("The model `nobody` does not exist.");
  expect(session.body()).toMatchObject({ model: "owl", messages: [{}, { content: "Hello" }] });
});

test("/system shows, replaces and removes the system message", async () => {
  expect(await session.run("/system")).toBe("System message: Be brief.");
  await session.run("/system Answer in rhymes.\nAlways.");
  expect(session.body().messages).toEqual([{ role: "system", content: "Answer in rhymes.\nAlways." }]);
  expect(await session.run("/system none")).toBe("No system message.");
  expect(session.body().messages).toEqual([]);
});

test("/set takes JSON or text, and removes a setting without a value", async () => {
  expect(await session.run("/set")).toBe("No settings.");
  await session.run("/set temperature 0.2");
  await session.run('/set stop ["END"]');
  expect(await session.run("/set reasoning_effort low")).toBe(
    'temperature = 0.2\nstop = ["END"]\nreasoning_effort = "low"',
  );
  await session.run("/set stop");
  expect(session.body()).toMatchObject({ temperature: 0.2, reasoning_effort: "low" });
  expect(session.body()).not.toHaveProperty("stop");
});

test.each(["/set model owl", "/set messages []", "/set stream false"])("refuses %s", async (line) => {
  await expect(session.run(line)).rejects.toThrow("cannot be set");
});

test("names the commands for one that does not exist", async () => {
  await expect(session.run("/sing")).rejects.toThrow(/There is no command `\/sing`\.[\s\S]*\/model \[ID\]/);
});

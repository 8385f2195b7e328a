import type { WireScript } from "./wire-script.ts";

/** Stored prompts. */
export const prompts: WireScript = async ({ recorder, key }) => {
  const send = <Answer = Record<string, string>>(title: string, route: string, body?: unknown) => {
    const [method = "", path = ""] = route.split(" ");
    return recorder.send<Answer>(title, `${method} /v1${path}`, { key, body });
  };
  const content = {
    model: "parrot",
    messages: [{ role: "user", content: "Say {{word}}" }],
    variables: [{ name: "word", type: "text", default: "hello" }],
  };
  await send("create a prompt", "POST /prompts", { name: "greeting", content, labels: ["production"] });
  await send("create a prompt twice", "POST /prompts", { name: "greeting", content });
  await send("placeholder that no message has", "POST /prompts", {
    name: "unused",
    content: { ...content, variables: [{ name: "other" }] },
  });
  await send("list prompts", "GET /prompts");
  await send("retrieve a prompt", "GET /prompts/greeting");
  await send("change a prompt", "POST /prompts/greeting", { description: "Greets." });
  await send("add a version", "POST /prompts/greeting/versions", { content, note: "Again" });
  await send("list versions", "GET /prompts/greeting/versions");
  await send("retrieve a version", "GET /prompts/greeting/versions/production");
  await send("move a label", "POST /prompts/greeting/labels/production", { version: 2 });
  await send("move a label to no version", "POST /prompts/greeting/labels/production", { version: 9 });
  await send("remove a label", "DELETE /prompts/greeting/labels/production");
  await send("response with a prompt", "POST /responses", { prompt: { id: "greeting" }, store: false });
  await send("chat with a prompt", "POST /chat/completions", {
    prompt: { id: "greeting", version: "1", variables: { word: "hi" } },
  });
  await send("missing prompt", "POST /responses", { prompt: { id: "none" }, input: "x" });
  await send("unknown variable", "POST /responses", { prompt: { id: "greeting", variables: { x: "y" } } });
  await send("delete a prompt", "DELETE /prompts/greeting");
};

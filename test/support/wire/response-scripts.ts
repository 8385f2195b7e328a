import { eventually } from "../service/eventually.ts";
import { MODELS, WEATHER } from "./chat-inputs.ts";
import type { WireScript } from "./wire-script.ts";

export const responses: WireScript = async ({ recorder, key }) => {
  const tools = [{ type: "function", name: "weather", parameters: WEATHER, strict: false }];
  for (const model of MODELS) {
    const send = (title: string, fields: object) =>
      recorder.send(`${model}: ${title}`, "POST /v1/responses", {
        key,
        body: { model, input: "Hello you", ...fields },
      });
    const { id } = await send("complete", {});
    await send("stream", { stream: true });
    await send("not stored", { store: false });
    await send("continued", { previous_response_id: id });
    await send("tools", { input: "weather", tools });
    await send("streamed tools", { input: "weather", tools, stream: true });
    await send("reasoning", { input: "think", reasoning: { summary: "auto" } });
    await send("streamed reasoning", { input: "think", stream: true });
    await send("failure", { input: "fails" });
    await send("streamed failure", { input: "fails", stream: true });
    await send("failure in the stream", { input: "breaks", stream: true });
    await send("ignored field", { unheard_of: 1 });
    await recorder.send(`${model}: retrieve`, `GET /v1/responses/${id}`, { key });
  }
  const ask = (title: string, body: object) => recorder.send(title, "POST /v1/responses", { key, body });
  const { id = "" } = await ask("background", { model: "parrot", input: "Hello you", background: true });
  const path = `/v1/responses/${id}`;
  await eventually(async () => {
    const answer = await fetch(`${recorder.origin}${path}`, { headers: { authorization: `Bearer ${key}` } });
    if (((await answer.json()) as { status: string }).status !== "completed") throw new Error("not completed");
  });
  await recorder.send("retrieve", `GET ${path}`, { key });
  await recorder.send("stream again", `GET ${path}?stream=true`, { key });
  await recorder.send("stream from", `GET ${path}?stream=true&starting_after=3`, { key });
  await recorder.send("input items", `GET ${path}/input_items`, { key });
  await recorder.send("invalid limit", `GET ${path}/input_items?limit=0`, { key });
  await recorder.send("cancel one that has ended", `POST ${path}/cancel`, { key });
  await recorder.send("delete", `DELETE ${path}`, { key });
  await recorder.send("retrieve a deleted one", `GET ${path}`, { key });
  await ask("streamed in the background", { model: "parrot", input: "Hello you", background: true, stream: true });
  await ask("moderation", { model: "parrot", input: "Hello you", moderation: { model: "judge" } });
  await ask("unknown earlier response", { model: "parrot", input: "x", previous_response_id: "resp_none" });
  await ask("invalid field", { model: "parrot", input: "x", temperature: "hot" });
  const body = { model: "parrot", input: "Hello you" };
  await recorder.send("count tokens", "POST /v1/responses/input_tokens", { key, body });
};

export const conversations: WireScript = async ({ recorder, key }) => {
  const item = { type: "message", role: "user", content: "Hello" };
  const { id } = await recorder.send("create", "POST /v1/conversations", {
    key,
    body: { items: [item], metadata: { a: "b" } },
  });
  const path = `/v1/conversations/${id}`;
  await recorder.send("create without a body", "POST /v1/conversations", { key });
  await recorder.send("retrieve", `GET ${path}`, { key });
  await recorder.send("update", `POST ${path}`, { key, body: { metadata: { a: "c" } } });
  await recorder.send("respond", "POST /v1/responses", {
    key,
    body: { model: "parrot", input: "Hello you", conversation: id },
  });
  const added = await recorder.send<{ data: { id: string }[] }>("add items", `POST ${path}/items`, {
    key,
    body: { items: [item] },
  });
  await recorder.send("list items", `GET ${path}/items?order=asc`, { key });
  await recorder.send("retrieve an item", `GET ${path}/items/${added.data[0]?.id}`, { key });
  await recorder.send("remove an item", `DELETE ${path}/items/${added.data[0]?.id}`, { key });
  await recorder.send("unknown item", `GET ${path}/items/msg_none`, { key });
  await recorder.send("no metadata", `POST ${path}`, { key, body: {} });
  await recorder.send("delete", `DELETE ${path}`, { key });
  await recorder.send("retrieve a deleted one", `GET ${path}`, { key });
};

/** Files and addresses in requests for upstream models: what the upstream gets, and what never reaches it. */

import Anthropic from "@anthropic-ai/sdk";
import type OpenAI from "openai";
import { toFile } from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScriptedChat } from "../../src/engines/scripted/scripted-chat.ts";
import { scriptedSettings } from "../../src/engines/scripted/settings.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { administrator } from "../support/service/team-services.ts";
import { type OpenAiUpstream, startOpenAiUpstream } from "../support/upstreams/openai-upstream.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const DATA = `data:image/png;base64,${PNG.toString("base64")}`;

let upstream: OpenAiUpstream;
let service: ServiceProcess;
let client: OpenAI;

const configOf = (url: string, more = "") => `
builtin_models: false
${more}
models:
  - id: far
    task: chat
    deployments: [{ engine: openai-compatible, base_url: "${url}", abilities: { vision: true } }]
  - id: here
    task: chat
    deployments: [{ engine: scripted, abilities: { vision: false }, replies: [{ text: Hm. }] }]
`;

beforeAll(async () => {
  upstream = await startOpenAiUpstream(new ScriptedChat(scriptedSettings.parse({ replies: [{ text: "Seen." }] })));
  service = await startServiceProcess({ config: configOf(upstream.baseUrl) });
  client = service.client({ maxRetries: 0 });
});
afterAll(async () => {
  await service?.stop();
  await upstream?.close();
});

const image = (url: string) => ({ type: "image_url" as const, image_url: { url } });
const ask = (as: OpenAI, ...content: OpenAI.ChatCompletionContentPart[]) =>
  as.chat.completions.create({ model: "far", messages: [{ role: "user", content }] });
/** Content of the last message that the upstream got. */
function lastContent(): unknown {
  const messages = upstream.received.at(-1)?.body.messages as { content: unknown }[] | undefined;
  return messages?.at(-1)?.content;
}

test.each([
  "http://169.254.169.254/latest/meta-data/",
  "http://127.0.0.1:9/a.png",
  "http://localhost:9/a.png",
  "http://[::ffff:169.254.169.254]/a.png",
  "http://2852039166/a.png",
  "http://10.0.0.1/a.png",
  "file:///etc/passwd",
  "/etc/passwd.png",
  "s3://bucket/a.png",
])("does not pass %s on", async (url) => {
  const before = upstream.received.length;
  const param = "messages[0].content[0].image_url.url";
  await expect(ask(client, image(url))).rejects.toMatchObject({ status: 400, param, code: "invalid_url" });
  const input = [
    { role: "user" as const, content: [{ type: "input_image" as const, image_url: url, detail: "auto" as const }] },
  ];
  const responding = client.responses.create({ model: "far", input });
  await expect(responding).rejects.toMatchObject({ status: 400, param: "input[0].content[0].image_url" });
  const anthropic = new Anthropic({ baseURL: service.origin, apiKey: service.apiKey, maxRetries: 0 });
  const content = [{ type: "image" as const, source: { type: "url" as const, url } }];
  const messaging = anthropic.messages.create({ model: "far", max_tokens: 9, messages: [{ role: "user", content }] });
  await expect(messaging).rejects.toMatchObject({ status: 400 });
  expect(upstream.received).toHaveLength(before);
});

test("passes data on unchanged", async () => {
  await ask(client, image(DATA));
  expect(lastContent()).toEqual([image(DATA)]);
});

test("leaves the refusal of images to a local model", async () => {
  const messages = [{ role: "user" as const, content: [image("http://127.0.0.1/a.png")] }];
  const asking = client.chat.completions.create({ model: "here", messages });
  await expect(asking).rejects.toMatchObject({ status: 400, message: expect.stringContaining("image") });
});

describe("an uploaded file", () => {
  test("is sent as content", async () => {
    const file = await client.files.create({ file: await toFile(PNG, "dot.png"), purpose: "vision" });
    await ask(client, { type: "file", file: { file_id: file.id } });
    expect(lastContent()).toEqual([{ type: "file", file: { filename: "dot.png", file_data: DATA } }]);
  });

  test("is sent as an image from a stored response, in each turn", async () => {
    const file = await client.files.create({ file: await toFile(PNG, "dot.png"), purpose: "vision" });
    const part = { type: "input_image" as const, file_id: file.id, detail: "low" as const };
    const first = await client.responses.create({ model: "far", input: [{ role: "user", content: [part] }] });
    expect(lastContent()).toEqual([{ type: "image_url", image_url: { url: DATA, detail: "low" } }]);
    await client.responses.create({ model: "far", input: "And now?", previous_response_id: first.id });
    expect(JSON.stringify(upstream.received.at(-1)?.body)).toContain(DATA);
    const { data } = await client.responses.inputItems.list(first.id);
    expect(JSON.stringify(data)).toContain(file.id);
    expect(JSON.stringify(data)).not.toContain("base64");
  });

  test("of another project is not found, and its id does not reach the upstream", async () => {
    const admin = administrator(service);
    const project = await admin.projects.create({ name: "Other" });
    const account = await admin.projects.serviceAccounts.create(project.id, { name: "other" });
    const other = service.client({ apiKey: account.api_key?.value ?? "", maxRetries: 0 });
    const file = await other.files.create({ file: await toFile(PNG, "dot.png"), purpose: "vision" });
    const before = upstream.received.length;
    const asking = ask(client, { type: "file", file: { file_id: file.id } });
    await expect(asking).rejects.toMatchObject({ status: 400, param: "messages[0].content[0].file.file_id" });
    expect(upstream.received).toHaveLength(before);
  });
});

describe.each(["allow", "refuse"])("server.upstream_urls: %s", (policy) => {
  let strict: ServiceProcess;
  beforeAll(async () => {
    const more = `server: { upstream_urls: ${policy}, workers: 2 }`;
    strict = await startServiceProcess({ config: configOf(upstream.baseUrl, more) });
  });
  afterAll(() => strict?.stop());

  test("applies to addresses, with workers too", async () => {
    const part = image("http://127.0.0.1:9/a.png");
    const asking = ask(strict.client({ maxRetries: 0 }), part);
    if (policy === "refuse") await expect(asking).rejects.toMatchObject({ status: 400, code: "unsupported_value" });
    else {
      await asking;
      expect(lastContent()).toEqual([part]);
    }
  });

  test("does not apply to files", async () => {
    const as = strict.client({ maxRetries: 0 });
    const file = await as.files.create({ file: await toFile(PNG, "dot.png"), purpose: "vision" });
    await ask(as, { type: "file", file: { file_id: file.id } });
    expect(lastContent()).toEqual([{ type: "file", file: { filename: "dot.png", file_data: DATA } }]);
  });
});

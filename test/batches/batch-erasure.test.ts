/** What an erasure leaves of the batches of a person. */

import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { BrowserJar } from "../support/service/browser-jar.ts";
import { startService } from "../support/service/service.ts";

const CONFIG = `
builtin_models: false
models:
  - { id: parrot, task: chat, deployments: [{ engine: scripted, echo: true, replies: [{ match: slow, text: "${"word ".repeat(500)}", delay_ms_per_token: 1000 }] }] }
`;
const EMAIL = "ada@example.com";

test("erases batches of messages that have ended and that run, with their requests and results", async () => {
  const directory = await mkdtemp(join(tmpdir(), "parlance-batch-erasure-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const service = await startService({ config: CONFIG, environment: { PARLANCE_DATA_DIR: directory } });
  onTestFinished(async () => {
    await service.stop();
  });

  const send = async (path: string, body?: object, bearer: string = service.adminKey, browser = new BrowserJar()) => {
    const response = await browser.fetch(`${service.origin}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        ...(bearer !== "" && { authorization: `Bearer ${bearer}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    expect(response.status, text).toBe(200);
    return JSON.parse(text);
  };
  const { id: project } = await send("/v1/organization/projects", { name: "Team" });
  const projects = [{ id: project, role: "member" }];
  const { token } = await send("/v1/organization/invites", { email: EMAIL, role: "reader", projects });
  const ada = new BrowserJar();
  await send("/console/invite/accept", { token, name: "Ada", password: "correct horse battery" }, "", ada);
  const { id } = (await send("/console/session", undefined, "", ada)).user;
  const key = (await send(`/v1/organization/projects/${project}/api_keys`, { name: "Laptop" }, "", ada)).value;

  const create = async (content: string): Promise<string> => {
    const params = { model: "parrot", max_tokens: 1000, messages: [{ role: "user", content }] };
    return (await send("/v1/messages/batches", { requests: [{ custom_id: "a", params }] }, key)).id;
  };
  const statusOf = async (batch: string) => (await send(`/v1/batches/${batch}`, undefined, key)).status;
  const short = await create("Badgers");
  await expect.poll(() => statusOf(short)).toBe("completed");
  const long = await create("slow badgers");
  await expect.poll(() => statusOf(long)).toBe("in_progress");

  const erased = await send(`/v1/organization/users/${id}/erase`, {});
  expect(erased.rows.batches).toBe(2);
  // The running batch may have ended with its key, and then has a file of errors.
  expect([3, 4]).toContain(erased.rows.files);
  await service.stop();
  expect(await filesWith(directory, "adgers")).toEqual([]);
});

async function filesWith(directory: string, text: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const contents = await Promise.all(paths.map((path) => readFile(path)));
  return paths.filter((_, index) => contents[index]?.includes(text));
}

/** Erasure of a user through one replica while another one serves the user. */

import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { sharedPostgres } from "../support/databases/postgres.ts";
import { BrowserJar } from "../support/service/browser-jar.ts";
import { startReplicas } from "../support/service/limit-load.ts";
import type { ServiceProcess } from "../support/service/service-process.ts";
import { administrator } from "../support/service/team-services.ts";

const CONFIG = `
builtin_models: false
usage: { labels: { end_users: true } }
models:
  - id: slow
    task: chat
    deployments: [{ engine: scripted, replies: [{ text: "${"word ".repeat(2_000)}", delay_ms_per_token: 50 }] }]
`;
const EMAIL = "ada@example.com";
const PASSWORD = "correct horse battery";

/** Adds a user with a key of their own. */
async function addUser(service: ServiceProcess) {
  const { invites, projects, users } = administrator(service);
  const [project] = (await projects.list()).data;
  const membership = { id: project?.id ?? "", role: "member" as const };
  const { token } = (await invites.create({ email: EMAIL, role: "reader", projects: [membership] })) as never;
  const browser = new BrowserJar();
  const post = async (path: string, body: object) => {
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
    return (await (await browser.fetch(`${service.origin}${path}`, init)).json()) as any;
  };
  await post("/console/invite/accept", { token, name: "Ada", password: PASSWORD });
  const key = await post(`/v1/organization/projects/${membership.id}/api_keys`, { name: "Laptop" });
  const [user] = (await users.list()).data;
  return { id: user?.id ?? "", key: key.value as string };
}

test("erases what a request stores that runs at another replica", async () => {
  const database = await (await sharedPostgres()).createDatabase();
  const { services, stop } = await startReplicas(2, CONFIG, { DATABASE_URL: database.reveal() });
  onTestFinished(stop);
  const [one, two] = services as [ServiceProcess, ServiceProcess];
  const { id, key } = await addUser(one);
  const messages = [{ role: "user" as const, content: "Go." }];
  const body = { model: "slow", messages, user: EMAIL, stream: true } as const;
  const chunks = (await two.client({ apiKey: key, maxRetries: 0 }).chat.completions.create(body))[
    Symbol.asyncIterator
  ]();
  await chunks.next();
  const erased = await one.fetch(`/v1/organization/users/${id}/erase`, {
    method: "POST",
    headers: { authorization: `Bearer ${one.adminKey}` },
  });
  expect(erased.status).toBe(200);
  const rest = async () => {
    while (!(await chunks.next()).done);
  };
  await expect(rest()).rejects.toMatchObject({ code: "invalid_api_key" });
  // Writes what is still in its memory.
  await two.stop();
  const client = new pg.Client({ connectionString: database.reveal() });
  await client.connect();
  onTestFinished(() => client.end());
  const { rows } = await client.query("select count(*)::int as labels from usage_labels where value = $1", [EMAIL]);
  expect(rows).toEqual([{ labels: 0 }]);
});

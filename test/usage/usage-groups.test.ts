/** Groups and filters of usage that OpenAI's API has: by user, by source, and images by operation and size. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OPERATOR } from "../../src/features/accounts/audit/audit.ts";
import { DATABASE_KINDS, useDatabases } from "../support/databases/databases.ts";
import { eventually } from "../support/service/eventually.ts";
import { type InProcessService, startService } from "../support/service/service.ts";

const databases = useDatabases();
const CONFIG = `
builtin_models: false
models:
  - { id: parrot, task: chat, deployments: [{ engine: scripted, echo: true }] }
  - { id: painter, task: image, deployments: [{ engine: scripted, echo: true }] }
`;

interface Result {
  num_model_requests: number;
  images?: number;
  [group: string]: unknown;
}

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  let service: InProcessService;
  let adminKey: string;
  let userId: string;
  beforeAll(async () => {
    const { url } = await databases.create(kind);
    service = await startService({
      config: CONFIG,
      environment: url === undefined ? {} : { DATABASE_URL: url.reveal() },
    });
    const { accounts } = service;
    const { organizationId } = await accounts.defaultScope("admin");
    const { id: projectId } = await accounts.projects.create(OPERATOR, organizationId, "Team");
    const key = (scope: object) =>
      accounts.apiKeys.create(OPERATOR, {
        scope: { organizationId, ...scope } as never,
        name: "Key",
        expiresInSeconds: undefined,
      });
    adminKey = (await key({ kind: "admin" })).secret.reveal();
    const email = "ada@example.com";
    const invite = { organizationId, email, role: "reader", projects: [{ id: projectId, role: "member" }] } as const;
    const admin = { ...OPERATOR, access: undefined };
    const { token } = await accounts.invites.create(admin, { ...invite, expiresInSeconds: undefined });
    userId = (await accounts.invites.accept(OPERATOR, { token: token.reveal(), email, name: "Ada" })).id;
    const own = (await key({ kind: "project", projectId, userId })).secret.reveal();
    const other = (await key({ kind: "project", projectId })).secret.reveal();
    const ask = async (secret: string, path: string, payload: object) => {
      const headers = { authorization: `Bearer ${secret}` };
      const { statusCode, body } = await service.inject({ method: "POST", url: `/v1/${path}`, headers, payload });
      expect(statusCode, body).toBe(200);
    };
    const chat = { model: "parrot", messages: [{ role: "user", content: "Hi" }] };
    for (const secret of [own, own, other]) await ask(secret, "chat/completions", chat);
    const image = { model: "painter", prompt: "A bird" };
    for (const size of ["256x256", "256x256", "64x64"]) await ask(own, "images/generations", { ...image, size });
    await ask(own, "images/generations", image);
  });
  afterAll(() => service?.stop());

  async function report(path: string, query: string, requests: number): Promise<Result[]> {
    const start = Math.floor(Date.now() / 1000) - 3600;
    const headers = { authorization: `Bearer ${adminKey}` };
    let results: Result[] = [];
    await eventually(async () => {
      const url = `/v1/organization/${path}?start_time=${start}&${query}`;
      const answer = await service.inject({ method: "GET", url, headers });
      expect(answer.statusCode, answer.body).toBe(200);
      const { data } = answer.json() as { data: { results: Result[] }[] };
      results = data.flatMap((bucket) => bucket.results);
      expect(results.reduce((sum, each) => sum + (each.num_model_requests ?? 0), 0)).toBe(requests);
    });
    return results;
  }

  test("groups by the user of keys, null for others, and filters by it", async () => {
    const results = await report("usage/completions", "group_by=user_id", 3);
    const byUser = new Map(results.map((each) => [each.user_id, each.num_model_requests]));
    expect(byUser).toEqual(
      new Map<unknown, number>([
        [userId, 2],
        [null, 1],
      ]),
    );
    const [own] = await report("usage/completions", `user_ids=${userId}`, 2);
    expect(own).toMatchObject({ user_id: null });
  });

  test("groups by the source of requests, which has no name here", async () => {
    const results = await report("usage/completions", "group_by=api_source&group_by=model", 3);
    expect(results).toMatchObject([{ api_source: "unlabeled", model: "parrot" }]);
  });

  test("groups and filters images by operation and size", async () => {
    const results = await report("usage/images", "group_by=source&group_by=size", 4);
    const sizes = new Map(results.map((each) => [each.size, each.images]));
    expect(sizes).toEqual(
      new Map<unknown, number>([
        ["256x256", 2],
        ["other", 1],
        [null, 1],
      ]),
    );
    expect(results.every(({ source }) => source === "image.generation")).toBe(true);
    await report("usage/images", "sizes=256x256&sources=image.generation", 2);
  });

  test("exports the user of each row", async () => {
    const start = Math.floor(Date.now() / 1000) - 3600;
    const url = `/v1/organization/usage/export?start_time=${start}&group_by=user_id`;
    const { body } = await service.inject({ method: "GET", url, headers: { authorization: `Bearer ${adminKey}` } });
    expect(body).toContain(userId);
  });
});

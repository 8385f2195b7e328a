/** GET /v1/models with each query parameter. */

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";
import { temporaryDirectory } from "../support/service/temporary-directory.ts";

const UPSTREAM_MODELS = { object: "list", data: [{ id: "gpt-9" }, { id: "org/gpt-9-mini" }, { id: "with space" }] };

let upstream: Server;
let service: Service;
beforeAll(async () => {
  upstream = createServer((request, response) => {
    const isListing = request.method === "GET" && request.url === "/v1/models";
    response.writeHead(isListing ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(isListing ? UPSTREAM_MODELS : { error: { message: "no" } }));
  });
  await new Promise<void>((listening) => upstream.listen(0, "127.0.0.1", listening));
  const { port } = upstream.address() as AddressInfo;
  service = await startService({
    config: `
builtin_models: false
models:
  - id: parrot
    task: chat
    owned_by: team-a
    access_groups: [team-a, everybody]
    aliases: [gpt-4o-mini, "gpt-5*"]
    price: { prompt: "0.0000001", completion: "0.0000004" }
    deployments: [{ engine: scripted, echo: true, context_window: 512 }]
  - id: secret-parrot
    task: chat
    hidden: true
    aliases: [shown-as, "gpt-5-mini*", gpt-5-nano]
    deployments: [{ engine: scripted, echo: true }]
  - id: live/*
    task: chat
    deployments: [{ engine: openai-compatible, base_url: "http://127.0.0.1:${port}/v1" }]
  - id: dead/*
    task: chat
    deployments: [{ engine: openai-compatible, base_url: "http://127.0.0.1:9/v1", connect_timeout_seconds: 1 }]
`,
  });
  await eventually(async () => expect(await ids("")).toContain("live/gpt-9"));
});
afterAll(async () => {
  await service.stop();
  upstream.close();
});

// biome-ignore lint/suspicious/noExplicitAny: entries of every shape
async function entries(query: string): Promise<any[]> {
  const response = await service.fetch(`/v1/models${query}`);
  expect(response.status).toBe(200);
  const body = (await response.json()) as { object: string; data: unknown[] };
  expect(body.object).toBe("list");
  return body.data;
}

async function ids(query: string): Promise<string[]> {
  return (await entries(query)).map(({ id }) => id);
}

test("lists models and the upstream models of wildcards, without wildcards and hidden models", async () => {
  expect(await ids("")).toEqual(["parrot", "live/gpt-9", "live/org/gpt-9-mini"]);
  const [parrot] = await entries("");
  expect(parrot).toEqual({ id: "parrot", object: "model", created: expect.any(Number), owned_by: "team-a" });
  expect(Math.abs(parrot.created - Date.now() / 1000)).toBeLessThan(120);
});

test("includes wildcards with return_wildcard_routes", async () => {
  const expected = ["parrot", "live/*", "live/gpt-9", "live/org/gpt-9-mini", "dead/*"];
  expect(await ids("?return_wildcard_routes=true")).toEqual(expected);
  expect(await ids("?return_wildcard_routes=0")).not.toContain("live/*");
});

test("adds access groups to each entry with include_model_access_groups", async () => {
  const [parrot, live] = await entries("?include_model_access_groups=1");
  expect(parrot.access_groups).toEqual(["team-a", "everybody"]);
  expect(live.access_groups).toEqual([]);
});

test("lists only models of a group with only_model_access_groups, never group names", async () => {
  expect(await ids("?only_model_access_groups=true")).toEqual(["parrot"]);
});

test("returns known metadata, null for the rest, and no upstream address with include_metadata", async () => {
  const [parrot, live] = await entries("?include_metadata=true");
  expect(parrot.metadata).toEqual({
    task: "chat",
    status: "available",
    deployed: ["local"],
    license: null,
    context_window: 512,
    context_window_reason: null,
    loaded: true,
    memory_bytes: null,
    load_seconds: expect.any(Number),
    max_output_tokens: 512,
    pricing: { prompt: "0.0000001", cached_prompt: null, completion: "0.0000004" },
    capabilities: {
      streaming: true,
      tools: false,
      json_schema: false,
      vision: false,
      logprobs: false,
      reasoning: false,
      max_choices: 1,
      completions: true,
      infill: false,
    },
    modalities: { input: ["text"], output: ["text"] },
    aliases: [
      ...["gpt-4o-mini", "gpt-5*", "claude-*", "gemini-*", "gpt-realtime*"],
      ...["gpt-4o-realtime-*", "gpt-4o-mini-realtime-*", "gpt-audio-*"],
    ],
    fallbacks: [],
  });
  expect(live.metadata).toMatchObject({ deployed: ["upstream"], context_window: null, capabilities: { tools: null } });
  expect(JSON.stringify(live)).not.toContain("127.0.0.1");
});

test.each(["return_wildcard_routes", "include_model_access_groups", "only_model_access_groups", "include_metadata"])(
  "parses %s as true, false, 1 or 0 in any case, and a bare name as true",
  async (parameter) => {
    for (const value of ["=true", "=True", "=TRUE", "=1", "=", ""]) {
      expect(await entries(`?${parameter}${value}`)).toEqual(await entries(`?${parameter}=true`));
    }
    expect(await entries(`?${parameter}=False`)).toEqual(await entries(""));
    for (const value of ["yes", "2"]) {
      const response = await service.fetch(`/v1/models?${parameter}=${value}`);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { param: parameter } });
    }
  },
);

test("lists the models of one task, also with a trailing slash", async () => {
  expect(await ids("?task=chat")).toEqual(await ids(""));
  expect(await ids("?task=speech")).toEqual([]);
  expect(await ids("/")).toEqual(await ids(""));
});

describe("resolves every listed model in every operation", () => {
  const chat = (model: string) =>
    service.post("/v1/chat/completions", { model, messages: [{ role: "user", content: "hi" }] });

  test("retrieves an entry as it is listed", async () => {
    for (const entry of await entries("")) {
      const response = await service.fetch(`/v1/models/${entry.id}`);
      expect(await response.json()).toEqual(entry);
    }
  });

  test("accepts an alias everywhere, and names the model in the answer", async () => {
    expect(await (await service.fetch("/v1/models/gpt-4o-mini")).json()).toMatchObject({ id: "parrot" });
    expect(await (await chat("gpt-4o-mini")).json()).toMatchObject({ model: "parrot" });
    expect(await (await chat("shown-as")).json()).toMatchObject({ model: "secret-parrot" });
  });

  test("matches a prefix after IDs, exact aliases and wildcards, the longest one first", async () => {
    for (const [id, model] of [
      ["gpt-5.6-luna", "parrot"],
      ["gpt-5", "parrot"],
      ["gpt-5-mini-2030-01-01", "secret-parrot"],
      ["gpt-5-nano", "secret-parrot"],
    ]) {
      expect(await (await chat(id as string)).json()).toMatchObject({ model });
    }
    expect((await chat("gpt-4.1")).status).toBe(404);
  });

  test.each([
    ["parot", "Did you mean `parrot`? GET /v1/models"],
    ["Parrot", "Did you mean `parrot`?"],
    ["gpt-4o-mni", "Did you mean `gpt-4o-mini`?"],
    ["par", "Did you mean `parrot`?"],
    ["secret-parot", "access to it. GET /v1/models lists your models."],
    ["mistral-large", "access to it. GET /v1/models lists your models."],
  ])("names for the unknown model %s one that is listed, and where they are", async (id, hint) => {
    const { error } = (await (await chat(id)).json()) as { error: { message: string; code: string } };
    expect(error.code).toBe("model_not_found");
    expect(error.message).toContain(`\`${id}\``);
    expect(error.message).toContain(hint);
  });

  test.each(["secret-parrot", "parrot/", "live/", "live/*", "nothing", "toString"])(
    "returns 404 for %s",
    async (id) => {
      // A slash at the end of a path has no meaning.
      const { status } = await service.fetch(`/v1/models/${id}`);
      expect(status).toBe(id === "parrot/" ? 200 : 404);
      expect((await chat(id)).status).toBe(404);
    },
  );
});

test("sets created to when a model first appeared, also after a restart with the same data", async () => {
  await using folder = await temporaryDirectory();
  const createdAt = async () => {
    const parrot = await startService({
      config:
        "builtin_models: false\nmodels: [{ id: parrot, task: chat, deployments: [{ engine: scripted, echo: true }] }]\n",
      environment: { PARLANCE_DATA_DIR: folder.path },
    });
    const { created } = (await (await parrot.fetch("/v1/models/parrot")).json()) as { created: number };
    await parrot.stop();
    return created;
  };
  const first = await createdAt();
  // The second start is in a later second.
  await expect.poll(() => Math.floor(Date.now() / 1000)).toBeGreaterThan(first);
  expect(await createdAt()).toBe(first);
});

/** Background responses through the official client, on both databases. */

import { setTimeout as pause } from "node:timers/promises";
import type OpenAI from "openai";
import { beforeAll, describe, expect, test } from "vitest";
import { DATABASE_KINDS } from "../support/databases/databases.ts";
import { eventually } from "../support/service/eventually.ts";
import { model, useResponseStorage } from "../support/service/response-storage-services.ts";

const startStorage = useResponseStorage();

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  const storage = startStorage(kind);
  let client: OpenAI;
  beforeAll(async () => {
    ({ client } = storage());
  });

  test("runs a response in the background, and streams it again from any event", async () => {
    const created = await client.responses.create({ model, input: "brisk", background: true });
    expect(created).toMatchObject({ status: "queued", background: true, store: true });
    const all = await Array.fromAsync(await client.responses.retrieve(created.id, { stream: true }));
    expect(all.map((event) => event.sequence_number)).toEqual(all.map((_, index) => index));
    expect(all.slice(0, 3).map(({ type }) => type)).toEqual([
      "response.created",
      "response.queued",
      "response.in_progress",
    ]);
    expect(all.at(-1)).toMatchObject({ type: "response.completed" });
    const done = await client.responses.retrieve(created.id);
    expect(done).toMatchObject({ status: "completed", output_text: "word ".repeat(20), background: true });
    const rest = await Array.fromAsync(
      await client.responses.retrieve(created.id, { stream: true, starting_after: 9 }),
    );
    expect(rest).toEqual(all.slice(10));
    const next = await client.responses.create({ model, previous_response_id: created.id, input: "Next" });
    expect(next.output_text).toBe("Next");
  });

  test("streams a background response, which goes on when its client disconnects", async () => {
    const stream = await client.responses.create({ model, input: "brisk", background: true, stream: true });
    let id = "";
    for await (const event of stream) {
      if (event.type === "response.created") id = event.response.id;
      if (event.type === "response.output_text.delta") break;
    }
    stream.controller.abort();
    await eventually(async () => {
      expect(await client.responses.retrieve(id)).toMatchObject({ status: "completed" });
    });
  });

  test("limits how many streams a project follows, and counts none whose client has left", async () => {
    const { id } = await client.responses.create({ model, input: "slow", background: true });
    const other = await storage().newProject("Other");
    const foreign = await other.client.responses.create({ model, input: "slow", background: true });
    const leaving = new AbortController();
    const follow = (signal?: AbortSignal) => client.responses.retrieve(id, { stream: true }, { signal });
    await Promise.all(Array.from({ length: 64 }, () => follow(leaving.signal)));
    await expect(follow()).rejects.toMatchObject({ status: 429, code: "rate_limit_exceeded" });
    const unaffected = await other.client.responses.retrieve(foreign.id, { stream: true });
    unaffected.controller.abort();
    leaving.abort();
    await eventually(async () => (await follow()).controller.abort());
    await client.responses.cancel(id);
    await other.client.responses.cancel(foreign.id);
  });

  test("cancels a background response", async () => {
    const { id } = await client.responses.create({ model, input: "slow", background: true });
    await eventually(async () => {
      expect(await client.responses.retrieve(id)).toMatchObject({ status: "in_progress" });
    });
    expect(await client.responses.cancel(id)).toMatchObject({ id, status: "cancelled" });
    expect(await client.responses.cancel(id)).toMatchObject({ status: "cancelled" });
    await pause(400);
    expect(await client.responses.retrieve(id)).toMatchObject({ status: "cancelled" });
    const finished = await client.responses.create({ model, input: "Hi" });
    await expect(client.responses.cancel(finished.id)).rejects.toMatchObject({ status: 400 });
  });

  test("stores the failure of a background response, and refuses an unknown model at once", async () => {
    const { id } = await client.responses.create({ model, input: "breaks", background: true });
    await eventually(async () => {
      const failed = await client.responses.retrieve(id);
      expect(failed).toMatchObject({ status: "failed", error: { message: expect.any(String) } });
    });
    const unknown = client.responses.create({ model: "nope", input: "Hi", background: true });
    await expect(unknown).rejects.toMatchObject({ status: 404, code: "model_not_found" });
  });
});

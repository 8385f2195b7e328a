/** Turns of projects whose documents are read. */

import type { FastifyReply } from "fastify";
import { expect, test } from "vitest";
import { BodyMemory } from "../../http/body-memory.ts";
import { DocumentTexts } from "./document-texts.ts";
import { MediaTexts } from "./media-texts.ts";

const bodyMemory = new BodyMemory(1_000_000);
const documents = new DocumentTexts({
  store: { findPulled: async () => undefined },
  maxDocumentCpuSeconds: 20,
  maxTextRecognitionCpuSeconds: 20,
});

test("reads a document of another project before the many of one", async () => {
  const texts = new MediaTexts({} as never, documents);
  const order: string[] = [];
  const read = async (projectId: string, name: string) => {
    const raw = { destroyed: false };
    const request = { caller: { projectId }, record: { leaving: [] }, server: { bodyMemory } };
    const reply = { raw, request } as unknown as FastifyReply;
    const file = { filename: `${name}.txt`, file_data: `data:text/plain;base64,${btoa(name)}` };
    const messages = [{ role: "user", content: [{ type: "file", file }] }];
    const body = await texts.inBody(reply, { messages }, ["messages"], new Set(["document"]));
    expect(JSON.stringify(body)).toContain(`${name}.txt:\\n${name}`);
    order.push(name);
  };
  const many = Array.from({ length: 6 }, (_, index) => read("busy", `busy ${index}`));
  await Promise.all([...many, read("other", "other")]);
  expect(order.indexOf("other")).toBeLessThan(4);
  expect(order.filter((name) => name !== "other")).toEqual(Array.from({ length: 6 }, (_, index) => `busy ${index}`));
});

import { expect, test } from "vitest";
import { ENGINES, filesOf } from "./registry.ts";

const UPSTREAM = {
  base_url: "https://upstream.example/v1",
  tls: { ca_file: "/ca.pem", certificate_file: "/own.pem", key_file: "/key.pem" },
};
const FILES = ["/ca.pem", "/own.pem", "/key.pem"];
const filesFor = (kind: keyof typeof ENGINES, settings: object) =>
  filesOf(kind, ENGINES[kind].settings.parse(settings));

test("a deployment reads its TLS files, its guard's too", () => {
  expect(filesFor("openai-compatible", UPSTREAM)).toEqual(FILES);
  const guard = (chat: object) => filesFor("guard", { family: "llama-guard-3", chat });
  expect(guard({ engine: "openai-compatible", ...UPSTREAM })).toEqual(FILES);
  expect(guard({ engine: "openai-compatible", base_url: "nowhere" })).toEqual([]);
  expect(guard({ engine: "scripted", replies: [] })).toEqual([]);
  expect(guard({ engine: "nothing" })).toEqual([]);
});

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fastify, { type FastifyInstance } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { docsPages } from "./docs-pages.ts";

const BROWSER = { accept: "text/html,application/xhtml+xml" };
let folder: string;
let app: FastifyInstance;
let prepared = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "parlance-docs-"));
  await mkdir(join(folder, "how-to"));
  await mkdir(join(folder, "assets"));
  app = fastify();
  await app.register(
    docsPages(folder, () => {
      prepared += 1;
    }),
  );
});
afterAll(async () => {
  await app.close();
  await rm(folder, { recursive: true });
});

const get = (url: string, headers = {}) => app.inject({ url, headers });

test("says that the documentation is being built, and builds it for browsers only", async () => {
  const missing = await get("/docs/");
  expect([missing.statusCode, missing.headers["retry-after"], prepared]).toEqual([503, "5", 0]);
  expect((await get("/docs/how-to/x", BROWSER)).body).toContain("is being built");
  expect(prepared).toBe(1);
});

test("serves pages by their addresses, with their inline scripts allowed by hash", async () => {
  await writeFile(join(folder, "index.html"), "<script>start()</script><script src=a.js></script>Home");
  await writeFile(join(folder, "how-to", "x.html"), "How");
  await writeFile(join(folder, "404.html"), "Nothing here");
  const home = await get("/docs/");
  expect([home.statusCode, home.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
  // printf 'start()' | openssl dgst -sha256 -binary | base64
  const hash = "'sha256-DIm7WJS6ZKDYe5qFLPy+h4JFI9Bol5QmYC57mt3Fb00='";
  expect(home.headers["content-security-policy"]).toContain(`script-src 'self' ${hash};`);
  expect((await get("/docs/how-to/x")).body).toBe("How");
  expect((await get("/docs/how-to/x.html")).body).toBe("How");
  for (const path of ["how-to/y", "../package.json", "..%2f..%2fetc/passwd", "how-to/x%00"]) {
    const { statusCode, body } = await get(`/docs/${path}`);
    expect([path, statusCode, body.includes("scripts")]).toEqual([path, expect.toBeOneOf([400, 404]), false]);
  }
  const redirect = await get("/docs");
  expect([redirect.statusCode, redirect.headers.location]).toEqual([308, "docs/"]);
});

test("lets browsers keep assets, whose names change with their content", async () => {
  await writeFile(join(folder, "assets", "app.abc.js"), "start()");
  const asset = await get("/docs/assets/app.abc.js");
  expect([asset.statusCode, asset.body]).toEqual([200, "start()"]);
  expect(asset.headers["cache-control"]).toContain("immutable");
  expect((await get("/docs/assets/none.js")).statusCode).toBe(404);
});

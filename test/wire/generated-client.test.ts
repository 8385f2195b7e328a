/** A client that a stranger generates from /openapi.json: its types compile, and its calls get what the types say. */

import { execFile } from "node:child_process";
import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { startService } from "../support/service/service.ts";

const run = promisify(execFile);
const MODULES = fileURLToPath(new URL("../../node_modules/", import.meta.url));
/** Version 7 needs the compiler API of TypeScript 5; its types of this document compile, too. */
const GENERATOR = `${MODULES}openapi-typescript/bin/cli.js`;
const FLAGS = "--ignoreConfig --noEmit --strict --skipLibCheck --allowImportingTsExtensions --target es2024".split(" ");

const PROGRAM = `
import createClient from ${JSON.stringify(`${MODULES}openapi-fetch/dist/index.mjs`)};
import type { components, paths } from "./schema.ts";

const [baseUrl, key, adminKey] = process.argv.slice(2) as [string, string, string];
const clientOf = (value: string) =>
  createClient<paths, "application/json">({ baseUrl, headers: { authorization: \`Bearer \${value}\` } });
const project = clientOf(key);
const organization = clientOf(adminKey);

type Schemas = components["schemas"];
type ToolCall = Schemas["ChatCompletionToolCall"];
const textOf = (item: Schemas["ResponseOutputItem"]): string[] =>
  item.type === "message" ? item.content.flatMap((part) => (part.type === "output_text" ? [part.text] : [])) : [];

const messages = [{ role: "user" as const, content: "weather" }];
const tools = [{ type: "function" as const, function: { name: "weather" } }];
const chat = await project.POST("/v1/chat/completions", { body: { model: "parrot", messages, tools } });
const message: Schemas["ChatCompletionMessage"] | undefined = chat.data?.choices[0]?.message;
const calls: ToolCall[] = message?.tool_calls ?? [];
const cachedTokens: number | null | undefined = chat.data?.usage?.prompt_tokens_details?.cached_tokens;

const response = await project.POST("/v1/responses", { body: { model: "parrot", input: "Hello" } });
const texts = (response.data?.output ?? []).flatMap(textOf);

const models = await project.GET("/v1/models", { params: { query: { include_metadata: "true" } } });
const listed = models.data !== undefined && "object" in models.data ? models.data.data : [];
const task: "chat" | undefined = listed.flatMap(({ metadata }) => (metadata?.task === "chat" ? [metadata.task] : []))[0];

const created = await organization.POST("/v1/organization/projects", { body: { name: "Generated" } });
const id: string = created.data?.id ?? "";
const account = await organization.POST("/v1/organization/projects/{project}/service_accounts", {
  params: { path: { project: id } },
  body: { name: "App" },
});
const value: string | undefined = account.data?.api_key?.value;
const usage = await organization.GET("/v1/organization/usage/completions", { params: { query: { start_time: 0 } } });
const object: "page" | undefined = usage.data?.object;

const missing = await organization.GET("/v1/organization/projects/{project}", { params: { path: { project: "none" } } });
const code: string | null | undefined = missing.error?.error.code;

// @ts-expect-error A name is a text.
const wrongBody = () => organization.POST("/v1/organization/projects", { body: { name: 1 } });
// @ts-expect-error There is no such path.
const wrongPath = () => organization.GET("/v1/organization/project");
// @ts-expect-error Models have no such field.
const wrongField = listed[0]?.metadata?.context_size;

console.log(JSON.stringify({
  call: calls[0]?.function, cachedTokens, texts, task, prefix: value?.slice(0, 3), object, code,
}));
`;

const CONFIG = `
builtin_models: false
models:
  - id: parrot
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true }
        replies:
          - { match: weather, text: "Looking.", tool_calls: [{ name: weather, arguments: { city: Paris } }] }
          - { text: "Hello to you." }
`;

let service: Awaited<ReturnType<typeof startService>>;
beforeAll(async () => {
  service = await startService({ config: CONFIG });
  return () => service.stop();
});

test("a generated client compiles and reads what the service answers", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "generated-client-"));
  const program = join(folder.path, "program.ts");
  const schema = join(folder.path, "schema.ts");
  await run(process.execPath, [GENERATOR, `${service.origin}/openapi.json`, "--output", schema]);
  await writeFile(join(folder.path, "package.json"), '{ "type": "module" }');
  await writeFile(program, PROGRAM);

  const types = ["--types", "node", "--typeRoots", `${MODULES}@types`, "--module", "nodenext"];
  const compiler = `${MODULES}typescript/bin/tsc`;
  const faults = await run(process.execPath, [compiler, ...FLAGS, ...types, program]).then(
    () => "",
    ({ stdout }: { stdout: string }) => stdout,
  );
  expect(faults).toBe("");

  const { stdout } = await run(process.execPath, [program, service.origin, service.apiKey, service.adminKey]);
  expect(JSON.parse(stdout)).toEqual({
    call: { name: "weather", arguments: '{"city":"Paris"}' },
    cachedTokens: 0,
    texts: ["Hello to you."],
    task: "chat",
    prefix: "sk-",
    object: "page",
    code: "not_found",
  });
});

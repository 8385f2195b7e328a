/** Servers and clients of the Model Context Protocol that others wrote, over two replicas behind a load balancer. */

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sharedPostgres } from "../support/databases/postgres.ts";
import { freePort } from "../support/databases/redis.ts";
import { conformanceServer } from "../support/mcp/conformance-server.ts";
import { startMcpServer, type TestMcpServer } from "../support/mcp/mcp-server.ts";
import { type Balancer, startBalancer } from "../support/service/balancer.ts";
import { eventually } from "../support/service/eventually.ts";
import { type InProcessService, startService } from "../support/service/service.ts";
import { NPM_CLIENT_VERSIONS } from "./npm-client-versions.ts";
import { installNpmClient, runCommand } from "./npm-clients.ts";
import { installPythonClients, PYTHON_SCRIPTS } from "./python-clients.ts";
import { reportChecks } from "./report-checks.ts";

const SERVERS_VERSION = "2026.8.31";
const CONFORMANCE_VERSION = "0.1.16";
const INSPECTOR = "@modelcontextprotocol/inspector";
const INSPECTOR_VERSION = NPM_CLIENT_VERSIONS[INSPECTOR];

/**
 * Subscriptions of the protocol of 2025 belong to a session's stream, which the gateway does not have, so that any
 * replica answers any request.
 */
const NOT_OFFERED = ["resources-subscribe", "resources-unsubscribe"];

let folder: string;
let replicas: InProcessService[] = [];
let balancer: Balancer;
let conformance: TestMcpServer;
const processes: ChildProcess[] = [];
const commands: Record<"everything" | "filesystem" | "conformance" | "inspector", string> = {
  everything: "",
  filesystem: "",
  conformance: "",
  inspector: "",
};

beforeAll(async () => {
  const scoped = (name: string) => `@modelcontextprotocol/${name}`;
  const python = await installPythonClients("requirements-mcp.txt");
  commands.everything = await installNpmClient(scoped("server-everything"), SERVERS_VERSION, "mcp-server-everything");
  commands.filesystem = await installNpmClient(scoped("server-filesystem"), SERVERS_VERSION, "mcp-server-filesystem");
  commands.conformance = await installNpmClient(scoped("conformance"), CONFORMANCE_VERSION, "conformance");
  commands.inspector = await installNpmClient(INSPECTOR, INSPECTOR_VERSION, "mcp-inspector");
  folder = await mkdtemp(join(tmpdir(), "parlance-mcp-"));
  await writeFile(join(folder, "notes.txt"), "The backup runs at noon.");
  const [everythingPort, pythonPort] = [await freePort(), await freePort()];
  await startServer(process.execPath, [commands.everything, "streamableHttp"], everythingPort, {
    PORT: String(everythingPort),
  });
  await startServer(python, [join(PYTHON_SCRIPTS, "mcp_server.py"), String(pythonPort)], pythonPort);
  conformance = await startMcpServer("stateless", conformanceServer);
  const database = await (await sharedPostgres()).createDatabase();
  const environment = { DATABASE_URL: database.reveal() };
  const config = `
builtin_models: false
mcp_servers:
  - { name: everything, command: ["${process.execPath}", "${commands.everything}"] }
  - { name: sessions, url: "http://127.0.0.1:${everythingPort}/mcp" }
  - { name: files, command: ["${process.execPath}", "${commands.filesystem}", "${folder}"] }
  - { name: python, url: "http://127.0.0.1:${pythonPort}/mcp" }
  - { name: fast, command: ["${python}", "${join(PYTHON_SCRIPTS, "fastmcp_server.py")}"] }
  - { name: conformance, url: "${conformance.url}" }
models:
  - id: agent
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true }
        replies:
          - { match_tool: noon, text: "At noon." }
          - { match: backup, tool_calls: [{ name: files__read_text_file, arguments: { path: "${join(folder, "notes.txt")}" } }] }
`;
  replicas = [await startService({ config, environment }), await startService({ config, environment })];
  const authorization = `Bearer ${replicas[0]?.apiKey}`;
  balancer = await startBalancer(
    replicas.map(({ origin }) => origin),
    { authorization },
  );
});

afterAll(async () => {
  await balancer?.close();
  await Promise.all(replicas.map((each) => each.stop()));
  await conformance?.close();
  for (const each of processes) each.kill();
  await rm(folder, { recursive: true, force: true });
});

describe("servers", () => {
  let client: Client;
  beforeAll(async () => {
    client = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
    await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", balancer.origin)));
    // Programs start with the first list, and one that takes longer is in the next one.
    const names = async () => (await client.listTools()).tools.map(({ name }) => name.split("__")[0]);
    const servers = ["everything", "sessions", "files", "python", "fast", "conformance"];
    await eventually(async () => expect(await names()).toEqual(expect.arrayContaining(servers)), 120);
  });
  afterAll(() => client?.close());

  test.each<[string, Record<string, unknown>, string]>([
    ["everything__get-sum", { a: 2, b: 3 }, "The sum of 2 and 3 is 5."],
    ["sessions__get-sum", { a: 2, b: 3 }, "The sum of 2 and 3 is 5."],
    ["sessions__echo", { message: "hello" }, "Echo: hello"],
    ["python__word_count", { text: "one two three" }, "3"],
    ["fast__shout", { text: "hello" }, "HELLO"],
  ])("call of %s", async (name, input, text) => {
    const { content } = await client.callTool({ name, arguments: input });

    expect(content).toEqual([expect.objectContaining({ type: "text", text })]);
  });

  test.each(["everything", "sessions"])("passes on images, resources and structured content of %s", async (server) => {
    const call = (name: string, input = {}) => client.callTool({ name: `${server}__${name}`, arguments: input });

    expect((await call("get-tiny-image")).content).toContainEqual(
      expect.objectContaining({ type: "image", mimeType: "image/png" }),
    );
    const structured = await call("get-structured-content", { location: "Chicago" });
    expect(structured.structuredContent).toMatchObject({ temperature: expect.any(Number) });
    const reference = await call("get-resource-reference", { resourceType: "Text", resourceId: 1 });
    expect(reference.content).toContainEqual(expect.objectContaining({ type: "resource" }));
  });

  test.each(["everything", "sessions"])("passes on the progress of a long call of %s", async (server) => {
    const steps: number[] = [];
    await client.callTool(
      { name: `${server}__trigger-long-running-operation`, arguments: { duration: 1, steps: 4 } },
      { onprogress: ({ progress }) => steps.push(progress) },
    );

    expect(steps).toEqual([1, 2, 3, 4]);
  });

  test("gives a program none of the service's variables", async () => {
    const { content } = await client.callTool({ name: "everything__get-env", arguments: {} });

    expect(JSON.stringify(content)).not.toMatch(/PARLANCE|VITEST/);
  });

  test("reads files within the folder only", async () => {
    const read = (path: string) => client.callTool({ name: "files__read_text_file", arguments: { path } });

    expect((await read(join(folder, "notes.txt"))).content).toMatchObject([{ text: "The backup runs at noon." }]);
    expect(await read("/etc/hostname")).toMatchObject({ isError: true });
  });

  test("names the error of a tool in Python", async () => {
    const result = await client.callTool({ name: "python__refuse", arguments: {} });

    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("refuse") }] });
  });

  test("runs a tool within a response", async () => {
    const answer = await fetch(`${balancer.origin}/v1/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        model: "agent",
        input: "When is the backup?",
        tools: [{ type: "mcp", server_label: "files", require_approval: "never" }],
      }),
    });
    const { output } = (await answer.json()) as { output: { type: string; output?: string }[] };

    expect(output.map(({ type }) => type)).toEqual(["mcp_list_tools", "mcp_call", "message"]);
    expect(output[1]?.output).toBe("The backup runs at noon.");
  });

  test("uses both replicas", () => {
    expect(balancer.counts.every((count) => count > 5)).toBe(true);
  });
});

describe(INSPECTOR, () => {
  reportChecks(() => INSPECTOR_VERSION);

  const inspect = async (path: string, ...parameters: string[]) => {
    const target = [`${balancer.origin}${path}`, "--transport", "http"];
    const options = { cwd: folder, environment: { HOME: folder } };
    const { code, output } = await runCommand(commands.inspector, ["--cli", ...target, ...parameters], options);
    expect(code, output).toBe(0);
    return output;
  };

  test.each(["/mcp", "/mcp/python"])("lists the tools of %s", async (path) => {
    const prefix = path === "/mcp" ? "python__" : "";

    expect(await inspect(path, "--method", "tools/list")).toContain(`"${prefix}word_count"`);
  });

  test("calls a tool", async () => {
    const call = ["--method", "tools/call", "--tool-name", "python__word_count", "--tool-arg", "text=one two"];

    expect(await inspect("/mcp", ...call)).toContain('"text": "2"');
  });
});

describe("@modelcontextprotocol/conformance", () => {
  test("passes each scenario except subscriptions of 2025", async () => {
    const baseline = join(folder, "baseline.yaml");
    await writeFile(baseline, `server:\n${NOT_OFFERED.map((name) => `  - ${name}\n`).join("")}`);
    const { code, output } = await runCommand(
      commands.conformance,
      ["server", "--url", `${balancer.origin}/mcp/conformance`, "--expected-failures", baseline],
      { cwd: folder, environment: { HOME: folder } },
    );

    expect(code, output).toBe(0);
  });
});

/** Starts a server over HTTP and resolves once it accepts connections. */
async function startServer(
  command: string,
  parameters: readonly string[],
  port: number,
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...environment };
  processes.push(spawn(command, parameters, { env, stdio: "ignore" }));
  await eventually(async () => {
    await fetch(`http://127.0.0.1:${port}/mcp`);
  }, 60);
}

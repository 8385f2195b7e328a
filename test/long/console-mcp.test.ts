/** MCP servers in the console: their state, tools to try, calls, access, and their tools in a chat. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startMcpServer, type TestMcpServer } from "../support/mcp/mcp-server.ts";
import { hasChromium } from "../support/service/chromium.ts";
import { type ConsoleSession, startConsole } from "../support/service/console-session.ts";

const STDIO_SERVER = new URL("../support/mcp/stdio-server.ts", import.meta.url).pathname;

describe.runIf(hasChromium)("the console's MCP servers", () => {
  const cleanup = new AsyncDisposableStack();
  let session: ConsoleSession;
  let server: TestMcpServer;

  beforeAll(async () => {
    server = await startMcpServer("stateless");
    cleanup.defer(() => server.close());
    const config = `
builtin_models: false
mcp_servers:
  - { name: numbers, url: "${server.url}", headers: { authorization: Bearer hidden }, price_per_call: "0.002" }
  - { name: weather, command: ["${process.execPath}", "${STDIO_SERVER}"], access: [{ tools: [greet, get_weather] }], environment: { GREETING: hello } }
  - { name: away, url: "http://127.0.0.1:9/mcp", require_approval: always }
models:
  - { id: parrot, task: chat, deployments: [{ engine: scripted, echo: true }] }
`;
    session = cleanup.use(await startConsole(config, { hears: false }));
    await session.page.setViewportSize({ width: 1280, height: 1300 });
    await session.page.goto(await session.signInLink());
    await session.page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
  });
  afterAll(() => cleanup.disposeAsync());

  const expectAccessible = async () => {
    for (const colorScheme of ["dark", "light"] as const) {
      await session.page.emulateMedia({ colorScheme });
      await session.expectAccessible();
    }
  };
  /** The page scrolls down only: wide tables scroll within. */
  const expectToFitPhone = async () => {
    await session.page.setViewportSize({ width: 390, height: 844 });
    const width = () => session.page.evaluate("document.documentElement.scrollWidth");
    await expect.poll(width).toBe(390);
    await session.page.setViewportSize({ width: 1280, height: 1300 });
  };

  test("lists servers with state, transport, protocol and tools, and the code of clients", async () => {
    const { page, open, service } = session;
    await open("/mcp");
    await page.getByText("Streamable HTTP · protocol 2026-07-28, stateless · test 1.0.0").waitFor();
    await page.getByText(/^Program \(stdio\) · protocol .* · stdio 1\.0\.0$/).waitFor();
    await page.getByText("The server could not be reached.").waitFor();
    await page.getByText("3 tools", { exact: true }).waitFor();
    expect(await page.getByText("Up", { exact: true }).count()).toBe(2);
    await page.getByText("No calls yet").waitFor();
    await page.getByText(`claude mcp add --transport http parlance '${service.origin}/mcp'`).waitFor();
    await page.getByRole("tab", { name: "VS Code" }).click();
    await page.getByText(".vscode/mcp.json").waitFor();
    await expectAccessible();
    await expectToFitPhone();
  });

  test("tries a tool with a form of its schema, and lists the call", async () => {
    const { page } = session;
    await page.getByRole("link", { name: "numbers" }).click();
    await page.getByRole("button", { name: /^add Adds two numbers/ }).click();
    const form = page.getByRole("form", { name: "Try add" });
    await form.getByRole("button", { name: "Try this tool" }).click();
    expect(await form.getByText("The tool needs it.").count()).toBe(2);
    await form.getByLabel("a", { exact: false }).first().fill("1");
    await form.getByLabel("b", { exact: false }).last().fill("two");
    await form.getByRole("button", { name: "Try this tool" }).click();
    await form.getByText("Write a number.").waitFor();
    await form.getByLabel("b", { exact: false }).last().fill("2");
    await form.getByRole("button", { name: "Try this tool" }).click();
    await form.getByRole("region", { name: "Result" }).getByText("sum 3").waitFor();
    await form.getByRole("button", { name: "Show the JSON Schema" }).click();
    await expectAccessible();
    await expectToFitPhone();
    await page.getByRole("button", { name: /^image/ }).click();
    await page.getByRole("form", { name: "Try image" }).getByRole("button", { name: "Try this tool" }).click();
    await page.getByRole("img", { name: "Result" }).waitFor();
    await page.getByRole("button", { name: /^fail/ }).click();
    await page.getByRole("form", { name: "Try fail" }).getByRole("button", { name: "Try this tool" }).click();
    await page.getByRole("form", { name: "Try fail" }).getByText("The tool failed").waitFor();
    await page.getByRole("tab", { name: "Calls" }).click();
    const row = page.getByRole("row", { name: /add Console or API/ });
    await row.getByText("Completed").waitFor();
    await row.getByText("$0.002").waitFor();
    await page.getByRole("row", { name: /fail/ }).getByText("Error of the tool").waitFor();
    await expectAccessible();
  });

  test("shows who may use a server, without its keys", async () => {
    const { page, open } = session;
    await page.getByRole("tab", { name: "Access and bounds" }).click();
    await page.getByText("Every project").waitFor();
    await page.getByText(server.url).waitFor();
    await page.getByText("authorization", { exact: true }).waitFor();
    expect(await page.getByText("hidden").count()).toBe(0);
    await expectAccessible();
    await open("/mcp/weather?tab=access");
    await page.getByText("get_weather").waitFor();
    await expectToFitPhone();
    await open("/mcp/away");
    await page.getByText("The server did not list its tools").waitFor();
    await page.getByText("No tools").waitFor();
    await expectAccessible();
    expect(session.complaints).toEqual([]);
  });
});

/** MCP servers in the console: their state, tools to try, calls, access, and their tools in a chat. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startMcpServer, type TestMcpServer } from "../support/mcp/mcp-server.ts";
import { ProtectedMcpServer } from "../support/mcp/protected-mcp-server.ts";
import { hasChromium } from "../support/service/chromium.ts";
import { type ConsoleSession, startConsole } from "../support/service/console-session.ts";
import { SANDBOX_SETTING } from "../support/service/os-sandbox.ts";

const STDIO_SERVER = new URL("../support/mcp/stdio-server.ts", import.meta.url).pathname;

describe.runIf(hasChromium)("the console's MCP servers", () => {
  const cleanup = new AsyncDisposableStack();
  let session: ConsoleSession;
  let server: TestMcpServer;
  let accounts: ProtectedMcpServer;

  beforeAll(async () => {
    server = await startMcpServer("stateless");
    cleanup.defer(() => server.close());
    accounts = cleanup.use(await ProtectedMcpServer.start());
    const config = `
builtin_models: false
code_interpreter: { sandbox: ${SANDBOX_SETTING} }
mcp_servers:
  - { name: numbers, url: "${server.url}", headers: { authorization: Bearer hidden }, price_per_call: "0.002" }
  - { name: weather, command: ["${process.execPath}", "${STDIO_SERVER}"], access: [{ tools: [greet, get_weather] }], environment: { GREETING: hello } }
  - { name: away, url: "http://127.0.0.1:9/mcp", require_approval: always }
  - { name: tracker, url: "${accounts.url}", oauth: {} }
models:
  - id: agent
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true }
        replies:
          - { match_tool: "sum 3", text: "It is three." }
          - { match_tool: "sum 7", text: "It is seven." }
          - { match_tool: "did not approve", text: "Then I leave it." }
          - { match_tool: "/45/", text: "It prints 45. The table is in numbers.csv." }
          - { match_tool: "/image/", text: "Here is an otter." }
          - { match: "one and two", tool_calls: [{ name: numbers__add, arguments: { a: 1, b: 2 } }] }
          - { match: "three and four", tool_calls: [{ name: numbers__add, arguments: { a: 3, b: 4 } }] }
          - { match: python, tool_calls: [{ name: code_interpreter, arguments: { code: "open('numbers.csv', 'w').write('1'); print(sum(range(10)))" } }] }
          - { match: otter, tool_calls: [{ name: image_generation, arguments: { prompt: "An otter in a river" } }] }
          - { text: "I need no tool." }
  - { id: paint, task: image, deployments: [{ engine: scripted, replies: [{}] }] }
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
    await page.getByText("4 tools", { exact: true }).waitFor();
    expect(await page.getByText("Up", { exact: true }).count()).toBe(2);
    await page.getByText("No calls yet").waitFor();
    await page.getByText(`claude mcp add --transport http parlance '${service.origin}/mcp'`).waitFor();
    await page.getByRole("tab", { name: "VS Code" }).click();
    await page.getByText(".vscode/mcp.json").waitFor();
    await expectAccessible();
    await expectToFitPhone();
  });

  test("adds a server that was tested, changes it and removes it", async () => {
    const { page, open } = session;
    await open("/mcp");
    await page.getByRole("button", { name: "Add server" }).click();
    const form = page.getByRole("dialog", { name: "Add an MCP server" });
    const name = form.getByRole("textbox", { name: "Name" });
    await name.and(page.locator(":focus")).waitFor();
    await name.fill("Numbers");
    await form.getByRole("textbox", { name: "Address" }).fill(server.url);
    await form.getByRole("button", { name: "Test" }).click();
    await form.getByText("name: is the name of another server").waitFor();
    expect(await name.getAttribute("aria-invalid")).toBe("true");
    expect(await form.getByRole("alert").count()).toBe(0);
    await name.fill("docs");
    await form.getByRole("textbox", { name: "Headers of each request" }).fill("x-token secret");
    await form.getByRole("button", { name: "Test" }).click();
    await form.getByText("Headers: write each line as a name, a colon and a value.").waitFor();
    await form.getByRole("textbox", { name: "Headers of each request" }).fill("x-token: hidden");
    await form.getByRole("button", { name: "Test" }).click();
    await form.getByText("It works").waitFor();
    await form.getByText("docs.read").waitFor();
    await expectAccessible();
    await expectToFitPhone();
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByRole("link", { name: "docs", exact: true }).click();
    await page.getByRole("button", { name: /^add Adds two numbers/ }).waitFor();
    await page.getByRole("button", { name: "Edit docs" }).click();
    const edit = page.getByRole("dialog", { name: "Edit docs" });
    expect(await edit.getByRole("textbox", { name: "Headers of each request" }).inputValue()).toBe(
      "x-token: [redacted]",
    );
    await edit.getByRole("textbox", { name: "More settings" }).fill('{"timeout_seconds": 7}');
    await edit.getByRole("button", { name: "Save" }).click();
    await edit.waitFor({ state: "detached" });
    await page.getByRole("tab", { name: "Access and bounds" }).click();
    await page.getByText("At most 7.00 s").waitFor();
    expect(await page.getByText("Set in parlance.yaml").count()).toBe(0);
    expect(server.requests.some(({ headers }) => headers["x-token"] === "hidden")).toBe(true);
    await page.getByRole("button", { name: "Remove", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await page.getByText("docs is removed").waitFor();
    await page.getByRole("link", { name: "numbers" }).waitFor();
    await page.getByRole("link", { name: "docs", exact: true }).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "away" }).click();
    await page.getByRole("tab", { name: "Access and bounds" }).click();
    await page.getByText("Set in parlance.yaml").waitFor();
    expect(await page.getByRole("button", { name: "Edit away" }).count()).toBe(0);
    await open("/mcp");
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
  });

  test("connects and disconnects an account of a server", async () => {
    const { page, open } = session;
    await open("/mcp");
    await page.getByText("Open it to connect your account.").waitFor();
    await page.getByRole("link", { name: "tracker" }).click();
    await page.getByText("Needs your account").waitFor();
    await page.getByText("Not connected").waitFor();
    await expectAccessible();
    await expectToFitPhone();
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page.getByText("Connected", { exact: true }).waitFor();
    await page.getByText(/^Since .*, by 127\.0\.0\.1:\d+, with tools$/).waitFor();
    await page.getByRole("button", { name: /^only_alice/ }).waitFor();
    await page.getByText("Up", { exact: true }).waitFor();
    await expectAccessible();
    await expectToFitPhone();
    await page.getByRole("button", { name: "Disconnect" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Disconnect" }).click();
    await page.getByText("Disconnected. The server revoked the tokens.").waitFor();
    await page.getByText("Needs your account").waitFor();
  });

  /** Waits until the model has answered and nothing runs. */
  const untilAnswered = async (text: string) => {
    await session.page.getByText(text, { exact: true }).last().waitFor();
    await session.page.getByRole("button", { name: "Send", exact: true }).waitFor();
  };

  test("asks before a call in the chat, also after a reload, and shows arguments and result", async () => {
    const { page, open, ask } = session;
    await open("/chat");
    await page.getByRole("button", { name: "MCP servers" }).click();
    await page.getByRole("checkbox", { name: "numbers" }).check();
    await page.keyboard.press("Escape");
    await ask("Add one and two");
    const request = page.getByRole("group", { name: "Approve add of numbers" });
    await request.getByText('"a": 1').waitFor();
    await expectAccessible();
    await page.reload();
    await request.getByRole("button", { name: "Approve", exact: true }).click();
    await untilAnswered("It is three.");
    await page.getByText("You approved add of numbers").waitFor();
    expect(await request.count()).toBe(0);
    const calls = page.locator(".mantine-Card-root", { hasText: "Called a tool" });
    await calls.getByRole("button", { name: "Details" }).click();
    await calls.getByText("sum 3").waitFor();
    await expectAccessible();
    await expectToFitPhone();
  });

  test("leaves a refused call out, and calls an allowed tool without asking in this conversation only", async () => {
    const { page, ask, admin } = session;
    const called = () => server.requests.filter(({ method }) => method === "tools/call").length;
    const before = called();
    await ask("Add three and four");
    const request = page.getByRole("group", { name: "Approve add of numbers" });
    await request.getByRole("button", { name: "Refuse" }).click();
    await untilAnswered("Then I leave it.");
    expect(called()).toBe(before);
    await ask("Again: add three and four");
    await request.getByRole("button", { name: "Always allow in this conversation" }).click();
    await untilAnswered("It is seven.");
    await ask("And once again: add three and four");
    await page.getByText("It is seven.", { exact: true }).nth(1).waitFor();
    expect(await request.count()).toBe(0);
    expect(called()).toBe(before + 2);
    await session.withParameters(() => page.locator(".mantine-Pill-label", { hasText: "numbers / add" }).waitFor());
    await page.getByRole("button", { name: "Get code" }).click();
    expect(await page.getByRole("dialog").textContent()).toContain("mcp_approval_response");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "New conversation" }).click();
    await page.getByText("What can I do for you?").waitFor();
    await session.withParameters(async () => {
      await page.getByLabel("System prompt").waitFor();
      expect(await page.getByRole("combobox", { name: "Allowed in this conversation" }).count()).toBe(0);
    });
    await ask("Add one and two");
    await request.getByRole("button", { name: "Refuse" }).click();
    await untilAnswered("Then I leave it.");
    const { data } = await admin("GET", "/mcp_calls?server=numbers&limit=100");
    expect(data.map(({ source }: { source: string }) => source)).toContain("response");
  });

  test("runs code and makes images in the chat, whose files are there to download", async () => {
    const { page, ask, download } = session;
    await page.getByRole("button", { name: "New conversation" }).click();
    await page.getByText("What can I do for you?").waitFor();
    await page.getByRole("button", { name: "Code interpreter" }).click();
    await page.getByRole("button", { name: "Image generation" }).click();
    await ask("Write python");
    await untilAnswered("It prints 45. The table is in numbers.csv.");
    await page.getByText("Ran Python").waitFor();
    await page.getByRole("button", { name: "Details" }).first().click();
    await page.getByText("print(sum(range(10)))").waitFor();
    const file = await download(() => page.getByRole("link", { name: "numbers.csv" }).click());
    expect(file).toEqual({ name: "numbers.csv", content: Buffer.from("1") });
    await ask("Draw an otter");
    await untilAnswered("Here is an otter.");
    await page.getByRole("img", { name: "An otter in a river" }).waitFor();
    const image = await download(() => page.getByRole("link", { name: "Download the image" }).click());
    expect(image.content.length).toBeGreaterThan(50);
    await expectAccessible();
    await expectToFitPhone();
    // The form states why the service refused to test a server.
    expect(session.complaints.filter((each) => !each.includes("/mcp_servers/test"))).toEqual([]);
  });
});

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { cleanEnvironment } from "../../../test/support/service/clean-environment.ts";
import { EXECUTABLE } from "../../../test/support/service/executable.ts";
import { spawnParlance } from "../../../test/support/service/run-parlance.ts";
import { startServiceProcess } from "../../../test/support/service/service-process.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../../test/support/service/temporary-directory.ts";
import { type CountingUpstream, startCountingUpstream } from "../../../test/support/upstreams/counting-upstream.ts";
import { discoverHosts } from "../../features/configuration/connections/discover-hosts.ts";
import { OutgoingGuard } from "../../kernel/outgoing/outgoing-guard.ts";
import { hasSystemd } from "../autostart.ts";

const PASSWORD = "correct horse battery staple";
const OWNER = "ada@example.com";

let folder: TemporaryDirectory;
let upstream: CountingUpstream;
beforeEach(async () => {
  folder = await temporaryDirectory();
  upstream = await startCountingUpstream(["team-chat", "team-small"]);
});
afterEach(async () => {
  await upstream.close();
  await folder[Symbol.asyncDispose]();
});

const environment = () => ({ PARLANCE_BUILTIN_MODELS: "false", PARLANCE_DATA_DIR: join(folder.path, "data") });
const origin = () => upstream.baseUrl.replace(/\/v1$/, "");

/** Starts a setup that becomes the service. `inTerminal` answers its questions, each once its text has been printed. */
async function startSetup(
  words: readonly string[],
  inTerminal?: readonly (readonly [string, string])[],
  { call = "setup", event = "" } = {},
) {
  const command = [process.execPath, EXECUTABLE, call, ...words];
  const [program = "", ...rest] =
    inTerminal === undefined ? command : ["script", "-qec", command.map((word) => `'${word}'`).join(" "), "/dev/null"];
  const child = spawn(program, rest, {
    cwd: folder.path,
    env: {
      ...cleanEnvironment(),
      ...environment(),
      PARLANCE_PORT: String(await freePort()),
      OWNER_PASSWORD: PASSWORD,
      npm_lifecycle_event: event,
    },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let output = "";
  let answered = 0;
  const ready = Promise.withResolvers<void>();
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    const [question, answer] = inTerminal?.[answered] ?? [];
    if (question !== undefined && output.includes(question)) {
      answered += 1;
      child.stdin.write(`${answer}\n`);
    }
    if (output.includes("Ctrl-C stops it")) ready.resolve();
  });
  const exited = once(child, "exit");
  exited.then(() => ready.reject(new Error(output)));
  await ready.promise;
  return {
    output: () => output,
    stop: async () => {
      if (inTerminal === undefined) child.kill("SIGTERM");
      else child.stdin.write("\u0003");
      await exited;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

async function expectReady(output: string): Promise<void> {
  const [, base = "", key = ""] = /export OPENAI_BASE_URL=(\S+) OPENAI_API_KEY=(\S+)/.exec(output) ?? [];
  expect(output).toMatch(/team-chat answered in [\d.]+ s: /);
  const models = await fetch(`${base}/models`, { headers: { authorization: `Bearer ${key}` } });
  expect(((await models.json()) as { data: { id: string }[] }).data.map(({ id }) => id)).toEqual([
    "team-chat",
    "team-small",
  ]);
}

async function signIn(output: string): Promise<number> {
  const [, base = ""] = /OPENAI_BASE_URL=(\S+)\/v1/.exec(output) ?? [];
  const answer = await fetch(`${base}/console/session`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: base },
    body: JSON.stringify({ email: OWNER, password: PASSWORD }),
  });
  return answer.status;
}

test("options answer every question: a server, a person, a first answer, and a service that runs on", async () => {
  const words = ["--connect", origin(), "--owner", OWNER, "--password-from", "OWNER_PASSWORD", "--yes"];
  const setup = await startSetup(words);
  await expectReady(setup.output());
  expect(await signIn(setup.output())).toBe(200);
  await setup.stop();
});

/** Asked where systemd can start the service; empty: in this terminal. */
const lastQuestion: readonly (readonly [string, string])[] = hasSystemd() ? [["At each login", ""]] : [];
const hasTerminals = process.platform === "linux" && execFileSync("sh", ["-c", "command -v script || true"]).length > 0;

test.runIf(hasTerminals)("asks in a terminal, and shows no password", async () => {
  const setup = await startSetup(
    ["--connect", origin()],
    [["keys only): ", OWNER], ["characters: ", PASSWORD], ...lastQuestion],
  );
  await expectReady(setup.output());
  expect(setup.output()).toContain(OWNER);
  expect(setup.output()).not.toContain(PASSWORD);
  expect(await signIn(setup.output())).toBe(200);
  await setup.stop();
});

test.runIf(hasTerminals)("the first npm start in a terminal offers it, and asks all three questions", async () => {
  const setup = await startSetup(
    [],
    [
      ["[y/N] ", "y"],
      ["Number [1]: ", "99"],
      ["Type a number from 1 to ", await lastChoice()],
      ["Address, such as", origin()],
      ["Key (empty: none): ", ""],
      ["keys only): ", ""],
      ...lastQuestion,
    ],
    { call: "serve", event: "start" },
  );
  await expectReady(setup.output());
  await setup.stop();
});

/** Number of the choice that asks for an address: servers that run on this machine come first. */
async function lastChoice(): Promise<string> {
  const guard = new OutgoingGuard({ reach: "private", connectTimeoutMs: 2_000 });
  const found = await discoverHosts({ guard, signal: AbortSignal.timeout(60_000), except: [] });
  await guard.close();
  const offered = found.filter(({ kind, isAccepted }) => kind !== "parlance" && isAccepted);
  return String(offered.length + 2);
}

test("sets up a service that runs already, and once more without adding anything twice", async () => {
  const service = await startServiceProcess();
  const options = { cwd: folder.path, environment: { ...environment(), PARLANCE_DATA_DIR: service.dataDirectory } };
  const words = ["setup", "--connect", origin(), "--yes"];
  const first = await spawnParlance(words, options);
  await expectReady(first.stdout);
  expect(first.stdout).toContain("2 models added, 2 there.");
  const again = await spawnParlance(words, options);
  expect(again.stdout).toContain("0 models added, 2 there.");
  await expectReady(again.stdout);
  await service.stop();
});

test("prints the key of a service whose model does not answer yet, and why", async () => {
  upstream.status = 500;
  const service = await startServiceProcess();
  const options = { cwd: folder.path, environment: { ...environment(), PARLANCE_DATA_DIR: service.dataDirectory } };
  const { code, stdout } = await spawnParlance(["setup", "--connect", origin(), "--yes"], options);
  expect(stdout).toMatch(/^No answer yet: .+$/m);
  expect(stdout).toMatch(/^export OPENAI_BASE_URL=\S+ OPENAI_API_KEY=sk-\S+$/m);
  expect(code).toBe(0);
  await service.stop();
});

test.each([
  [[], "There is no terminal to ask in: add --yes"],
  [["--yes", "--local", "--connect", "http://127.0.0.1:9"], "Use either --connect or --local."],
  [["--yes", "--keys-only", "--owner", OWNER], "Use either --owner or --keys-only."],
  [["--yes", "--owner", OWNER], "--owner needs --password-from VARIABLE"],
  [["--yes", "--connect", "http://127.0.0.1:9", "--key-from", "NO_SUCH"], "variable NO_SUCH is not set"],
])("%j is refused before anything starts", async (words, message) => {
  const { code, stderr } = await spawnParlance(["setup", ...words], { cwd: folder.path, environment: environment() });
  expect(stderr).toContain(message);
  expect(code).toBe(1);
});

test("names an address at which nothing answers", async () => {
  const service = await startServiceProcess();
  const options = { cwd: folder.path, environment: { ...environment(), PARLANCE_DATA_DIR: service.dataDirectory } };
  const port = await freePort();
  const { code, stderr } = await spawnParlance(["setup", "--yes", "--connect", `http://127.0.0.1:${port}`], options);
  expect(stderr).toMatch(new RegExp(`^error: http://127.0.0.1:${port}: `));
  expect(code).toBe(1);
  await service.stop();
});

/** The archives of `npm run archive`, installed by install.sh as a user does: what they take, and that everything runs. */

import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import OpenAI, { toFile } from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DEFAULT_CHAT_MODEL, TEST_MODELS_DIRECTORY } from "../support/models/default-model.ts";
import { wordErrors } from "../support/models/word-errors.ts";
import { cleanEnvironment } from "../support/service/clean-environment.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/service/temporary-directory.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const SENTENCE = "The quick brown fox jumps over the lazy dog.";
const KEY = `sk-${"i".repeat(32)}`;
const run = promisify(execFile);

let folder: TemporaryDirectory;
let releases: string;
const services: { [Symbol.asyncDispose](): Promise<void> }[] = [];

beforeAll(async () => {
  folder = await temporaryDirectory();
  releases = join(folder.path, "releases");
  await run("npm", ["run", "tarball", "--", "--pack-destination", folder.path], { cwd: ROOT, maxBuffer: 64e6 });
  const tarball = join(folder.path, "parlance-inference-server-0.1.0.tgz");
  const env = { ...process.env, PARLANCE_MODELS_DIR: TEST_MODELS_DIRECTORY };
  for (const options of [[], ["--without-local"], ["--models"]])
    await run("npm", ["run", "archive", "--", "--tarball", tarball, "--out", releases, ...options], { cwd: ROOT, env });
}, 900_000);

afterAll(async () => {
  for (const service of services) await service[Symbol.asyncDispose]();
  await folder?.[Symbol.asyncDispose]();
});

/** Installs into a home of its own. Returns the command and the folder of the data. */
async function install(name: string, ...options: readonly string[]) {
  const home = join(folder.path, name);
  await mkdir(home, { recursive: true });
  const env = { ...cleanEnvironment(), HOME: home };
  await run("sh", [join(releases, "install.sh"), "--from", releases, ...options], { env });
  const program = join(home, ".local/share/parlance");
  const { stdout } = await run("du", ["-sm", join(program, "versions")]);
  return { env, command: join(home, ".local/bin/parlance"), program, megabytes: Number.parseInt(stdout, 10) };
}

async function start({ env, command, program }: Awaited<ReturnType<typeof install>>, settings = {}) {
  const port = await freePort();
  const child = spawn(command, ["serve"], {
    cwd: env.HOME,
    env: { ...env, PARLANCE_PORT: String(port), PARLANCE_API_KEY: KEY, ...settings },
    stdio: "inherit",
  });
  const ended = new Promise((done) => child.once("exit", done));
  const stop = async () => {
    child.kill();
    await ended;
  };
  services.push({ [Symbol.asyncDispose]: stop });
  const origin = `http://127.0.0.1:${port}`;
  await expect
    .poll(
      () =>
        fetch(`${origin}/health/ready`).then(
          (answer) => answer.status,
          () => 0,
        ),
      { timeout: 180_000 },
    )
    .toBe(200);
  return { origin, program, stop, client: new OpenAI({ baseURL: `${origin}/v1`, apiKey: KEY }) };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

test("an installation runs everything that the default models do", async () => {
  const installed = await install("full");
  expect(installed.megabytes).toBeLessThanOrEqual(335);
  const { origin, client, stop } = await start(installed, { PARLANCE_DEFAULT_CHAT_MODEL: DEFAULT_CHAT_MODEL });
  const chat = { model: DEFAULT_CHAT_MODEL, messages: [{ role: "user" as const, content: "Name a city." }] };
  const schema = { type: "object", properties: { city: { type: "string", maxLength: 20 } }, required: ["city"] };
  const { choices } = await client.chat.completions.create({
    ...chat,
    response_format: { type: "json_schema", json_schema: { name: "city", schema } },
  });
  expect(JSON.parse(choices[0]?.message.content ?? "")).toEqual({ city: expect.any(String) });
  for (const format of ["mp3", "opus", "aac", "flac", "wav"] as const) {
    const speech = await client.audio.speech.create({
      model: "tts-1",
      voice: "heart",
      input: SENTENCE,
      response_format: format,
    });
    const file = await toFile(Buffer.from(await speech.arrayBuffer()), `spoken.${format}`);
    const { text } = await client.audio.transcriptions.create({ model: "whisper-1", file });
    expect(wordErrors(SENTENCE, text), `${format}: ${text}`).toBeLessThanOrEqual(1);
  }
  const { data } = await client.embeddings.create({ model: "text-embedding-3-small", input: SENTENCE });
  expect(data[0]?.embedding).toHaveLength(384);
  const { results } = await client.moderations.create({ input: "I will kill you tonight." });
  expect(results[0]?.flagged).toBe(true);
  for (const path of ["/", "/docs/", "/docs/decisions/0001-node-24-and-typescript-7", "/openapi.json"])
    expect((await fetch(origin + path)).status, path).toBe(200);
  await stop();
}, 600_000);

test("an installation without local models routes to upstreams", async () => {
  const upstream = createHttpServer((_request, answer) => {
    const message = { role: "assistant", content: "Paris" };
    const usage = { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 };
    answer.setHeader("content-type", "application/json");
    answer.end(
      JSON.stringify({
        id: "c",
        object: "chat.completion",
        model: "far",
        choices: [{ index: 0, message, finish_reason: "stop" }],
        usage,
      }),
    );
  });
  await new Promise<void>((done) => upstream.listen(0, "127.0.0.1", done));
  const { port } = upstream.address() as AddressInfo;
  const installed = await install("gateway", "--without-local");
  expect(installed.megabytes).toBeLessThanOrEqual(215);
  await writeFile(
    join(installed.program, "service/parlance.yaml"),
    `builtin_models: false
models:
  - id: far
    task: chat
    deployments: [{ engine: openai-compatible, base_url: "http://127.0.0.1:${port}/v1" }]
`,
  );
  const { client, stop } = await start(installed);
  const messages = [{ role: "user" as const, content: "What is the capital of France?" }];
  const { choices } = await client.chat.completions.create({ model: "far", messages });
  expect(choices[0]?.message.content).toBe("Paris");
  await stop();
  upstream.close();
}, 300_000);

/** Starts and stops the unit as systemd does. */
const SYSTEMCTL = `#!/bin/sh
unit=$HOME/.config/systemd/user/parlance.service
runs() { [ -e "$HOME/pid" ] && grep -q '^State:.[^Z]' "/proc/$(cat "$HOME/pid")/status" 2>/dev/null; }
stop() { runs && kill "$(cat "$HOME/pid")"; while runs; do sleep 0.1; done; }
start() {
  cd "$(sed -n 's/^WorkingDirectory=//p' "$unit")" || exit 1
  setsid $(sed -n 's/^ExecStart=//p' "$unit") >>"$HOME/log" 2>&1 &
  echo $! >"$HOME/pid"
}
case $2 in
  is-active) runs ;;
  start) start ;;
  stop) stop ;;
  restart) stop; start ;;
  disable) stop ;;
esac
`;

/** Adds a version to the releases whose program differs by \`change\`. */
async function release(version: string, change: (program: string) => Promise<unknown>): Promise<void> {
  const system = `${process.platform}-${process.arch}`;
  const scratch = join(folder.path, "unpacked");
  await mkdir(scratch);
  await run("tar", ["-xzf", join(releases, `parlance-0.1.0-${system}.tar.gz`), "-C", scratch]);
  const name = `parlance-${version}-${system}`;
  await run("mv", [join(scratch, `parlance-0.1.0-${system}`), join(scratch, name)]);
  await change(join(scratch, name));
  await run("tar", ["-cf", join(releases, `${name}.tar.gz`), "-I", "gzip -1", "-C", scratch, name]);
  await rm(scratch, { recursive: true });
  const hash = createHash("sha256").update(await readFile(join(releases, `${name}.tar.gz`)));
  const sums = join(releases, "SHA256SUMS");
  await writeFile(sums, `${await readFile(sums, "utf8")}${hash.digest("hex")}  ${name}.tar.gz\n`);
}

const setVersion = (version: string) => async (program: string) => {
  const manifest = join(program, "node_modules/@parlance-inference/server/package.json");
  await writeFile(
    manifest,
    (await readFile(manifest, "utf8")).replace('"version": "0.1.0"', `"version": "${version}"`),
  );
};

test("a machine without network sets up, asks, upgrades, goes back and uninstalls", async () => {
  const installed = await install("home");
  const bin = join(folder.path, "bin");
  await mkdir(bin);
  await writeFile(join(bin, "systemctl"), SYSTEMCTL);
  await chmod(join(bin, "systemctl"), 0o755);
  const settings = { PARLANCE_PORT: String(await freePort()), HF_HUB_OFFLINE: "1", PARLANCE_API_KEY: KEY };
  // No pip and no npm, as on a bare machine.
  for (const tool of [
    "sh",
    "sed",
    "cat",
    "grep",
    "sleep",
    "setsid",
    "tar",
    "gzip",
    "mktemp",
    "uname",
    "readlink",
    "dirname",
    "cut",
    "sort",
    "tail",
    "sha256sum",
    "cp",
    "mv",
    "ln",
    "rm",
    "rmdir",
    "mkdir",
    "chmod",
    "ls",
    "kill",
    "tr",
  ])
    await run("sh", ["-c", `ln -s "$(command -v ${tool})" ${bin}/${tool} || true`]);
  const env = { ...installed.env, ...settings, PATH: bin };
  const parlance = async (...words: string[]) =>
    (await run(installed.command, words, { env, cwd: installed.env.HOME })).stdout;
  services.push({
    [Symbol.asyncDispose]: async () => void (await run(join(bin, "systemctl"), ["--user", "stop"], { env })),
  });
  await parlance("autostart", "enable");
  const output = await parlance("setup", "--yes");
  expect(output).toMatch(/sk-/);
  const client = new OpenAI({ baseURL: `http://127.0.0.1:${settings.PARLANCE_PORT}/v1`, apiKey: KEY });
  const store = await client.vectorStores.create({ name: "kept" });

  await release("0.1.1", setVersion("0.1.1"));
  expect(await parlance("upgrade", "--from", releases)).toMatch(/parlance-0\.1\.1-.* is ready\./);
  expect(await parlance("--version")).toContain("0.1.1");
  expect((await client.vectorStores.retrieve(store.id)).name).toBe("kept");

  await release("0.1.2", async (program) => {
    await setVersion("0.1.2")(program);
    const launcher = join(program, "bin/parlance");
    await writeFile(
      launcher,
      (await readFile(launcher, "utf8")).replace("\nexec", '\n[ "$1" = serve ] && exit 1\nexec'),
    );
  });
  await expect(parlance("upgrade", "--from", releases, "--ready-within", "5s")).rejects.toThrow(
    /0\.1\.2-.* did not become ready within 5 seconds: .*0\.1\.1-.* runs again/,
  );
  expect(await parlance("--version")).toContain("0.1.1");
  await expect
    .poll(() =>
      client.vectorStores.retrieve(store.id).then(
        ({ name }) => name,
        () => "",
      ),
    )
    .toBe("kept");

  const { stdout } = await run("sh", [join(releases, "install.sh"), "--uninstall", "--with-data"], { env });
  expect(stdout).toContain("Parlance is uninstalled.");
  expect(existsSync(installed.program)).toBe(false);
  await expect(fetch(`http://127.0.0.1:${settings.PARLANCE_PORT}/health/live`)).rejects.toThrow();
}, 600_000);

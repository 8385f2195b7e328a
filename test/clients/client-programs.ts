/** Builds the programs of this folder that drive clients in Go, Rust, Java and Node, and runs them. */

import { execFile, execFileSync } from "node:child_process";
import { cp, mkdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import type { ClientCheck } from "./clients-table.ts";
import type { ServiceAddress } from "./python-clients.ts";

const run = promisify(execFile);
const CACHE = resolve(import.meta.dirname, "../../node_modules/.cache/client-programs");

/** A folder with a program in one language. Versions are pinned in its manifest. */
export interface ClientProgram {
  folder: string;
  /** Names of the clients that it drives, one after the other. */
  clients: readonly string[];
  /** Commands that install and build. */
  build: readonly (readonly [file: string, ...parameters: string[]])[];
  /** Command that prints each check as one line. */
  start: readonly [file: string, ...parameters: string[]];
}

/** Languages whose toolchain may be missing. */
export const CLIENT_PROGRAMS: readonly ClientProgram[] = [
  {
    folder: "go",
    clients: [
      "github.com/openai/openai-go/v3",
      "github.com/sashabaranov/go-openai",
      "github.com/tmc/langchaingo",
      "github.com/anthropics/anthropic-sdk-go",
      "github.com/cloudwego/eino-ext/components/model/openai",
    ],
    build: [["go", "build", "-o", "clients", "."]],
    start: ["./clients"],
  },
  {
    folder: "rust",
    clients: ["async-openai", "rig-core"],
    build: [["cargo", "build", "--quiet"]],
    start: ["target/debug/clients"],
  },
  {
    folder: "java",
    clients: ["langchain4j-open-ai", "spring-ai-openai", "openai-java"],
    build: [["mvn", "-q", "-B", "compile"]],
    start: ["mvn", "-q", "-B", "exec:java"],
  },
  {
    folder: "koog",
    clients: ["koog-agents-jvm"],
    build: [["mvn", "-q", "-B", "compile"]],
    start: ["mvn", "-q", "-B", "exec:java"],
  },
];

const NPM_INSTALL = ["--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts", "--legacy-peer-deps"];

/** One script per client; all share their packages. */
export function nodeProgram(script: string): ClientProgram {
  const build = [["npm", "install", ...NPM_INSTALL]] as const;
  return { folder: "node", clients: [script], build, start: [process.execPath, script] };
}

/** Returns the pinned versions of the clients in the manifests of all programs, by their names. */
export async function programPins(): Promise<Map<string, string>> {
  const read = (path: string) => readFile(join(import.meta.dirname, path), "utf8");
  const { dependencies } = JSON.parse(await read("node/package.json")) as { dependencies: Record<string, string> };
  const pins = new Map(Object.entries(dependencies));
  for (const [, name = "", pin = ""] of (await read("go/go.mod")).matchAll(/^\s+(\S+) v(\S+)/gm)) pins.set(name, pin);
  for (const line of (await read("rust/Cargo.toml")).split("\n")) {
    const name = /package = "([^"]+)"/.exec(line)?.[1] ?? /^\S+/.exec(line)?.[0];
    const pin = /"=([\d.]+)"/.exec(line)?.[1];
    if (name !== undefined && pin !== undefined) pins.set(name, pin);
  }
  const pom = (await read("java/pom.xml")) + (await read("koog/pom.xml"));
  for (const [, name = "", property = ""] of pom.matchAll(/<artifactId>(\S+)<\/artifactId>\s*<version>\$\{(\S+)\}/g)) {
    pins.set(name, new RegExp(`<${property}>(.+)</`).exec(pom)?.[1] ?? "");
  }
  return pins;
}

/** Whether the program's toolchain is installed. */
export function hasToolchain({ build: [[tool = ""] = [""]] }: ClientProgram): boolean {
  return hasCommand(tool);
}

export function hasCommand(name: string): boolean {
  try {
    execFileSync("which", [name], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Folders that are built, by name: all Node programs are in one. */
const built = new Map<string, Promise<string>>();

/** Copies the program to the cache, builds it there and returns the folder. Throws when a command fails. */
export function buildProgram(program: ClientProgram): Promise<string> {
  const building = built.get(program.folder) ?? copyAndBuild(program);
  built.set(program.folder, building);
  return building;
}

async function copyAndBuild({ folder, build }: ClientProgram): Promise<string> {
  const directory = join(CACHE, folder);
  await mkdir(directory, { recursive: true });
  await cp(join(import.meta.dirname, folder), directory, { recursive: true });
  for (const [file, ...parameters] of build) await run(file, parameters, { cwd: directory, maxBuffer: 1 << 26 });
  return directory;
}

/** Drives one client of a built program and returns its checks, in order. */
export async function runProgram(
  { start: [file, ...parameters], folder }: ClientProgram,
  client: string,
  directory: string,
  { baseUrl, apiKey, chatModel }: ServiceAddress & { chatModel: string },
): Promise<ClientCheck[]> {
  const environment = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    PARLANCE_BASE_URL: baseUrl,
    PARLANCE_API_KEY: apiKey,
    PARLANCE_CHAT_MODEL: chatModel,
    OPENAI_BASE_URL: baseUrl,
    OPENAI_API_KEY: apiKey,
    CLIENT_PACKAGES: directory,
    ...(folder !== "node" && { CLIENT: client }),
  };
  // A failed check ends the program with 1, but is still reported on standard output.
  const options = { cwd: directory, env: environment, maxBuffer: 1 << 26 };
  const { stdout, stderr } = await run(file, parameters, options).catch(
    (failure: { stdout: string; stderr: string }) =>
      typeof failure.stdout === "string" ? failure : Promise.reject(failure),
  );
  const lines = stdout.split("\n").filter((line) => line.startsWith("{") && line.includes('"client"'));
  if (lines.length === 0) throw new Error(`${client} reported nothing:\n${stderr}`);
  return lines.map((line) => JSON.parse(line) as ClientCheck);
}

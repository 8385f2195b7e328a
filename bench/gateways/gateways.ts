/** The gateways of the benchmark: how each one is installed, started, and asked. */

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { nginxConfig } from "../routing/contenders.ts";

const run = promisify(execFile);
const REPOSITORY = resolve(import.meta.dirname, "../..");
const KEY = `sk-bench-${"a".repeat(32)}`;

export interface Start {
  /** Address of the mock upstream, without a path. */
  upstream: string;
  port: number;
  /** Empty folder for configuration and data. */
  directory: string;
  /** Cores that the gateway may use. */
  cores: number;
}

export interface Command {
  command: string;
  args: string[];
  cwd?: string;
  env?: Record<string, string>;
}

export interface Gateway {
  name: string;
  /** Language of the data path, for the report. */
  language: string;
  /** Installs the pinned version into a folder that later runs find again, and returns the version. Throws if it cannot. */
  install(folder: string): Promise<string>;
  start(options: Start, folder: string): Promise<Command>;
  /** Model of the requests; default: `mock`. */
  model?: string;
  headers?(options: Start): Record<string, string>;
}

const bareProxy: Gateway = {
  name: "Fastify + undici",
  language: "JavaScript",
  install: async () => process.version,
  start: async ({ upstream, port }) => ({
    command: process.execPath,
    args: [join(REPOSITORY, "bench/routing/bare-proxy.ts"), upstream, String(port)],
  }),
};

const nginx: Gateway = {
  name: "nginx",
  language: "C",
  install: async () => {
    const { stderr } = await run(process.env.NGINX ?? "nginx", ["-v"]);
    return stderr.trim().replace(/^.*\//, "");
  },
  start: async ({ upstream, port, directory, cores }) => {
    const file = join(directory, "nginx.conf");
    await writeFile(file, nginxConfig({ upstream, port, directory, workers: cores }));
    return { command: process.env.NGINX ?? "nginx", args: ["-c", file, "-p", directory] };
  },
};

/** With keys, limits, a database, metrics and a log line for each request, as `npm start` runs it. */
function parlance(name: string, workers: (cores: number) => number): Gateway {
  return {
    name,
    language: "TypeScript",
    install: async () => JSON.parse(await readFile(join(REPOSITORY, "package.json"), "utf8")).version,
    start: async ({ upstream, port, directory, cores }) => {
      const file = join(directory, "parlance.yaml");
      const deployment = `{ engine: openai-compatible, base_url: "${upstream}/v1", model: mock }`;
      await writeFile(
        file,
        `builtin_models: false\nserver: { workers: ${workers(cores)} }\nmodels:\n  - { id: mock, task: chat, deployments: [${deployment}] }\n`,
      );
      return {
        command: process.execPath,
        args: ["--max-semi-space-size=16", "scripts/start.mjs", "serve"],
        cwd: REPOSITORY,
        env: {
          PARLANCE_PORT: String(port),
          PARLANCE_DATA_DIR: join(directory, "data"),
          PARLANCE_CONFIG: file,
          PARLANCE_API_KEY: KEY,
        },
      };
    },
    headers: () => ({ authorization: `Bearer ${KEY}` }),
  };
}

const PORTKEY = "1.15.2";

const portkey: Gateway = {
  name: "Portkey",
  language: "JavaScript",
  install: async (folder) => {
    if (!existsSync(join(folder, "node_modules"))) {
      await writeFile(join(folder, "package.json"), "{}");
      await run("npm", ["install", "--no-audit", "--no-fund", `@portkey-ai/gateway@${PORTKEY}`], { cwd: folder });
    }
    return PORTKEY;
  },
  start: async ({ port }, folder) => ({
    command: process.execPath,
    args: [join(folder, "node_modules/@portkey-ai/gateway/build/start-server.js"), `--port=${port}`, "--headless"],
    env: { NODE_ENV: "production", TRUSTED_CUSTOM_HOSTS: "127.0.0.1,localhost" },
  }),
  headers: ({ upstream }) => ({
    authorization: "Bearer mock",
    "x-portkey-provider": "openai",
    "x-portkey-custom-host": `${upstream}/v1`,
  }),
};

const NOVEUM = "2.0.1";

const noveum: Gateway = {
  name: "Noveum",
  language: "Rust",
  install: async (folder) => {
    if (!existsSync(join(folder, "bin/noveum-ai-gateway"))) {
      const args = ["install", "noveum-ai-gateway", "--version", NOVEUM, "--locked", "--root", folder];
      await run("cargo", args, { timeout: 1_800_000, maxBuffer: 2 ** 26 });
    }
    return NOVEUM;
  },
  start: async ({ upstream, port }, folder) => ({
    command: join(folder, "bin/noveum-ai-gateway"),
    args: [],
    env: { HOST: "127.0.0.1", PORT: String(port), OPENAI_BASE_URL: upstream, RUST_LOG: "error" },
  }),
  headers: () => ({ authorization: "Bearer mock", "x-provider": "openai" }),
};

const LITELLM = process.env.LITELLM_VERSION ?? "1.100.0";

const litellm: Gateway = {
  name: "LiteLLM",
  language: "Python",
  install: async (folder) => {
    if (!existsSync(join(folder, "bin/litellm"))) {
      await run("python3", ["-m", "venv", folder]);
      await run(join(folder, "bin/pip"), ["install", "--quiet", `litellm[proxy]==${LITELLM}`], { timeout: 600_000 });
    }
    return LITELLM;
  },
  start: async ({ upstream, port, directory, cores }, folder) => {
    const file = join(directory, "config.yaml");
    await writeFile(
      file,
      `model_list:\n  - model_name: mock\n    litellm_params: { model: openai/mock, api_base: "${upstream}/v1", api_key: mock }\n`,
    );
    return {
      command: join(folder, "bin/litellm"),
      args: ["--config", file, "--port", String(port), "--num_workers", String(cores), "--telemetry", "False"],
      env: { LITELLM_LOCAL_MODEL_COST_MAP: "True" },
    };
  },
};

export const GATEWAYS: readonly Gateway[] = [
  nginx,
  bareProxy,
  parlance("Parlance", () => 1),
  parlance("Parlance, a worker per core", (cores) => cores),
  portkey,
  noveum,
  litellm,
];

/** Installs a gateway below `root`. Returns its folder and version, or why it cannot be installed. */
export async function install(
  gateway: Gateway,
  root: string,
): Promise<{ folder: string; version: string } | { missing: string }> {
  const folder = join(root, gateway.name.toLowerCase().replace(/[^a-z0-9]+/g, "-"));
  await mkdir(folder, { recursive: true });
  try {
    return { folder, version: await gateway.install(folder) };
  } catch (error) {
    return { missing: error instanceof Error ? error.message.slice(0, 300) : String(error) };
  }
}

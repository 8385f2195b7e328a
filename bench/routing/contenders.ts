/** Proxies to compare, each in a separate process in front of the same upstream. */

import { type ChildProcess, execFileSync, fork, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** The key of a project in the services that `served` starts. */
export const PROJECT_KEY = `sk-bench-${"a".repeat(32)}`;

export interface Contender {
  name: string;
  origin: string;
  headers: Record<string, string>;
  pid: number | undefined;
  stop(): Promise<void>;
}

/** Forks a script that sends its port. */
export async function forked(name: string, script: string, ...given: string[]): Promise<Contender> {
  const child = fork(join(import.meta.dirname, script), given);
  const [port] = (await once(child, "message")) as [number];
  return { name, origin: `http://127.0.0.1:${port}`, headers: {}, pid: child.pid, stop: () => end(child) };
}

const CHECKOUT = resolve(import.meta.dirname, "../..");

/**
 * `npm start` with keys, a database, two weighted deployments, metrics and a log line for each request. `checkout`: folder
 * of another version, with its dependencies installed.
 */
export async function parlance(
  upstream: string,
  workers = 1,
  nodeArguments: string[] = [],
  checkout = CHECKOUT,
): Promise<Contender> {
  const directory = mkdtempSync(join(tmpdir(), "parlance-bench-"));
  const deployment = `{ engine: openai-compatible, base_url: "${upstream}/v1", model: mock }`;
  const config = `builtin_models: false\nserver: { workers: ${workers} }\nmodels:\n  - { id: bench, task: chat, strategy: weighted, deployments: [${deployment}, ${deployment}] }\n`;
  const { child, origin } = await served(directory, config, {
    nodeArguments: ["--max-semi-space-size=16", ...nodeArguments],
    checkout,
  });
  const stop = async () => {
    await end(child);
    rmSync(directory, { recursive: true });
  };
  return { name: "Parlance", origin, headers: { authorization: `Bearer ${PROJECT_KEY}` }, pid: child.pid, stop };
}

/** Starts a service with `config` in `directory`, and waits until it is ready. Its log goes to `log` in there. */
export async function served(
  directory: string,
  config: string,
  {
    nodeArguments = [],
    environment = {},
    checkout = CHECKOUT,
  }: { nodeArguments?: string[]; environment?: Readonly<Record<string, string>>; checkout?: string },
): Promise<{ child: ChildProcess; origin: string }> {
  // Otherwise the service would run from its sources, which takes longer to start and more memory.
  execFileSync(process.execPath, [join(checkout, "scripts/bundle/write-bundle.ts")]);
  const port = await freePort();
  const configFile = join(directory, "parlance.yaml");
  writeFileSync(configFile, config);
  const log = openSync(join(directory, "log"), "a");
  const child = spawn(process.execPath, [...nodeArguments, "scripts/start.mjs", "serve"], {
    cwd: checkout,
    stdio: ["ignore", log, log],
    env: {
      ...process.env,
      PARLANCE_PORT: String(port),
      PARLANCE_DATA_DIR: directory,
      PARLANCE_CONFIG: configFile,
      PARLANCE_API_KEY: PROJECT_KEY,
      ...environment,
    },
  });
  const origin = `http://127.0.0.1:${port}`;
  await untilAnswers(`${origin}/health/ready`);
  return { child, origin };
}

/** nginx as a reverse proxy; undefined if it is not installed. `NGINX` overrides the path of its binary. */
export async function nginx(upstream: string): Promise<Contender | undefined> {
  const binary = process.env.NGINX ?? "nginx";
  if (spawnSync(binary, ["-v"]).status !== 0) return undefined;
  const directory = mkdtempSync(join(tmpdir(), "parlance-nginx-"));
  const port = await freePort();
  const file = join(directory, "nginx.conf");
  writeFileSync(file, nginxConfig({ upstream, port, directory, workers: 1 }));
  const child = spawn(binary, ["-c", file, "-p", directory], { stdio: "ignore" });
  const stop = async () => {
    await end(child, "SIGQUIT");
    rmSync(directory, { recursive: true });
  };
  await untilConnects(port);
  return { name: "nginx", origin: `http://127.0.0.1:${port}`, headers: {}, pid: child.pid, stop };
}

/** Configuration of nginx as a reverse proxy that keeps its connections and passes streams on at once. */
export function nginxConfig(options: { upstream: string; port: number; directory: string; workers: number }): string {
  const { upstream, port, directory, workers } = options;
  return `daemon off; worker_processes ${workers}; pid ${directory}/pid; error_log ${directory}/error.log;
events { worker_connections 8192; }
http {
  access_log off; keepalive_requests 1000000;
  client_body_temp_path ${directory}/body; proxy_temp_path ${directory}/proxy;
  fastcgi_temp_path ${directory}/f; uwsgi_temp_path ${directory}/u; scgi_temp_path ${directory}/s;
  upstream mock { server ${new URL(upstream).host}; keepalive 1024; keepalive_requests 1000000; }
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://mock; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; }
  }
}
`;
}

export async function end(child: ChildProcess, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, "exit");
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

export async function untilAnswers(url: string): Promise<void> {
  for (let tries = 0; tries < 300; tries += 1) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return;
    await new Promise((resume) => setTimeout(resume, 100));
  }
  throw new Error(`${url} does not respond`);
}

async function untilConnects(port: number): Promise<void> {
  await untilAnswers(`http://127.0.0.1:${port}/`).catch(() => {});
}

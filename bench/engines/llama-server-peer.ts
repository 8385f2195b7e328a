import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { llamaServerBinary } from "../../test/support/models/llama-server.ts";

const PORT = 18_232;

interface Settings {
  file: string;
  threads: number;
  slots: number;
  /** Tokens of each slot. */
  context: number;
}

export interface LlamaServer {
  pid: number;
  post(body: object): Promise<void>;
}

/** Starts LLAMA_SERVER with its defaults but threads and slots, or returns undefined without one. */
export async function startLlamaServer(
  { file, threads, slots, context }: Settings,
  children: ChildProcess[],
): Promise<LlamaServer | undefined> {
  if (llamaServerBinary === undefined) return undefined;
  const args = ["--model", file, "--host", "127.0.0.1", "--port", String(PORT), "--jinja", "--n-gpu-layers", "0"];
  args.push("--ctx-size", String(slots * context), "--parallel", String(slots), "--threads", String(threads));
  const child = spawn(llamaServerBinary, args, { stdio: "ignore" });
  children.push(child);
  const address = `http://127.0.0.1:${PORT}`;
  while ((await fetch(`${address}/health`).catch(() => undefined))?.status !== 200) await delay(100);
  return {
    pid: child.pid ?? 0,
    async post(body) {
      const headers = { "content-type": "application/json" };
      const response = await fetch(`${address}/v1/chat/completions`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      if (!response.ok) throw new Error(await response.text());
      await response.arrayBuffer();
    },
  };
}

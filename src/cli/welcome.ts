/** What a start tells the person at the terminal: where the service is, the first keys, and a line to try it with. */

import { setTimeout as pause } from "node:timers/promises";
import type { BootstrapKeys } from "../accounts/accounts.ts";
import type { Config } from "../config/config.ts";
import { Fault } from "../faults.ts";
import type { Readiness } from "../http/ops/operations.ts";
import type { Listening } from "../main.ts";
import type { Progress } from "./progress.ts";

const POLL_MILLISECONDS = 100;
const DATABASE_RETRY_MILLISECONDS = 1000;

/** Resolves once the models are up, or have failed. Throws a Fault when the operator's fixed keys cannot hold. */
export async function welcome(listening: Listening, config: Config, progress: Progress): Promise<void> {
  const { origin, signal } = listening;
  try {
    const keys = await bootstrapKeys(listening, config);
    progress.print(describeAddress(origin, keys));
    // Keys are made at the first start only.
    if (keys.apiKey !== undefined) await listening.service.greet(signal);
    const readiness = await untilReady(listening);
    progress.stop();
    process.stdout.write(describeModels(readiness, origin, keys));
  } catch (failure) {
    if (!signal.aborted) throw failure;
  }
}

/** Waits for a database that is not there yet: the service says so in /health/ready meanwhile. */
async function bootstrapKeys({ service, signal }: Listening, { apiKey, adminKey }: Config): Promise<BootstrapKeys> {
  for (;;) {
    try {
      return await service.accounts.ensureBootstrapKeys({ apiKey, adminKey });
    } catch (failure) {
      if (!(failure instanceof Fault && failure.kind === "unavailable")) throw failure;
      await pause(DATABASE_RETRY_MILLISECONDS, undefined, { signal });
    }
  }
}

async function untilReady({ service, signal }: Listening): Promise<Readiness> {
  for (;;) {
    const readiness = await service.readiness();
    if (readiness.isReady) return readiness;
    await pause(POLL_MILLISECONDS, undefined, { signal });
  }
}

function describeAddress(origin: string, { apiKey, adminKey }: BootstrapKeys): string {
  const lines = ["", `  Base URL   ${origin}/v1`];
  if (apiKey !== undefined) lines.push(`  API key    ${apiKey.reveal()}`);
  if (adminKey !== undefined) lines.push(`  Admin key  ${adminKey.reveal()}`);
  if (apiKey !== undefined || adminKey !== undefined) {
    lines.push("", "  The keys are shown this once; Parlance keeps only their hashes.");
  }
  return `${lines.join("\n")}\n\n`;
}

function describeModels({ models }: Readiness, origin: string, { apiKey }: BootstrapKeys): string {
  const lines = models
    .filter(({ state }) => !["up", "loading", "unloaded"].includes(state))
    .map(({ deployment, state, reason }) => `  ${deployment}: ${state}. ${reason ?? ""}`);
  const chat = models.find(({ state, task }) => task === "chat" && (state === "up" || state === "unloaded"));
  if (chat !== undefined) {
    const key = apiKey?.reveal() ?? "YOUR_API_KEY";
    const messages = [
      { role: "system", content: "You are a helpful assistant." },
      { role: "user", content: "What is the capital of France?" },
    ];
    const body = { model: chat.id, messages, temperature: 0 };
    lines.push(
      chat.state === "up" ? `  ${chat.id} is up. Try it:` : `  The first request loads ${chat.id}. Try it:`,
      "",
      `curl ${origin}/v1/chat/completions \\`,
      `  -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\`,
      `  -d '${JSON.stringify(body)}'`,
      "",
    );
  }
  return `${lines.join("\n")}\n`;
}

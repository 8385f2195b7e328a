/** Prints the base URL, the first keys and a curl command to try at startup. */

import type { Config } from "../config/config.ts";
import type { Task } from "../contracts/task.ts";
import type { BootstrapKeys } from "../features/accounts/accounts.ts";
import { OPERATOR } from "../features/accounts/audit/audit.ts";
import type { Readiness } from "../features/operations/operations.ts";
import { retry, until } from "../kernel/async/retry.ts";
import { Fault } from "../kernel/faults.ts";
import type { Secret } from "../kernel/secret.ts";
import type { Listening } from "../main.ts";
import { MANIFEST } from "../model-store/manifest/manifest.ts";
import { formatBytes } from "./format-bytes.ts";
import type { Progress } from "./progress.ts";
import { signInLink } from "./sign-in-link.ts";

const POLL_INTERVAL_MS = 100;
const DATABASE_RETRY_INTERVAL_MS = 1000;

/**
 * Resolves once the models are up or have failed, and the models that suit the machine are downloaded. `onReady` is
 * called before these downloads. Throws a Fault when the configured keys are not accepted.
 */
export async function welcome(
  listening: Listening,
  config: Config,
  progress: Progress,
  onReady?: (keys: BootstrapKeys) => Promise<void>,
): Promise<void> {
  const { origin, signal } = listening;
  try {
    const keys = await bootstrapKeys(listening, config);
    const { consoleSessions } = listening.app.accounts;
    // Output that goes elsewhere is kept, and others read it than those who may sign in.
    const hasLink = config.server.console && process.stdout.isTTY;
    const code = hasLink ? await whenAvailable(() => consoleSessions.createSignInCode(OPERATOR), signal) : undefined;
    progress.print(describeAddress(origin, keys, { hasConsole: config.server.console, code }));
    // Keys are generated at the first start only.
    if (keys.apiKey !== undefined) await listening.app.greet(signal);
    const readiness = await untilReady(listening);
    progress.stop();
    process.stdout.write(describeModels(readiness, origin, keys));
    await onReady?.(keys);
    await downloadDefaultModels(listening, keys, progress);
  } catch (failure) {
    if (!signal.aborted) throw failure;
    progress.stop();
  }
}

async function bootstrapKeys({ app, signal }: Listening, { environment, ollama }: Config): Promise<BootstrapKeys> {
  const { PARLANCE_API_KEY: apiKey, PARLANCE_ADMIN_KEY: adminKey } = environment;
  const anonymousProject = ollama.enabled ? ollama.anonymousProject : undefined;
  return whenAvailable(() => app.accounts.ensureBootstrapKeys({ apiKey, adminKey, anonymousProject }), signal);
}

/** Waits until the database is available; meanwhile /health/ready reports why the service is not ready. */
function whenAvailable<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
  const isRetryable = (failure: unknown) => failure instanceof Fault && failure.kind === "unavailable";
  const backoff = { initial: DATABASE_RETRY_INTERVAL_MS, max: DATABASE_RETRY_INTERVAL_MS };
  return retry(work, { backoff, isRetryable, signal });
}

async function untilReady({ app, signal }: Listening): Promise<Readiness> {
  const ready = async () => {
    const readiness = await app.readiness();
    return readiness.isReady && readiness;
  };
  return (await until(ready, { everyMs: POLL_INTERVAL_MS, signal })) as Readiness;
}

async function downloadDefaultModels(
  { origin, app, signal }: Listening,
  keys: BootstrapKeys,
  progress: Progress,
): Promise<void> {
  const listener = {
    onBegin: ({ id, task, bytes }: { id: string; task: Task; bytes: number }) => {
      const smaller = MANIFEST.find((model) => model.isDefault && model.task === task)?.id;
      progress.print(
        `  Downloading ${id} (${formatBytes(bytes)}) in the background, the default ${task} model on this machine.\n  To do without it, set local.default_${task}_model to ${smaller}.\n\n`,
      );
    },
    onFailure: (_id: string, reason: string) =>
      progress.print(
        `  ${reason}\n  Trying again from time to time. Without a network, bring it in: parlance models import FILE\n`,
      ),
  };
  const ids = await app.downloadDefaultModels(listener, signal);
  if (ids.length === 0) return;
  progress.stop();
  process.stdout.write(`\n${describeModels(await app.readiness(), origin, keys)}`);
}

function describeAddress(
  origin: string,
  { apiKey, adminKey }: BootstrapKeys,
  { hasConsole, code }: { hasConsole: boolean; code: Secret | undefined },
): string {
  const lines = ["", `  Base URL   ${origin}/v1`];
  if (code !== undefined) lines.push(`  Console    ${signInLink(origin, code.reveal())}`);
  else if (hasConsole) lines.push(`  Console    ${origin}/ (parlance console prints a link that signs in)`);
  if (apiKey !== undefined) lines.push(`  API key    ${apiKey.reveal()}`);
  if (adminKey !== undefined) lines.push(`  Admin key  ${adminKey.reveal()}`);
  if (apiKey !== undefined || adminKey !== undefined) {
    lines.push("", "  Save these keys: they are shown only once, and only their hashes are stored.");
  }
  if (code !== undefined) lines.push("", "  The console link signs in once, within an hour.");
  return `${lines.join("\n")}\n\n`;
}

function describeModels({ models }: Readiness, origin: string, { apiKey }: BootstrapKeys): string {
  const failed = models.filter(({ state }) => !["up", "loading", "unloaded"].includes(state));
  const byReason = Map.groupBy(failed, ({ state, reason }) => `${state}. ${reason ?? ""}`);
  const lines = [...byReason].map(
    ([reason, group]) => `  ${group.map(({ deployment }) => deployment).join(", ")}: ${reason}`,
  );
  const chat = models.find(({ state, task }) => task === "chat" && (state === "up" || state === "unloaded"));
  if (chat !== undefined) {
    const key = apiKey?.reveal() ?? "YOUR_API_KEY";
    const messages = [
      { role: "system", content: "You are a helpful assistant." },
      { role: "user", content: "What is the capital of France?" },
    ];
    const body = { model: chat.id, messages, temperature: 0 };
    lines.push(
      chat.state === "up" ? `  ${chat.id} is ready. Try it:` : `  ${chat.id} is loaded by its first request. Try it:`,
      "",
      `curl ${origin}/v1/chat/completions \\`,
      `  -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\`,
      `  -d '${JSON.stringify(body)}'`,
      "",
    );
  }
  return `${lines.join("\n")}\n`;
}

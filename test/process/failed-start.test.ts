/** A start that fails halfway closes what was open. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { openApp } from "../../src/app/app.ts";
import { configSources, configurationSources } from "../../src/cli/config-sources.ts";
import type { Config } from "../../src/config/config.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { createLogger } from "../../src/kernel/logger.ts";
import { createModelStore } from "../../src/model-store/create-model-store.ts";
import { temporaryDirectory } from "../support/service/temporary-directory.ts";

/** Fails at the part with this number, which is open, and records the order in which parts close. */
class FailingLifetime extends AsyncDisposableStack {
  opened = 0;
  readonly closed: number[] = [];
  readonly #failsAt: number;

  constructor(failsAt: number) {
    super();
    this.#failsAt = failsAt;
  }

  override defer(close: () => void | PromiseLike<void>): void {
    const number = this.#count();
    super.defer(async () => {
      await close();
      this.closed.push(number);
    });
    this.#fail(number);
  }

  override use<Part extends AsyncDisposable | Disposable | null | undefined>(part: Part): Part {
    const number = this.#count();
    super.defer(() => void this.closed.push(number));
    super.use(part);
    this.#fail(number);
    return part;
  }

  #count(): number {
    this.opened += 1;
    return this.opened;
  }

  #fail(number: number): void {
    if (number === this.#failsAt) throw new Error(`part ${number} fails`);
  }
}

/** Kinds of handles that keep this process running beyond `before`, except for reads of files, which end by themselves. */
function handlesBeyond(before: readonly string[]): string[] {
  const rest = [...before];
  return process.getActiveResourcesInfo().filter((kind) => {
    const index = rest.indexOf(kind);
    if (index !== -1) rest.splice(index, 1);
    return index === -1 && !kind.startsWith("FSReq");
  });
}

async function configIn(directory: string, text: string): Promise<Config> {
  const file = join(directory, "parlance.yaml");
  await writeFile(file, `builtin_models: false\n${text}\n`);
  return loadConfig({ ...configSources(), environment: { PARLANCE_DATA_DIR: directory, PARLANCE_CONFIG: file } });
}

function open(config: Config, lifetime: AsyncDisposableStack) {
  const logger = createLogger("silent");
  const sources = configurationSources(configSources());
  const store = createModelStore(config, logger);
  return openApp({ config, logger, store, onPullProgress: () => {}, sources }, lifetime);
}

test("closes every part that was open in reverse order, wherever the start fails", async () => {
  await using directory = await temporaryDirectory();
  const config = await configIn(directory.path, "server: { workers: 2, operations: { port: 0 } }");
  const complete = new FailingLifetime(0);
  await open(config, complete);
  const parts = complete.opened;
  await complete.disposeAsync();
  expect(parts).toBeGreaterThan(15);
  const handles = process.getActiveResourcesInfo();
  for (let failsAt = 1; failsAt <= parts; failsAt += 1) {
    const lifetime = new FailingLifetime(failsAt);
    await expect(open(config, lifetime)).rejects.toThrow(`part ${failsAt} fails`);
    await lifetime.disposeAsync();
    expect(lifetime.closed).toEqual(Array.from({ length: failsAt }, (_, index) => failsAt - index));
    // Timers of the test runner come and go; expect.poll has one itself.
    for (let wait = 0; wait < 100 && handlesBeyond(handles).length > 0; wait += 1) await setTimeout(10);
    expect(handlesBeyond(handles)).toEqual([]);
  }
});

test.each([
  ["an unusable folder of files", "files: { directory: parlance.yaml }", 10],
  ["a missing FFmpeg", "server: { ffmpeg: /nonexistent/ffmpeg }", 10],
  ["a missing redactor", 'opentelemetry: { endpoint: "http://127.0.0.1:1", content: { redact: missing.mjs } }', 0],
])("closes what is open after %s", async (_name, text, minParts) => {
  await using directory = await temporaryDirectory();
  const config = await configIn(directory.path, text);
  const lifetime = new FailingLifetime(0);
  await expect(open(config, lifetime)).rejects.toThrow();
  await lifetime.disposeAsync();
  expect(lifetime.opened).toBeGreaterThanOrEqual(minParts);
  expect(lifetime.closed).toHaveLength(lifetime.opened);
});

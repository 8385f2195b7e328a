import { setTimeout as delay } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { startFaultyUpstream } from "../../../../test/support/upstreams/faulty-upstream.ts";
import { listUpstreamModels } from "../list-upstream-models.ts";
import { probeUpstream } from "../probe-upstream.ts";
import { openAiCompatibleSettings } from "../settings.ts";
import { Connections } from "./connections.ts";
import { withScopedSignal } from "./scoped-signal.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

test("leaves no listeners on a longer-lived signal", async () => {
  const upstream = await startFaultyUpstream();
  const settings = openAiCompatibleSettings.parse({ base_url: upstream.baseUrlFor("refuses-request") });
  const connections = await Connections.open(settings);
  const asked: WeakRef<object>[] = [];
  const dispatch = connections.dispatch.bind(connections);
  connections.dispatch = (request, handler, connecting) => {
    asked.push(new WeakRef(handler));
    dispatch(request, handler, connecting);
  };
  const { signal } = new AbortController();
  for (let time = 0; time < 10; time += 1) {
    await probeUpstream(connections, settings, signal);
    await listUpstreamModels(connections, settings, signal).catch(() => {});
  }
  expect(asked).toHaveLength(20);
  await connections.close();
  await upstream.close();
  const kept = async () => {
    collectGarbage();
    await delay(10);
    return asked.filter((each) => each.deref() !== undefined).length;
  };
  // The last one may still be on the stack.
  await expect.poll(kept).toBeLessThanOrEqual(1);
  expect(signal.aborted).toBe(false);
});

test("aborts with the signal that it follows", async () => {
  const long = new AbortController();
  const reasonOf = (own: AbortSignal) =>
    new Promise((resolve) => own.addEventListener("abort", () => resolve(own.reason)));
  const reason = withScopedSignal(long.signal, reasonOf);
  long.abort("enough");
  expect(await reason).toBe("enough");
  expect(await withScopedSignal(long.signal, async (own) => own.reason)).toBe("enough");
});

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Fault } from "../../kernel/faults.ts";
import { OpenSockets } from "./open-sockets.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const ended = new Fault("unauthenticated", "It has ended.", { code: "session_ended" });
const away = new Fault("unavailable", "The database is away.");

function open(sockets: OpenSockets, checkStanding: () => Promise<void>) {
  const closed: Fault[] = [];
  const close = (failure: Fault) => void closed.push(failure);
  const leave = sockets.add({ project: "proj", checkStanding, isBusy: () => false, close });
  return { closed, leave };
}

test("closes what has ended, whatever else waits or fails", async () => {
  const sockets = new OpenSockets({ maxPerProject: 10, plural: "sockets", setting: "max", code: "too_many" });
  const waiting = open(sockets, () => new Promise(() => {}));
  const unknown = open(sockets, () => Promise.reject(away));
  const fine = open(sockets, async () => {});
  const over = open(sockets, () => Promise.reject(ended));
  await vi.advanceTimersByTimeAsync(5_000);
  expect([waiting, unknown, fine, over].map(({ closed }) => closed)).toEqual([[], [], [], [ended]]);
  const later = open(sockets, () => Promise.reject(ended));
  await vi.advanceTimersByTimeAsync(5_000);
  expect(later.closed).toEqual([ended]);
  for (const { leave } of [waiting, unknown, fine, over, later]) leave();
  expect(vi.getTimerCount()).toBe(0);
});

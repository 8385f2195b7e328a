import { expect, test } from "vitest";
import { type CpuTimes, ThreadCount } from "./thread-count.ts";

/** A machine with a scripted load, in cores, for each sample of 250 ms. */
function machine(cores: number) {
  const times: CpuTimes = { cores, busyMs: 0, ownMs: 0, atMs: 0 };
  return {
    read: () => ({ ...times }),
    pass: (load: { own: number; others: number }) => {
      times.atMs += 250;
      times.ownMs += load.own * 250;
      times.busyMs += (load.own + load.others) * 250;
    },
  };
}

test("uses one thread before the first sample, then every free core", () => {
  const { read, pass } = machine(8);
  const threads = new ThreadCount(6, read);
  expect(threads.current).toBe(1);
  pass({ own: 1, others: 0.2 });
  threads.sample();
  expect(threads.current).toBe(6);
  pass({ own: 6, others: 5.8 });
  threads.sample();
  expect(threads.current).toBe(2);
});

test("releases a core at once and reclaims it slowly", () => {
  const { read, pass } = machine(2);
  const threads = new ThreadCount(2, read);
  pass({ own: 2, others: 0 });
  threads.sample();
  expect(threads.current).toBe(2);
  pass({ own: 1, others: 1 });
  threads.sample();
  expect(threads.current).toBe(1);
  pass({ own: 1, others: 0 });
  threads.sample();
  expect(threads.current).toBe(1);
  for (let sample = 0; sample < 8; sample++) {
    pass({ own: 1, others: 0 });
    threads.sample();
  }
  expect(threads.current).toBe(2);
});

test("keeps one thread when no core is free", () => {
  const { read, pass } = machine(2);
  const threads = new ThreadCount(2, read);
  pass({ own: 0.5, others: 4 });
  threads.sample();
  expect(threads.current).toBe(1);
});

import { expect, test } from "vitest";
import type { PullProgress } from "../model-store/pull-progress.ts";
import { Transfer } from "./transfer.ts";

const seen = (receivedBytes: number, totalBytes?: number): PullProgress => ({
  model: "small",
  file: "small.gguf",
  phase: "fetching",
  source: "hugging-face",
  receivedBytes,
  totalBytes,
  completedBytes: 0,
  modelBytes: totalBytes,
});

test("describes bytes, speed and remaining time", () => {
  const transfer = new Transfer(seen(0, 98_362_432), 0);
  transfer.see(seen(10_000_000, 98_362_432), 1000);
  transfer.see(seen(20_000_000, 98_362_432), 2000);
  expect(transfer.describe()).toBe("20.0 MB of 98.4 MB, 10.0 MB/s, 8 s left");
});

test("omits unknown parts at the start and without a total size", () => {
  const transfer = new Transfer(seen(0), 0);
  expect(transfer.describe()).toBe("0 bytes");
  transfer.see(seen(512), 1000);
  expect(transfer.describe()).toBe("512 bytes, 512 bytes/s");
});

test("measures the speed over the last seconds, not over the entire download", () => {
  const transfer = new Transfer(seen(0, 8_000_000_000), 0);
  transfer.see(seen(50_000_000, 8_000_000_000), 1000);
  for (let second = 2; second <= 20; second += 1) {
    transfer.see(seen(50_000_000 + second * 1000, 8_000_000_000), second * 1000);
  }
  expect(transfer.describe()).toBe("50.0 MB of 8.0 GB, 1.0 kB/s, 2208 h 19 min left");
});

test("restarts the measurement for another source or file and after a restart", () => {
  const transfer = new Transfer(seen(5_000_000), 0);
  transfer.see(seen(9_000_000), 1000);
  transfer.see({ ...seen(100), source: "pypi" }, 1100);
  expect(transfer.describe()).toBe("100 bytes");
  transfer.see({ ...seen(1100), source: "pypi" }, 2100);
  transfer.see({ ...seen(10), source: "pypi" }, 2200);
  expect(transfer.describe()).toBe("10 bytes");
});

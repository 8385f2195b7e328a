import { expect, test } from "vitest";
import { OpenedWhenUsed } from "./opened-when-used.ts";

function countedNetwork(failures: number) {
  const counts = { opened: 0, closed: 0 };
  const open = async () => {
    counts.opened += 1;
    if (counts.opened <= failures) throw new Error("no file");
    const close = async () => {
      counts.closed += 1;
    };
    return { close };
  };
  return { counts, network: new OpenedWhenUsed(open) };
}

test("opens nothing that nobody uses", async () => {
  const { counts, network } = countedNetwork(0);
  await network.close();
  expect(counts).toEqual({ opened: 0, closed: 0 });
});

test("opens once for requests at the same time, and closes it", async () => {
  const { counts, network } = countedNetwork(0);
  const [one, other] = await Promise.all([network.get(), network.get()]);
  expect(one).toBe(other);
  await network.close();
  expect(counts).toEqual({ opened: 1, closed: 1 });
});

test("fails the requests that share a failed opening, and tries again for the next", async () => {
  const { counts, network } = countedNetwork(1);
  const together = await Promise.allSettled([network.get(), network.get()]);
  expect(together.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await network.get();
  await network.close();
  expect(counts).toEqual({ opened: 2, closed: 1 });
});

test("closes after an opening that failed", async () => {
  const { network } = countedNetwork(1);
  await expect(network.get()).rejects.toThrow("no file");
  await network.close();
});

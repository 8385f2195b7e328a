import { expect, test } from "vitest";
import { type Deferral, type Slot, Slots } from "./slots.ts";

const never = new AbortController().signal;

/** A batch request that gives up its slot when it is preempted. */
function batchOf(slots: Slots, project = "a") {
  const run = { isPreempted: false, slot: undefined as Slot | undefined };
  const deferral: Deferral = {
    priority: "batch",
    preempt: () => {
      run.isPreempted = true;
      run.slot?.release();
    },
  };
  const acquired = slots.acquire(never, project, deferral).then((slot) => {
    run.slot = slot;
  });
  return { run, acquired };
}

test("keeps the last slot free of requests that nobody waits for and that cannot be ended", async () => {
  const slots = new Slots(3, 10);
  await slots.acquire(never, "a", { priority: "background" });
  await slots.acquire(never, "a", { priority: "batch" });
  void slots.acquire(never, "a", { priority: "background" });
  void slots.acquire(never, "a", { priority: "batch" });
  await Promise.resolve();
  expect([slots.inUse, slots.waiting]).toEqual([2, 2]);
  await slots.acquire(never, "b");
  expect(slots.inUse).toBe(3);
});

test("lets batch requests that can be ended use all slots", async () => {
  const slots = new Slots(2, 10);
  const runs = [batchOf(slots), batchOf(slots), batchOf(slots)];
  await Promise.all(runs.slice(0, 2).map(({ acquired }) => acquired));
  expect([slots.inUse, slots.waiting]).toEqual([2, 1]);
  runs[0]?.run.slot?.release();
  await runs[2]?.acquired;
  expect([slots.inUse, slots.waiting]).toEqual([2, 0]);
});

test("gives the slot of a batch request to an interactive one, even where there is only one", async () => {
  const slots = new Slots(1, 10);
  const { run, acquired } = batchOf(slots);
  await acquired;
  const { release } = await slots.acquire(never, "a");
  expect(run.isPreempted).toBe(true);
  expect([slots.inUse, slots.waiting]).toEqual([1, 0]);
  release();
  expect(slots.inUse).toBe(0);
});

test("preempts for an interactive request although the queue has no place", async () => {
  const slots = new Slots(1, 0);
  await batchOf(slots).acquired;
  await slots.acquire(never, "a");
  await expect(slots.acquire(never, "a")).rejects.toMatchObject({ code: "server_is_overloaded" });
});

test("preempts the batch request that began last", async () => {
  const slots = new Slots(2, 10);
  const [first, second] = [batchOf(slots), batchOf(slots)];
  await Promise.all([first.acquired, second.acquired]);
  await slots.acquire(never, "b");
  expect([first.run.isPreempted, second.run.isPreempted]).toEqual([false, true]);
});

test("serves batch requests after all others, and projects in turn", async () => {
  const slots = new Slots(1, 100);
  const { release } = await slots.acquire(never, "x");
  const order: string[] = [];
  const waits = (project: string, deferral: Deferral) =>
    slots.acquire(never, project, deferral).then((slot) => {
      order.push(`${deferral.priority ?? "interactive"} ${project}`);
      setImmediate(slot.release);
    });
  const all = [
    waits("a", { priority: "batch" }),
    waits("a", { priority: "batch" }),
    waits("b", { priority: "batch" }),
    waits("a", { priority: "background" }),
    waits("a", {}),
  ];
  release();
  await Promise.all(all);
  expect(order.slice(0, 2).sort()).toEqual(["background a", "interactive a"]);
  expect(order.slice(2)).toEqual(["batch a", "batch b", "batch a"]);
});

test("does not make a project's interactive request wait behind its background requests", async () => {
  const slots = new Slots(1, 1000);
  const { release } = await slots.acquire(never, "x");
  const order: string[] = [];
  const background = Array.from({ length: 200 }, () =>
    slots.acquire(never, "a", { priority: "background" }).then((slot) => {
      order.push("background");
      setImmediate(slot.release);
    }),
  );
  const own = slots.acquire(never, "a").then((slot) => {
    order.push("interactive");
    setImmediate(slot.release);
  });
  release();
  await own;
  expect(order.length).toBeLessThanOrEqual(2);
  await Promise.all(background);
});

import { expect, test } from "vitest";
import { Turns } from "./turns.ts";

const never = () => new AbortController().signal;

test("one works at a time, in the order in which they came, and two that come again and again alternate", async () => {
  const turns = new Turns();
  const done: string[] = [];
  let working = 0;
  const speak = async (name: string) => {
    for (let piece = 1; piece <= 3; piece += 1) {
      await turns.take(never(), async () => {
        working += 1;
        expect(working).toBe(1);
        await new Promise((resume) => setTimeout(resume, 2));
        working -= 1;
        done.push(`${name}${piece}`);
      });
    }
  };
  await Promise.all([speak("a"), speak("b")]);
  expect(done).toEqual(["a1", "b1", "a2", "b2", "a3", "b3"]);
});

test("who leaves before its turn costs no work, and a failure is its own alone", async () => {
  const turns = new Turns();
  const failing = turns.take(never(), async () => {
    throw new Error("lost its voice");
  });
  const left = turns.take(AbortSignal.abort(), async () => "spoken for nobody");
  const next = turns.take(never(), async () => "spoken");
  await expect(failing).rejects.toThrow("lost its voice");
  expect(await left).toBeUndefined();
  expect(await next).toBe("spoken");
});

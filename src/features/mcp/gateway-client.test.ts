import { expect, test } from "vitest";
import { sendInTurn } from "./gateway-client.ts";

test("sends one value at a time, of too many that wait the last, up to a bound", async () => {
  const sent: number[] = [];
  let end = () => {};
  const send = sendInTurn<number>({ max: 4, maxWaiting: 2 }, (value) => {
    sent.push(value);
    return new Promise<void>((resolve) => {
      end = resolve;
    });
  });
  const endOne = async () => {
    end();
    await new Promise(setImmediate);
  };
  for (const value of [1, 2, 3, 4]) send(value);
  expect(sent).toEqual([1]);
  await endOne();
  expect(sent).toEqual([1, 2]);
  await endOne();
  expect(sent).toEqual([1, 2, 4]);
  await endOne();
  send(5);
  await endOne();
  send(6);
  await endOne();
  expect(sent).toEqual([1, 2, 4, 5]);
});

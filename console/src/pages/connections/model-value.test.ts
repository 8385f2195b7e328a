import { expect, test } from "vitest";
import { abilityOf, perMillion, withAbility, withoutEmpty, withPrice } from "./model-value.ts";
import { perToken } from "./per-token.ts";

test.each(["0.15", "3", "250000", "0", "15.5", "0.000001"])(
  "shows a price of %s dollars a million as it was entered",
  (price) => {
    expect(perMillion(perToken(price))).toBe(price);
  },
);

test("sets and removes the price of a unit, and keeps the others", () => {
  const value = { id: "m", price: { prompt: "0.1", image: "0.5" } };
  expect(withPrice(value, "prompt", "3")?.price).toEqual({ prompt: "0.000003", image: "0.5" });
  expect(withPrice(value, "prompt", "")?.price).toEqual({ image: "0.5" });
  expect(withPrice(value, "prompt", "three")).toBeUndefined();
});

test("leaves an ability that nobody knows out, so that requests try", () => {
  expect(abilityOf({}, "vision")).toBeNull();
  const able = withAbility({ model: "m" }, "vision", true);
  expect(able).toEqual({ model: "m", abilities: { vision: true } });
  expect(withAbility(able, "vision", null)).toEqual({ model: "m" });
});

test("leaves out what is empty", () => {
  const value = { id: "m", aliases: [], price: {}, task: "", retries: 0, hidden: false, deployments: [{}] };
  expect(withoutEmpty(value)).toEqual({ id: "m", retries: 0, hidden: false, deployments: [{}] });
});

import { expect, test } from "vitest";
import { makeEngineServices } from "../../../test/support/models/engine-services.ts";
import type { ModerationInput, ModerationModel, ModerationVerdict } from "../../contracts/moderation-model.ts";
import { unavailable } from "../../kernel/faults.ts";
import { CascadeModel, type CascadeSettings } from "./cascade-model.ts";

const SETTINGS: CascadeSettings = {
  band: { below: 0.2, above: 0.1, belowByCategory: {} },
  guardWeight: 1,
  onGuardFailure: "error",
  guardMaxCharacters: undefined,
  guardTimeoutMs: undefined,
};
const input = (text: string): ModerationInput => ({ text, images: [] });
const until = AbortSignal.timeout(5000);

interface Scripted extends ModerationModel {
  asked: string[];
}

/** A moderation model whose texts are its scores: `hate=0.4 violence=0.1`. */
function scoring(thresholds: Record<string, number>, read: (text: string) => string = (text) => text): Scripted {
  const asked: string[] = [];
  const moderate = async (inputs: readonly ModerationInput[]): Promise<ModerationVerdict[]> =>
    inputs.map(({ text }) => {
      asked.push(text);
      const pairs = read(text)
        .split(" ")
        .flatMap((pair): [string, number][] => {
          const [category = "", score] = pair.split("=");
          return score === undefined ? [] : [[category, Number(score)]];
        });
      const every = <Value>(of: (score: number, category: string) => Value) =>
        Object.fromEntries(pairs.map(([category, score]) => [category, of(score, category)]));
      return {
        scores: every((score) => score),
        flags: every((score, category) => score >= (thresholds[category] ?? 0.5)),
        appliedTo: every(() => ["text"] as const),
      };
    });
  return {
    ...{ task: "moderation", slots: undefined, device: "cpu", takesImages: false, languages: ["en"], asked, moderate },
    ...{ categories: Object.keys(thresholds), thresholds, health: () => ({ state: "up" }), close: async () => {} },
  };
}

const CLASSIFIER = { hate: 0.6, violence: 0.5 };

function cascade(guardScore: number, settings: Partial<CascadeSettings> = {}) {
  const classifier = scoring(CLASSIFIER);
  const guard = scoring({ illicit: 0.5 }, () => `illicit=${guardScore}`);
  const services = makeEngineServices();
  const model = new CascadeModel({ classifier, guard }, { ...SETTINGS, ...settings }, services.logger);
  return { model, classifier, guard, services };
}

test("asks the guard only about texts whose scores are near a threshold and that are not flagged with certainty", async () => {
  const { model, guard, classifier } = cascade(0.5);
  const texts = [
    "hate=0.39 violence=0.29",
    "hate=0.41 violence=0.1",
    "hate=0.1 violence=0.59",
    "hate=0.1 violence=0.61",
    "hate=0.5 violence=0.9",
    "",
  ];
  const verdicts = await model.moderate(texts.map(input), until);
  expect(guard.asked).toEqual([texts[1], texts[2]]);
  // At its threshold, the guard changes nothing.
  const alone = await classifier.moderate(texts.map(input), until);
  for (const [index, { scores, flags }] of verdicts.entries()) {
    expect(flags).toEqual(alone[index]?.flags);
    for (const [category, score] of Object.entries(scores))
      expect(score).toBeCloseTo(alone[index]?.scores[category] ?? 2);
  }
});

test("asks about lower scores of the categories with a wider band, and shifts them", async () => {
  const band = { below: 0.2, above: 0.1, belowByCategory: { violence: 0.4 } };
  const { model, guard } = cascade(0.95, { band });
  const texts = ["hate=0.2 violence=0.2", "hate=0.2 violence=0.05"];
  const [indirect, harmless] = await model.moderate(texts.map(input), until);
  expect(guard.asked).toEqual([texts[0]]);
  expect(indirect?.flags).toEqual({ hate: false, violence: true });
  expect(indirect?.scores.hate).toBe(0.2);
  expect(harmless?.flags).toEqual({ hate: false, violence: false });
});

test.each([
  ["flags a text just below the threshold if the guard finds it harmful", 0.8, "hate=0.5 violence=0.1", true],
  ["clears a text just above the threshold if the guard finds it harmless", 0.2, "hate=0.65 violence=0.1", false],
  ["keeps the classifier's verdict if the guard barely disagrees", 0.51, "hate=0.5 violence=0.1", false],
])("%s", async (_what, guardScore, text, isFlagged) => {
  const [verdict] = await cascade(guardScore).model.moderate([input(text)], until);
  expect(verdict?.flags).toEqual({ hate: isFlagged, violence: false });
  expect((verdict?.scores.hate ?? 0) >= CLASSIFIER.hate).toBe(isFlagged);
  expect(verdict?.scores.violence).toBe(0.1);
});

test("adds the guard's log odds, times the weight, to the scores within the band", async () => {
  const [verdict] = await cascade(0.8, { guardWeight: 0.5 }).model.moderate([input("hate=0.5 violence=0.4")], until);
  // Odds of 4 to the power of 0.5.
  expect(verdict?.scores.hate).toBeCloseTo(2 / 3);
  expect(verdict?.scores.violence).toBeCloseTo(4 / 7);
  expect(verdict?.flags).toEqual({ hate: true, violence: true });
});

test("asks about a text once, also for later requests of the project, but not of another one", async () => {
  const { model, guard } = cascade(0.9);
  const texts = [input("hate=0.5"), input("hate=0.5"), input("hate=0.55")];
  const asked = { model: "m", project: "proj_1" };
  const first = await model.moderate(texts, until, asked);
  const second = await model.moderate(texts, until, asked);
  expect(guard.asked).toEqual(["hate=0.5", "hate=0.55"]);
  expect(first.map(({ flags }) => flags.hate)).toEqual([true, true, true]);
  expect(second).toEqual(first);
  await model.moderate(texts.slice(0, 1), until, { model: "m", project: "proj_2" });
  expect(guard.asked).toHaveLength(3);
});

test("fails a request with an unsure text while the guard fails, and answers others", async () => {
  const { model, guard } = cascade(0.9);
  guard.moderate = () => Promise.reject(unavailable("The guard has crashed.", "engine_failed", 1));
  await expect(model.moderate([input("hate=0.1"), input("hate=0.5")], until)).rejects.toThrow("The guard has crashed.");
  expect(await model.moderate([input("hate=0.1")], until)).toHaveLength(1);
});

test("answers with the classifier's verdict and a warning while the guard fails, if so configured", async () => {
  const { model, guard, services } = cascade(0.9, { onGuardFailure: "classifier" });
  guard.moderate = () => Promise.reject(unavailable("The guard has crashed.", "engine_failed", 1));
  const [verdict] = await model.moderate([input("hate=0.5")], until);
  expect(verdict).toMatchObject({ scores: { hate: 0.5 }, flags: { hate: false } });
  expect(services.logged.join()).toContain("the classifier alone answers");
});

test("is down while its guard is, unless the classifier answers alone", () => {
  const down = { state: "restarting", reason: "It has crashed.", retryAfterSeconds: 1 } as const;
  const closed = cascade(0.9);
  const open = cascade(0.9, { onGuardFailure: "classifier" });
  for (const { guard } of [closed, open]) guard.health = () => down;
  expect(closed.model.health()).toEqual(down);
  expect(open.model.health()).toEqual({ state: "up" });
});

test("does not remember the verdicts of an aborted guard, which are incomplete", async () => {
  const { model, guard } = cascade(0.9);
  const leaving = new AbortController();
  const { moderate } = guard;
  guard.moderate = async (inputs, ...rest) => {
    leaving.abort();
    return (await moderate(inputs, ...rest)).map((verdict) => ({ ...verdict, scores: { illicit: 0 } }));
  };
  await model.moderate([input("hate=0.5")], leaving.signal);
  guard.moderate = moderate;
  const [verdict] = await model.moderate([input("hate=0.5")], until);
  expect(verdict?.flags.hate).toBe(true);
});

test("judges by the classifier what the guard does not reach in time, and asks about it again", async () => {
  const { model, guard, services } = cascade(0.9, { guardTimeoutMs: 1 });
  const { moderate } = guard;
  guard.moderate = async (inputs, signal) => {
    const [first] = await moderate(inputs.slice(0, 1), signal);
    await new Promise((aborted) => signal.addEventListener("abort", aborted));
    return inputs.map((_, index) => (index === 0 && first ? first : { scores: {}, flags: {}, appliedTo: {} }));
  };
  const texts = [input("hate=0.5"), input("hate=0.55")];
  const verdicts = await model.moderate(texts, until);
  expect(verdicts.map(({ flags }) => flags.hate)).toEqual([true, false]);
  expect(verdicts.map(({ isProvisional }) => isProvisional)).toEqual([undefined, true]);
  expect(services.logged.join()).toContain("the guard was late");
  guard.moderate = moderate;
  expect((await model.moderate(texts, until)).map(({ flags }) => flags.hate)).toEqual([true, true]);
  expect(guard.asked).toEqual(["hate=0.5", "hate=0.55"]);
});

test("judges by the classifier when the guard fails because its time is up", async () => {
  const { model, guard } = cascade(0.9, { guardTimeoutMs: 1 });
  guard.moderate = (_inputs, signal) =>
    new Promise((_, failed) => signal.addEventListener("abort", () => failed(signal.reason)));
  const [verdict] = await model.moderate([input("hate=0.5")], until);
  expect(verdict?.flags.hate).toBe(false);
});

test.each<[number, string, string[], boolean]>([
  [0.9, "hate=0.5", ["hate=0.5"], true],
  // Flagged for the image, perhaps, which the guard has not seen.
  [0.1, "hate=0.65", ["hate=0.65"], true],
  [0.9, " ", [], false],
])(
  "a guard without eyes that finds %d harm in the text beside an image, %j",
  async (harm, text, questions, isFlagged) => {
    const { model, guard } = cascade(harm);
    const [verdict] = await model.moderate([{ text, images: ["data:image/png;base64,"] }], until);
    expect(guard.asked).toEqual(questions);
    expect(verdict?.flags.hate ?? false).toBe(isFlagged);
  },
);

test("asks the guard about texts of up to guard_max_characters", async () => {
  const { model, guard } = cascade(0.9, { guardMaxCharacters: "hate=0.5".length });
  const verdicts = await model.moderate([input("hate=0.5"), input("hate=0.50")], until);
  expect(guard.asked).toEqual(["hate=0.5"]);
  expect(verdicts.map(({ flags }) => flags.hate)).toEqual([true, false]);
});

test.each([
  ["white space", " \n".repeat(500)],
  ["invisible characters", "\u200B\u2063\u{E0020}".repeat(500)],
])("asks the guard about a text that is padded with %s", async (_what, padding) => {
  const { model, guard } = cascade(0.9, { guardMaxCharacters: 40 });
  const padded = [`hate=0.5 ${padding}`, `${padding} hate=0.5`].map(input);
  const verdicts = await model.moderate(padded, until);
  expect(guard.asked).toEqual(["hate=0.5"]);
  expect(verdicts.map(({ flags }) => flags.hate)).toEqual([true, true]);
});

import { expect, test } from "vitest";
import { type Answer, type Conversation, NO_PARAMETERS, type Turn } from "./conversation.ts";
import { branchesOf, pathOf, withTurn } from "./conversation-tree.ts";
import { mergeConversations } from "./merge-conversations.ts";

const answer = (text: string, state: Answer["state"] = "done"): Answer => ({
  ...{ model: "m", text, alternatives: [], reasoning: "", toolCalls: [], state },
});
const turn = (id: string, ...answers: Answer[]): Turn => ({ id, text: id, images: [], answers });
const base: Conversation = {
  id: "c",
  changedAt: 1,
  models: ["m"],
  parameters: NO_PARAMETERS,
  turns: [turn("a"), turn("b")],
};
const after = (conversation: Conversation, id: string, parent: string | null, changedAt: number): Conversation => ({
  ...conversation,
  ...withTurn(conversation, turn(id), parent),
  changedAt,
});
const ids = (turns: readonly Turn[]) => turns.map(({ id }) => id);

test("keeps the turns that both devices added, as branches beside each other", () => {
  const laptop = after(base, "laptop", "b", 2);
  const phone = after(after(base, "phone", "b", 3), "phone again", "phone", 4);
  const merged = mergeConversations(laptop, phone);
  expect(ids(merged.turns).toSorted()).toEqual(["a", "b", "laptop", "phone", "phone again"]);
  expect(branchesOf(merged).get("laptop")?.count).toBe(2);
  expect(ids(pathOf(merged))).toEqual(["a", "b", "laptop"]);
  expect(ids(pathOf(mergeConversations(phone, laptop)))).toEqual(["a", "b", "phone", "phone again"]);
});

test("comes to the same turns in either direction and when repeated", () => {
  const [one, other] = [after(base, "one", null, 2), after(base, "other", "a", 3)];
  const merged = mergeConversations(one, other);
  const reverse = mergeConversations(other, one);
  expect(ids(merged.turns).toSorted()).toEqual(ids(reverse.turns).toSorted());
  expect(mergeConversations(merged, other).turns).toEqual(merged.turns);
  expect(mergeConversations(merged, reverse).turns).toEqual(expect.arrayContaining(merged.turns));
});

test("takes the more complete answer, and the one that is received here", () => {
  const with_ = (...answers: Answer[]): Conversation => ({ ...base, turns: [turn("a", ...answers)] });
  const mergedText = (local: Answer, remote: Answer) =>
    mergeConversations(with_(local), with_(remote)).turns[0]?.answers.map(({ text }) => text);
  expect(mergedText(answer("par", "stopped"), answer("partial"))).toEqual(["partial"]);
  expect(mergedText(answer("partial"), answer("par", "stopped"))).toEqual(["partial"]);
  expect(mergedText(answer("pa", "running"), answer("par", "stopped"))).toEqual(["pa"]);
  expect(mergedText(answer("pa", "stopped"), answer("par", "stopped"))).toEqual(["par"]);
  const columns = mergeConversations(with_(answer("1")), with_(answer("1"), answer("2")));
  expect(columns.turns[0]?.answers).toHaveLength(2);
});

test("takes models and parameters of the version that changed last", () => {
  const local = { ...base, changedAt: 5, models: ["local"] };
  const remote = { ...base, changedAt: 4, models: ["remote"] };
  expect(mergeConversations(local, remote).models).toEqual(["local"]);
  expect(mergeConversations(remote, local).models).toEqual(["local"]);
});

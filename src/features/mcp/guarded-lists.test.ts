import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Caller } from "../../contracts/caller.ts";
import { guardrailList } from "../../contracts/guardrail.ts";
import type { WebhookDecision } from "../../inference/guardrails/guardrail-services.ts";
import { Guards } from "../../inference/guardrails/guards.ts";
import { GuardedLists } from "./guarded-lists.ts";
import type { McpTool } from "./mcp-offer.ts";

const POLICY = guardrailList.parse([{ type: "webhook", webhook: "dlp" }]);
const CALLER = { organizationId: "org_a", projectId: "proj_a" } as Caller;

const toolsOf = (count: number) =>
  Array.from({ length: count }, (_, index): McpTool => {
    return { name: `tool ${index}`, inputSchema: { type: "object" } };
  });
const TOOLS = toolsOf(64);

type Ask = (texts: readonly string[]) => Promise<WebhookDecision>;

interface Opened {
  ask?: Ask;
  policy?: typeof POLICY;
  maxCharacters?: number;
}

interface ListRequest {
  tools?: readonly McpTool[];
  allows?: (tool: McpTool) => boolean;
  caller?: Caller;
  isShared?: boolean;
  /** Gets what the client calls to leave. */
  onLeave?: (leave: () => void) => void;
}

/** Lists, and how many questions a webhook or model got about them. */
function open({ ask = async () => ({ action: "pass" }), policy = POLICY, maxCharacters }: Opened = {}) {
  const lists = new GuardedLists(maxCharacters);
  const questions: (readonly string[])[] = [];
  const answer = (texts: readonly string[]) => {
    questions.push(texts);
    return ask(texts);
  };
  const guard = ({
    tools = TOOLS,
    allows = () => true,
    caller = CALLER,
    isShared = true,
    onLeave = () => {},
  }: ListRequest = {}) => {
    const guardsOf = () =>
      new Guards({
        ...{ policy, caller, model: "mcp/crm", param: "arguments", onEnded: undefined },
        onDisconnect: onLeave,
        complete: async (_model, _system, text) => ((await answer([text])).action === "block" ? "1" : "0"),
        services: {
          analyze: () => Promise.reject(new Error("no other service is asked")),
          ask: (_name, { texts }) => answer(texts),
        },
      });
    return lists.guard<"tools">(tools, allows, guardsOf, { reader: "model", isShared });
  };
  const names = async (request?: ListRequest) => (await guard(request)).map(([{ name }]) => name);
  return { guard, names, questions };
}

/** Blocks texts that have each of these between them. */
const blockTogether =
  (...parts: readonly string[]): Ask =>
  async (texts) => {
    const text = texts.join("\n");
    return parts.every((part) => text.includes(part)) ? { action: "block", reason: "parts" } : { action: "pass" };
  };
const called = (index: number) => `"tool ${index}"`;
const namesWithout = (...indexes: readonly number[]) =>
  TOOLS.flatMap(({ name }, index) => (indexes.includes(index) ? [] : [name]));

test("requests at the same time share a question", async () => {
  const { guard, questions } = open();
  const [one, other] = await Promise.all([guard(), guard()]);
  expect(one).toHaveLength(TOOLS.length);
  expect(other).toEqual(one);
  expect(questions).toHaveLength(1);
});

test("a question that fails for one request is asked again by the other, and by the next", async () => {
  let count = 0;
  const { guard, questions } = open({
    ask: async () => {
      count += 1;
      if (count === 1) throw new Error("away");
      return { action: "pass" };
    },
  });
  const [one, other] = await Promise.allSettled([guard(), guard()]);
  expect([one.status, other.status]).toEqual(["rejected", "fulfilled"]);
  await guard();
  expect(questions).toHaveLength(2);
});

test("an interactive request does not wait for a question of the background", async () => {
  const { names, questions } = open({
    ask: () => (questions.length === 1 ? new Promise(() => {}) : Promise.resolve({ action: "pass" })),
  });
  void names({ caller: { ...CALLER, priority: "background" } });
  expect(await Promise.race([names(), nextTurn("it waits")])).toHaveLength(TOOLS.length);
});

test("a client that leaves no longer waits for the question of another", async () => {
  const { guard } = open({ ask: () => new Promise(() => {}) });
  void guard();
  const leaving: (() => void)[] = [];
  const waiting = guard({ onLeave: (leave) => leaving.push(leave) });
  for (const leave of leaving) leave();
  const outcome = waiting.catch((failure: unknown) => failure);
  expect(await Promise.race([outcome, nextTurn("it waits")])).toMatchObject({ kind: "client-left" });
});

test("one tool that is blocked costs two questions for each halving, and one about the others together", async () => {
  const { names, questions } = open({ ask: blockTogether(called(7)) });
  expect(await names()).toEqual(namesWithout(7));
  expect(questions).toHaveLength(1 + 2 * Math.log2(TOOLS.length) + 1);
});

test("a list of which every tool is blocked costs at most 32 refusals, and what is not decided is left out", async () => {
  let refusals = 0;
  const { names, questions } = open({
    ask: async (texts) => {
      // The last tool passes, and its turn does not come.
      if (texts.length === 1 && texts[0]?.includes(called(999))) return { action: "pass" };
      refusals += 1;
      return { action: "block", reason: "all" };
    },
  });
  expect(await names({ tools: toolsOf(1000) })).toEqual([]);
  expect(refusals).toBe(32);
  expect(questions).toHaveLength(32);
});

test("tools that are blocked together and pass apart are left out with those that were asked about with them", async () => {
  const [first, second] = [3, 12];
  const { names } = open({ ask: blockTogether(called(first), called(second)) });
  // Of 64, 32 and 16 tools the first halves have both.
  expect(await names()).toEqual(namesWithout(...Array(16).keys()));
  const { names: namesOfFour } = open({ ask: blockTogether(called(0), called(2)) });
  expect(await namesOfFour({ tools: toolsOf(4) })).toEqual([]);
});

test("a tool that is blocked alone hides no others that are blocked together", async () => {
  const { names } = open({
    ask: async (texts) => {
      const alone = await blockTogether(called(7))(texts);
      return alone.action === "block" ? alone : blockTogether(called(0), called(63))(texts);
    },
  });
  expect(await names()).toEqual([]);
});

test("a list that is too long for one question to a model is asked about in parts", async () => {
  const description = "x".repeat(100_000);
  const tools = toolsOf(4).map((tool) => ({ ...tool, description }));
  const policy = guardrailList.parse([{ type: "topics", model: "judge", rules: ["no advice"], on: ["output"] }]);
  expect(await open({ policy }).names({ tools })).toEqual(tools.map(({ name }) => name));
  const { names } = open({ policy, ask: blockTogether(called(2)) });
  expect(await names({ tools })).toEqual(["tool 0", "tool 1", "tool 3"]);
});

test("checks are remembered within a bound of the characters that they changed", async () => {
  const description = "y".repeat(1000);
  const ask: Ask = async (texts) => ({
    action: "pass",
    texts: texts.map((text) => JSON.stringify({ ...JSON.parse(text), description })),
  });
  const { guard, questions } = open({ ask, maxCharacters: 4000 });
  const only = (index: number) => guard({ allows: ({ name }) => name === `tool ${index}` });
  for (const index of [0, 1, 2, 3]) expect(await only(index)).toMatchObject([[{}, { description }]]);
  await only(3);
  expect(questions).toHaveLength(4);
  await only(0);
  expect(questions).toHaveLength(5);
  // Together they are beyond the bound.
  await guard();
  await guard();
  expect(questions).toHaveLength(7);
});

test("a check that changes nothing is remembered with its choice of tools only", async () => {
  const { guard, questions } = open({ maxCharacters: 4000 });
  for (const { name } of TOOLS.slice(0, 10)) await guard({ allows: (tool) => tool.name === name });
  for (const { name } of TOOLS.slice(0, 10)) await guard({ allows: (tool) => tool.name === name });
  expect(questions).toHaveLength(10);
});

test("checks of lists that no other request gets leave those of shared lists where they are", async () => {
  const { guard, questions } = open({ maxCharacters: 4000 });
  await guard();
  for (let count = 0; count < 100; count += 1) await guard({ tools: toolsOf(1), isShared: false });
  expect(questions).toHaveLength(101);
  await guard();
  expect(questions).toHaveLength(101);
});

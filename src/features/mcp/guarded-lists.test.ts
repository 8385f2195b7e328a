import { expect, test } from "vitest";
import type { Caller } from "../../contracts/caller.ts";
import { guardrailList } from "../../contracts/guardrail.ts";
import type { WebhookDecision } from "../../inference/guardrails/guardrail-services.ts";
import { Guards } from "../../inference/guardrails/guards.ts";
import { GuardedLists } from "./guarded-lists.ts";
import type { McpTool } from "./mcp-offer.ts";

const POLICY = guardrailList.parse([{ type: "webhook", webhook: "dlp" }]);
const CALLER = { organizationId: "org_a", projectId: "proj_a" } as Caller;
const TOOLS = Array.from({ length: 64 }, (_, index): McpTool => {
  return { name: `tool ${index}`, inputSchema: { type: "object" } };
});

type Ask = (texts: readonly string[]) => Promise<WebhookDecision>;

/** A list, and how many questions a webhook got about it. */
function open(ask: Ask = async () => ({ action: "pass" })) {
  const lists = new GuardedLists("model");
  const questions: (readonly string[])[] = [];
  const guardsOf = () =>
    new Guards({
      ...{ policy: POLICY, caller: CALLER, model: "mcp/crm", param: "arguments", onEnded: undefined },
      onDisconnect: () => {},
      complete: () => Promise.reject(new Error("no model is asked")),
      services: {
        analyze: () => Promise.reject(new Error("no other service is asked")),
        ask: (_name, { texts }) => {
          questions.push(texts);
          return ask(texts);
        },
      },
    });
  const guard = (allows: (tool: McpTool) => boolean = () => true) => lists.guard<"tools">(TOOLS, allows, guardsOf);
  return { guard, questions };
}

test("requests at the same time share a question", async () => {
  const { guard, questions } = open();
  const [one, other] = await Promise.all([guard(), guard()]);
  expect(one).toHaveLength(TOOLS.length);
  expect(other).toBe(one);
  expect(questions).toHaveLength(1);
});

test("a question that fails for one request is asked again by the other, and by the next", async () => {
  let count = 0;
  const { guard, questions } = open(async () => {
    count += 1;
    if (count === 1) throw new Error("away");
    return { action: "pass" };
  });
  const [one, other] = await Promise.allSettled([guard(), guard()]);
  expect([one.status, other.status]).toEqual(["rejected", "fulfilled"]);
  await guard();
  expect(questions).toHaveLength(2);
});

test("one tool that is blocked costs two questions for each halving", async () => {
  const { guard, questions } = open(async (texts) => {
    return texts.some((text) => text.includes('"tool 7"')) ? { action: "block", reason: "seven" } : { action: "pass" };
  });
  const names = (await guard()).map(([{ name }]) => name);
  expect(names).toEqual(TOOLS.map(({ name }) => name).filter((name) => name !== "tool 7"));
  expect(questions).toHaveLength(1 + 2 * Math.log2(TOOLS.length));
});

test("the last 20 choices of tools are remembered", async () => {
  const { guard, questions } = open();
  for (const { name } of TOOLS.slice(0, 21)) await guard((tool) => tool.name === name);
  await guard((tool) => tool.name === "tool 20");
  expect(questions).toHaveLength(21);
  await guard((tool) => tool.name === "tool 0");
  expect(questions).toHaveLength(22);
});

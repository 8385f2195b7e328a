/** Runs the calls of one turn at the same time, and yields the events of their items as they come. */

import type { ToolCall } from "../../contracts/chat-message.ts";
import { type GuardedToolCall, guardToolCall, isRefusal } from "../../inference/guardrails/guard-tool.ts";
import type { Guards } from "../../inference/guardrails/guards.ts";
import { AsyncQueue } from "../../kernel/async/async-queue.ts";
import { parseObject } from "../../kernel/json/parse-object.ts";
import type { ItemEvent, ItemProgress } from "../../wire/responses/item-events.ts";
import type { CallContext, CallOutcome, ServiceCall } from "./service-tool.ts";

/** A call whose arguments are complete. */
export interface WrittenCall extends ToolCall {
  call: ServiceCall;
  /** ID of its item. */
  itemId: string;
}

/** What a call came to; without a result, it has to wait for the caller. */
export interface CallEnd {
  call: WrittenCall;
  outcome: CallOutcome;
}

/** What the tool may read; `guardResult` is undefined where nothing checks the call. */
type Checked = Pick<GuardedToolCall, "input" | "settings"> & Partial<GuardedToolCall>;

const MAX_CONCURRENT = 8;

/** `refusalOf`: why a call does not run; undefined: it runs. Throws a Fault that ends the response. */
export async function* runCalls(
  calls: readonly WrittenCall[],
  context: CallContext,
  refusalOf: (index: number) => string | undefined,
): AsyncGenerator<ItemEvent, CallEnd[]> {
  const events = new AsyncQueue<ItemEvent>();
  const ends: CallEnd[] = [];
  let next = 0;
  const runNext = async (): Promise<void> => {
    for (let index = next; index < calls.length; index = next) {
      next += 1;
      const call = calls[index] as WrittenCall;
      const outcome = await runCall(call, context, refusalOf(index), (event) => events.push(event));
      ends[index] = { call, outcome };
    }
  };
  const workers = Array.from({ length: Math.min(MAX_CONCURRENT, calls.length) }, runNext);
  Promise.all(workers).then(
    () => events.end(),
    (failure: unknown) => events.end(failure),
  );
  yield* events.read();
  return ends;
}

async function runCall(
  written: WrittenCall,
  context: CallContext,
  refusal: string | undefined,
  emit: (event: ItemEvent) => void,
): Promise<CallOutcome> {
  const { call, itemId } = written;
  const progress = (event: ItemProgress) => emit({ type: "item-event", id: itemId, event });
  const input = parseObject(written.arguments);
  const reason = refusal ?? (input === undefined ? "The arguments are not a JSON object." : undefined);
  const refuse = (why: string): CallOutcome => {
    for (const event of call.refuse(why)) progress(event);
    return { type: "result", text: `The tool did not run: ${why}` };
  };
  const run = async ({ input, settings, guardResult }: Checked): Promise<CallOutcome> => {
    const running = call.run(input, { ...context, settings, guardResult });
    let step = await running.next();
    for (; !step.done; step = await running.next()) progress(step.value);
    return step.value;
  };
  const guards = reason !== undefined || call.waits === true ? undefined : context.guardsOf(written.name);
  let outcome: CallOutcome;
  if (reason !== undefined || input === undefined) outcome = refuse(reason ?? "");
  else if (guards === undefined) outcome = await run({ input, settings: call.settings ?? {} });
  else {
    const guard = () => guardToolCall(guards, input, "model", call.settings);
    outcome = await runGuarded(guards, guard, run, (why) => {
      // The model's next turn would be blocked for them, too.
      written.arguments = "{}";
      return refuse(why);
    });
  }
  const text = outcome.type === "result" ? { text: outcome.text } : {};
  emit({ type: "item-stop", item: call.toItem("completed"), ...text });
  for (const item of call.following?.() ?? []) {
    emit({ type: "item-start", item });
    emit({ type: "item-stop", item });
  }
  return outcome;
}

/** A call whose arguments a guardrail blocks does not run; a guardrail that fails ends the response. */
async function runGuarded(
  guards: Guards,
  guard: () => Promise<GuardedToolCall>,
  run: (checked: Checked) => Promise<CallOutcome>,
  refuse: (reason: string) => CallOutcome,
): Promise<CallOutcome> {
  try {
    let guarded: GuardedToolCall;
    try {
      guarded = await guard();
    } catch (failure) {
      if (isRefusal(failure)) return refuse(failure.message);
      throw failure;
    }
    return await run(guarded);
  } finally {
    guards.end();
  }
}

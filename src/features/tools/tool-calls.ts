/** Runs the calls of one turn at the same time, and yields the events of their items as they come. */

import type { ToolCall } from "../../contracts/chat-model.ts";
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
  let outcome: CallOutcome;
  if (reason !== undefined || input === undefined) {
    for (const event of call.refuse(reason ?? "")) progress(event);
    outcome = { type: "result", text: `The tool did not run: ${reason}` };
  } else {
    const running = call.run(input, context);
    let step = await running.next();
    for (; !step.done; step = await running.next()) progress(step.value);
    outcome = step.value;
  }
  emit({ type: "item-stop", item: call.toItem("completed") });
  return outcome;
}

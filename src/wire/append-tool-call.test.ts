import { expect, test } from "vitest";
import { toItem, toChatMessages as toRealtimeMessages } from "./realtime/conversation-items.ts";
import { toChatMessages } from "./responses/responses-input.ts";

const CALLS = 20_000;

const calls = Array.from({ length: CALLS }, (_, index) => ({
  type: "function_call" as const,
  call_id: `call_${index}`,
  name: "look_up",
  arguments: "{}",
}));

test.each([
  ["responses", () => toChatMessages(undefined, { context: [], input: calls })],
  [
    "voice sessions",
    () =>
      toRealtimeMessages(
        "",
        calls.map((call) => toItem(call).item),
      ),
  ],
])("reads thousands of calls in a row of %s in time that grows with their number", (_name, read) => {
  const before = process.threadCpuUsage();
  const messages = read();
  const { user, system } = process.threadCpuUsage(before);
  // In microseconds. Copies of a list take system time, too.
  expect(user + system).toBeLessThan(400_000);
  expect(messages).toHaveLength(1);
  expect(messages[0]?.toolCalls).toHaveLength(CALLS);
  expect(messages[0]?.toolCalls?.at(-1)).toMatchObject({ id: `call_${CALLS - 1}`, name: "look_up" });
});

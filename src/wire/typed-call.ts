import type { ChatCall } from "../contracts/chat-call.ts";

/** A call for models that answer with typed events. */
type TypedCall<Call extends ChatCall> = Omit<Call, "passThrough">;

/** Returns the call without its body, which no upstream gets. Throws a Fault for what such models do not support. */
export function toTypedCall<Call extends ChatCall>({ passThrough, ...call }: Call): TypedCall<Call> {
  const unsupported = passThrough?.unsupportedLocally();
  if (unsupported !== undefined) throw unsupported;
  const { withDefaults } = call;
  if (withDefaults === undefined) return call;
  return {
    ...call,
    withDefaults: (defaults: Parameters<typeof withDefaults>[0]) => toTypedCall(withDefaults(defaults)),
  };
}

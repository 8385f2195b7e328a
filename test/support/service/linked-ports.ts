import type { Message, Port } from "../../../src/workers/channel.ts";

/** Two ends of a connection in one process, whose messages are JSON as between processes. */
export function linkedPorts(): [Port, Port] {
  const receivers: ((messages: readonly Message[]) => void)[] = [];
  const end = (own: number): Port => ({
    send: (messages) => {
      const json = JSON.stringify(messages);
      setImmediate(() => receivers[1 - own]?.(JSON.parse(json)));
    },
    onMessages: (receive) => {
      receivers[own] = receive;
    },
  });
  return [end(0), end(1)];
}

/** Mock upstream with minimal CPU cost: one response, complete or as 64 events. Forked; sends its port to the parent. */

import { type AddressInfo, createServer, type Socket } from "node:net";
import { EVENTS, PACE_MS, PACED_EVENTS } from "./shape.ts";

const envelope = { id: `chatcmpl-${"a".repeat(32)}`, created: 1700000000, model: "mock" };
const usage = { prompt_tokens: 20, completion_tokens: EVENTS, total_tokens: 20 + EVENTS };

const message = { role: "assistant", content: "token ".repeat(EVENTS) };
const completion = JSON.stringify({
  ...envelope,
  object: "chat.completion",
  choices: [{ index: 0, message, logprobs: null, finish_reason: "stop" }],
  usage,
});
const COMPLETE = Buffer.from(
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${completion.length}\r\n\r\n${completion}`,
);

function eventOf(choices: object[], more: object = {}): string {
  const data = JSON.stringify({ ...envelope, object: "chat.completion.chunk", choices, ...more });
  return chunk(`data: ${data}\n\n`);
}
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const textEvent = (content: string) => eventOf([{ index: 0, delta: { content }, logprobs: null, finish_reason: null }]);

const HEAD = Buffer.from("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n");
const EVENT = Buffer.from(textEvent(" token"));
const END = Buffer.from(
  `${eventOf([{ index: 0, delta: {}, logprobs: null, finish_reason: "stop" }])}${eventOf([], { usage })}${chunk("data: [DONE]\n\n")}0\r\n\r\n`,
);

const paced = new Map<Socket, number>();

/** Sends to all streams from one timer. Each event contains its send time. */
setInterval(() => {
  for (const [socket, sent] of paced) {
    if (sent === PACED_EVENTS) {
      paced.delete(socket);
      socket.write(END);
      continue;
    }
    socket.write(textEvent(`at ${(performance.timeOrigin + performance.now()).toFixed(2)}`));
    paced.set(socket, sent + 1);
  }
}, PACE_MS);

function answer(socket: Socket, body: string): void {
  if (!body.includes('"stream":true')) {
    socket.write(COMPLETE);
    return;
  }
  socket.write(HEAD);
  if (body.includes('"user":"paced"')) {
    paced.set(socket, 0);
    return;
  }
  let sent = 0;
  const next = () => {
    if (socket.destroyed) return;
    sent += 1;
    socket.write(sent <= EVENTS ? EVENT : END);
    if (sent <= EVENTS) setImmediate(next);
  };
  next();
}

const server = createServer((socket) => {
  socket.setNoDelay(true);
  let received = "";
  socket.on("error", () => {});
  socket.on("close", () => paced.delete(socket));
  socket.on("data", (data) => {
    received += data.toString("latin1");
    const headEnd = received.indexOf("\r\n\r\n");
    if (headEnd === -1) return;
    const length = headEnd + 4 + Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0);
    if (received.length < length) return;
    const body = received.slice(headEnd + 4, length);
    received = received.slice(length);
    answer(socket, body);
  });
});
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));

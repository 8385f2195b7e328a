import { expect, test } from "vitest";
import type { ContentMessage } from "../contracts/chat-content.ts";
import { limitMessages } from "./limit-messages.ts";

const say = (role: string, content: string): ContentMessage => ({ role, parts: [{ type: "text", content }] });
const conversation = [say("user", "one"), say("assistant", "two"), say("user", "three")];

test("keeps everything within the limit", () => {
  const json = JSON.stringify(conversation);
  expect(limitMessages(conversation, json.length + 2, "newest")).toEqual({ json, isTruncated: false });
});

test("drops the oldest messages, or the newest", () => {
  const limit = JSON.stringify(conversation.slice(0, 1)).length + 40;
  const newest = limitMessages(conversation, limit, "newest");
  expect(JSON.parse(newest.json).at(-1)).toEqual(conversation[2]);
  expect(JSON.parse(limitMessages(conversation, limit, "oldest").json)[0]).toEqual(conversation[0]);
  expect(newest.isTruncated).toBe(true);
});

test.each(["x".repeat(5000), '"\n\u0001'.repeat(2000), "é😀".repeat(2000)])(
  "cuts a long text to valid JSON within the limit",
  (text) => {
    const { json, isTruncated } = limitMessages([say("user", text)], 500, "newest");
    expect(isTruncated).toBe(true);
    expect(Buffer.byteLength(json)).toBeLessThanOrEqual(500);
    expect(Buffer.byteLength(json)).toBeGreaterThan(480);
    const [{ parts }] = JSON.parse(json);
    expect(text.startsWith(parts[0].content.replace(/\ufffd$/, ""))).toBe(true);
  },
);

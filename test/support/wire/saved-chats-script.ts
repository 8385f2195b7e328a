import type { WireScript } from "./wire-script.ts";

/** Saved chats, which keys do not reach. test/saved-chats has the answers for people. */
export const savedChats: WireScript = async ({ recorder, key }) => {
  const body = { title: "Greetings", content: "{}", revision: 0 };
  await recorder.send("list with a key", "GET /v1/saved_chats", { key });
  await recorder.send("retrieve with a key", "GET /v1/saved_chats/one", { key });
  await recorder.send("save with a key", "PUT /v1/saved_chats/one", { key, body });
  await recorder.send("delete with a key", "DELETE /v1/saved_chats/one", { key });
  await recorder.send("delete all with a key", "DELETE /v1/saved_chats", { key });
  const arrangement = { folder: "Work", is_pinned: true };
  await recorder.send("arrange with a key", "PUT /v1/saved_chats/one/arrangement", { key, body: arrangement });
  const copy = { title: "Greetings", content: "{}" };
  await recorder.send("share with a key", "PUT /v1/saved_chats/one/share", { key, body: copy });
  await recorder.send("end the sharing with a key", "DELETE /v1/saved_chats/one/share", { key });
  await recorder.send("read what is shared with a key", "GET /v1/shared_chats/share_one", { key });
  await recorder.send("list without a session", "GET /v1/saved_chats");
};

import { expect, test } from "vitest";
import { useDatabases } from "../../../test/support/databases/databases.ts";
import { openDatabase } from "../../storage/database.ts";
import { ClientMessages } from "./client-messages.ts";

const databases = useDatabases();

async function open() {
  const options = await databases.create("postgresql");
  const database = openDatabase(options);
  const messages = () => new ClientMessages(database, options.logger);
  return { database, sender: messages(), receiver: messages() };
}

test("passes an answer on to the replica that waits for it", async () => {
  await using closing = new AsyncDisposableStack();
  const { database, sender, receiver } = await open();
  closing.defer(() => database.close());
  closing.use(receiver);
  const received = Promise.withResolvers<unknown>();
  using _waiting = receiver.expect("question proj 1", received.resolve);
  await sender.deliver({ projectId: "proj", key: "question proj 1", content: { result: "blue" } });
  expect(await received.promise).toEqual({ result: "blue" });
});

test("bounds the bytes and the number of messages that no call takes, for each project", async () => {
  await using closing = new AsyncDisposableStack();
  const { database, sender } = await open();
  closing.defer(() => database.close());
  const large = { result: "x".repeat(200_000) };
  const deliver = (projectId: string, key: string, content: object = large) =>
    sender.deliver({ projectId, key, content: { ...content } });
  const results = await Promise.allSettled(Array.from({ length: 30 }, (_, index) => deliver("proj", `a${index}`)));
  const refused = results.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
  expect(results.length - refused.length).toBe(15);
  expect(refused[0]?.reason).toMatchObject({ code: "too_many_mcp_messages", kind: "request-rate-limited" });
  await deliver("other", "b");
  for (let index = 0; index < 1_000; index += 1) await deliver("small", `c${index}`, {});
  await expect(deliver("small", "d", {})).rejects.toThrow("the limits are 1000 and 4194304 bytes");
});

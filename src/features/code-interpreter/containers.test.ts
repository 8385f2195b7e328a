/** Containers with real Python, of which one process runs at a time. */

import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { OS_SANDBOX } from "../../../test/support/service/os-sandbox.ts";
import { Containers } from "./containers.ts";
import { codeInterpreterSettings } from "./settings.ts";

test("gives the process to the next run when another has stopped waiting, and bounds the files of a run", async () => {
  using containers = new Containers(codeInterpreterSettings.parse({ max_sessions: 1, queue_seconds: 600 }), OS_SANDBOX);
  const [first, second, third] = ["first", "second", "third"].map((name) => containers.create("project", name, 20));
  if (first === undefined || second === undefined || third === undefined) throw new Error("no containers");
  const never = new AbortController().signal;
  const leaving = new AbortController();
  const running = containers.run(first, "1 + 1", never);
  const waiting = containers.run(second, "for i in range(1000): open(f'{i}.txt', 'w').close()", never);
  const stopped = containers.run(third, "3", leaving.signal);
  const reason = expect(stopped).rejects.toThrow("left");
  await setImmediate();
  leaving.abort(new Error("left"));
  await reason;
  expect((await running).output).toBe("2\n");
  const { files, output } = await waiting;
  expect(files).toHaveLength(200);
  expect(output).toBe("\n[800 files were too large or too many to be saved.]");
});

test("bounds the files of all projects together, and frees those of removed containers", () => {
  using containers = new Containers(codeInterpreterSettings.parse({ max_total_file_megabytes: 2 }), OS_SANDBOX);
  const [one, other] = ["one", "other"].map((project) => containers.create(project, "files", 20));
  if (one === undefined || other === undefined) throw new Error("no containers");
  const megabyte = Buffer.alloc(1024 ** 2);
  containers.addFile(one, "a", megabyte);
  const { id } = containers.addFile(one, "b", megabyte);
  const full = expect.objectContaining({ kind: "unavailable", message: expect.stringContaining("2 MB") });
  expect(() => containers.addFile(other, "c", megabyte)).toThrow(full);
  containers.addFile(one, "a", megabyte);
  containers.deleteFile("one", one.id, id);
  containers.addFile(other, "c", megabyte);
  expect(() => containers.addFile(other, "d", megabyte)).toThrow(full);
  containers.delete("one", one.id);
  containers.addFile(other, "d", megabyte);
  expect(other.files.size).toBe(2);
});

test("reads one file of a project at a time that is stored elsewhere", async () => {
  using containers = new Containers(codeInterpreterSettings.parse({}), OS_SANDBOX);
  const [one, other] = ["one", "other"].map((project) => containers.create(project, "files", 20));
  if (one === undefined || other === undefined) throw new Error("no containers");
  let reading = 0;
  const read = async () => {
    reading += 1;
    expect(reading).toBe(1);
    await setImmediate();
    reading -= 1;
    return Buffer.alloc(10);
  };
  const { promise: never } = Promise.withResolvers<Buffer>();
  void containers.addStored(other, "stuck", () => never);
  await Promise.all(Array.from({ length: 5 }, (_, index) => containers.addStored(one, `${index}`, read)));
  expect(one.files.size).toBe(5);
});

test("starts no process for code that waited for a container that was deleted", async () => {
  using containers = new Containers(codeInterpreterSettings.parse({ max_sessions: 1 }), OS_SANDBOX);
  const container = containers.create("project", "deleted", 20);
  const { signal } = new AbortController();
  const running = containers.run(container, "while True: pass", signal);
  const waiting = containers.run(container, "1", signal);
  const ends = Promise.allSettled([running, waiting]);
  await setImmediate();
  containers.delete("project", container.id);
  expect(await ends).toMatchObject([
    { status: "rejected" },
    { status: "rejected", reason: { kind: "not-found", message: expect.stringContaining(container.id) } },
  ]);
  const after = containers.create("other", "after", 20);
  expect((await containers.run(after, "2", signal)).output).toBe("2\n");
});

test("gives the next process to the project that has the fewest", async () => {
  using containers = new Containers(codeInterpreterSettings.parse({ max_sessions: 1, queue_seconds: 600 }), OS_SANDBOX);
  const { signal } = new AbortController();
  const ended: string[] = [];
  const run = async (project: string) => {
    await containers.run(containers.create(project, "code", 20), "1", signal);
    ended.push(project);
  };
  await Promise.all(["many", "many", "many", "few"].map(run));
  expect(ended.indexOf("few")).toBeLessThan(2);
});

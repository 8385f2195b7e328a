import { expect, test } from "vitest";
import { RequestError } from "../errors.ts";
import { ChatTemplate } from "./chat-template.ts";
import { TemplateRenderer } from "./template-renderer.ts";

const fixed = { bos_token: "<s>", eos_token: "</s>" };
const conversation = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    role: index % 2 === 0 ? ("user" as const) : ("assistant" as const),
    content: `message ${index}`,
  }));

test("renders long conversations like short ones, with the event loop free meanwhile", async () => {
  const template = new ChatTemplate(
    "{% for message in messages %}{% for other in messages[:50] %}{% if other.role == 'x' %}!{% endif %}{% endfor %}{{ message.role }}: {{ message.content }}\n{% endfor %}",
    fixed,
  );
  const renderer = new TemplateRenderer(template);
  // Starts the thread, whose start is not measured.
  await renderer.render({ messages: conversation(500) });
  const messages = conversation(10_000);
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  const rendered = await renderer.render({ messages });
  clearInterval(timer);
  expect(turns).toBeGreaterThan(5);
  expect(rendered).toBe(messages.map(({ role, content }) => `${role}: ${content}\n`).join(""));
});

test("rejects what the template refuses, and renders the next conversation", async () => {
  const source =
    "{% if messages[0].role == 'system' %}{{ raise_exception('no system message') }}{% endif %}{{ messages|length }}";
  const renderer = new TemplateRenderer(new ChatTemplate(source, fixed));
  const messages = conversation(600);
  const refused = renderer.render({ messages: [{ role: "system", content: "x" }, ...messages] });
  await expect(refused).rejects.toBeInstanceOf(RequestError);
  await expect(refused).rejects.toThrow("no system message");
  expect(await renderer.render({ messages })).toBe("600");
});

test("passes the template's form of arguments to the thread", async () => {
  const template = new ChatTemplate("{{ messages[0].tool_calls[0].function.arguments }}", fixed);
  template.argumentsAsText = true;
  const call = { id: "call_1", name: "f", arguments: '{"a":1}' };
  const messages = [{ role: "assistant" as const, content: "", toolCalls: [call] }, ...conversation(600)];
  expect(await new TemplateRenderer(template).render({ messages })).toBe('{"a":1}');
});

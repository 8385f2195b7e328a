import { expect, test } from "vitest";
import type { ConsoleSession } from "../../support/service/console-session.ts";

const WEATHER = JSON.stringify([
  {
    type: "function",
    function: { name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" } } } },
  },
]);

/** The models of the chat cases. */
export const CHAT_MODELS = `
  - id: echo
    task: chat
    price: { prompt: "0.000001", completion: "0.000002" }
    deployments: [{ engine: scripted, echo: true, abilities: { choices: 4 } }]
  - id: slow
    task: chat
    deployments: [{ engine: scripted, replies: [{ text: "${"word ".repeat(200)}", delay_ms_per_token: 100 }] }]
  - id: tooled
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true, json_schema: true, reasoning: true, vision: true }
        replies:
          - { match_tool: "/./", text: "It is sunny in Paris." }
          - { match: weather, reasoning: "A tool knows.", tool_calls: [{ name: get_weather, arguments: { city: Paris } }] }
          - { text: "I see a picture." }
`;

/** The playground for chats. */
export function chatCases(session: () => ConsoleSession): void {
  test("asks two models side by side, stops an answer, edits the question and asks again", async () => {
    const { page, chatWith, ask } = session();
    await chatWith("echo", "slow");
    await page.getByRole("textbox", { name: "Message", exact: true }).fill("Good morning");
    await page.keyboard.press("Enter");
    const log = page.getByRole("log");
    await log.getByText("word word").waitFor();
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await log.getByText("Stopped").waitFor();
    expect(await page.getByTestId("measures").first().textContent()).toMatch(/first token .* tokens · \$0\.0/);
    expect(await log.getByText("Good morning", { exact: true }).count()).toBe(2);

    await chatWith("echo");
    await ask("Good evening");
    await page.getByRole("button", { name: "Edit message" }).click();
    await page.getByLabel("Edited message").fill("Good night");
    await log.getByRole("button", { name: "Send" }).click();
    await expect.poll(() => log.getByText("Good night", { exact: true }).count()).toBe(2);
    expect(await log.getByText("Good evening").count()).toBe(0);
    await page.getByRole("button", { name: "Retry" }).click();
    await expect.poll(() => log.getByText("Good night", { exact: true }).count()).toBe(2);
  });

  test("keeps parameters within their bounds, and shows each choice", async () => {
    const { page, chatWith, ask, service, expectAccessible, withParameters } = session();
    await chatWith("echo");
    await withParameters(async () => {
      const temperature = page.getByRole("spinbutton", { name: "Temperature" });
      await temperature.fill("9");
      await temperature.blur();
      expect(await temperature.inputValue()).toBe("2");
      await page.getByRole("button", { name: "More sampling parameters" }).click();
      await page.getByLabel("Top K").fill("5");
      await page.getByLabel("Choices").fill("3");
      await page.getByLabel("Extra request fields (JSON)").fill('{"top_k": 1}');
      await page.getByText("Set top_k above.").first().waitFor();
      await page.getByLabel("Extra request fields (JSON)").fill('{"metadata": {"purpose": "test"}}');
    });
    const sent = page.waitForRequest(`${service.origin}/v1/chat/completions`);
    await ask("Hi");
    expect((await sent).postDataJSON()).toMatchObject({
      temperature: 2,
      top_k: 5,
      n: 3,
      metadata: { purpose: "test" },
    });
    await page.getByText("Choice 3").waitFor();
    await expectAccessible();
  });

  test("checks a schema and tools before they are sent, answers a called tool and shows reasoning", async () => {
    const { page, chatWith, ask, expectAccessible, withParameters } = session();
    await chatWith("tooled");
    const schema = page.getByLabel("JSON Schema of the answer");
    await withParameters(async () => {
      await schema.fill('{"properties": {"city": {"type": "strnig"}}}');
      await page.getByText('properties.city.type: "strnig" is not a type of JSON Schema.').first().waitFor();
      await expectAccessible();
    });
    await page.getByText('properties.city.type: "strnig" is not a type of JSON Schema.').first().waitFor();
    await page.getByRole("textbox", { name: "Message", exact: true }).fill("Hello");
    expect(await page.getByRole("button", { name: "Send", exact: true }).isDisabled()).toBe(true);
    await expectAccessible();
    await withParameters(async () => {
      await schema.fill("");
      await page.getByRole("textbox", { name: "Tools", exact: true }).fill(WEATHER);
    });
    await ask("What is the weather in Paris?");
    await page.getByRole("button", { name: "Reasoning" }).click();
    await page.getByText("A tool knows.").waitFor();
    await page.getByLabel("Result of get_weather").fill('{"sky": "clear"}');
    await page.getByRole("button", { name: "Send the result" }).click();
    await page.getByText("It is sunny in Paris.").waitFor();
    await expectAccessible();
  });

  test("attaches an image", async () => {
    const { page, chatWith, ask, service } = session();
    await chatWith("tooled");
    await page.locator('input[type="file"]').setInputFiles("docs/images/chat-phone.png");
    await page.getByRole("img", { name: "Attached" }).waitFor();
    const sent = page.waitForRequest(`${service.origin}/v1/chat/completions`);
    await ask("What is this?");
    const [message] = (await sent).postDataJSON().messages;
    expect(message.content).toMatchObject([
      { type: "image_url", image_url: { url: expect.stringMatching(/^data:image\/png;base64,/) } },
      { type: "text", text: "What is this?" },
    ]);
    await page.getByText("I see a picture.").waitFor();
    expect(await page.getByRole("log").getByRole("img", { name: "Attached" }).count()).toBe(1);
  });
}

/** Stored prompts and evals in a real Chromium. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../support/service/chromium.ts";
import { type ConsoleSession, startConsole } from "../support/service/console-session.ts";

const CONFIG = `
builtin_models: false
models:
  - id: parrot
    task: chat
    price: { prompt: "0.000001", completion: "0.000002" }
    deployments: [{ engine: scripted, echo: true }]
  - id: other
    task: chat
    deployments: [{ engine: scripted, replies: [{ text: "Paris" }] }]
`;

describe.runIf(hasChromium)("stored prompts and evals in the console", () => {
  let session: ConsoleSession;
  beforeAll(async () => {
    session = await startConsole(CONFIG, { hears: false });
    // All of the navigation is visible: axe takes links of the page that are not for skip links.
    await session.page.setViewportSize({ width: 1280, height: 1300 });
    await session.page.goto(await session.signInLink());
    await session.page.getByRole("navigation").first().waitFor();
  });
  afterAll(() => session?.[Symbol.asyncDispose]());

  const expectAccessible = async () => {
    for (const colorScheme of ["dark", "light"] as const) {
      await session.page.emulateMedia({ colorScheme });
      await session.expectAccessible();
    }
  };

  /** The page scrolls down only: wide tables scroll within. */
  const expectToFitPhone = async () => {
    await session.page.setViewportSize({ width: 390, height: 844 });
    expect(await session.page.evaluate("document.documentElement.scrollWidth")).toBe(390);
    await session.page.setViewportSize({ width: 1280, height: 1300 });
  };

  test("writes a prompt, compares versions, rolls out and back, and tries one with variables", async () => {
    const { page, open, pick, service } = session;
    await open("/prompts");
    await page.getByText("No prompts yet").waitFor();
    await page.getByRole("button", { name: "New prompt" }).click();
    await page.getByLabel("Name", { exact: false }).first().fill("notes");
    await page.getByLabel("Role of message 1").selectOption("user");
    await page.getByLabel("Text of message 1").fill("Write in {{language}}, {{words}} words.");
    await page.getByLabel("Type of language").selectOption("enum");
    await page.getByLabel("Options of language").fill("English, Polish");
    await page.getByLabel("Type of words").selectOption("number");
    await page.getByLabel("Default of words").fill("30");
    await pick("Model", "parrot");
    await expectAccessible();
    await page.getByRole("button", { name: "Create prompt" }).click();
    await page.getByRole("heading", { name: "notes" }).waitFor();
    await page.getByRole("button", { name: "New version" }).click();
    await page.getByLabel("Text of message 1").fill("Answer in {{language}}, {{words}} words.");
    await page.getByLabel("Note").fill("Shorter");
    await page.getByRole("button", { name: "Add version" }).click();
    await page.getByRole("heading", { name: "Version 2" }).waitFor();
    await expectAccessible();

    await page.getByRole("button", { name: "Compare version 2" }).click();
    const differences = page.getByRole("region", { name: "Differences" });
    await differences.locator('[data-kind="removed"]', { hasText: "Write in" }).waitFor();
    await differences.locator('[data-kind="added"]', { hasText: "Answer in" }).waitFor();
    await expectAccessible();
    await page.keyboard.press("Escape");

    const read = async (path: string) => {
      const headers = { authorization: `Bearer ${service.apiKey}` };
      // biome-ignore lint/suspicious/noExplicitAny: answers of two shapes
      return (await (await service.fetch(path, { headers })).json()) as any;
    };
    const production = async () => (await read("/v1/prompts/notes")).labels.production;
    await page.getByRole("button", { name: "Roll out version 2" }).click();
    await expect.poll(production).toBe(2);
    await page.getByRole("button", { name: "Roll back to version 1" }).click();
    await expect.poll(production).toBe(1);
    await page.getByLabel("production", { exact: true }).selectOption("2");
    await expect.poll(production).toBe(2);

    await page.getByLabel("language", { exact: false }).last().selectOption("Polish");
    await page.getByRole("button", { name: "Run version 2" }).click();
    const answer = page.getByRole("region", { name: "Answer" });
    await answer.getByText("Answer in Polish, 30 words.").waitFor();
    await answer.getByRole("button", { name: "Good answer" }).click();
    await expect
      .poll(async () => (await read("/v1/prompts/notes/usage")).data)
      .toMatchObject([{ version: 2, requests: 1, ratings: 1, mean_score: 1 }]);
    await page.getByRole("cell", { name: "100% of 1" }).waitFor();
    // The tooltip of the button is outside of the landmarks.
    await page.mouse.move(0, 0);
    await page.getByRole("tooltip").waitFor({ state: "detached" });
    await expectToFitPhone();
    await expectAccessible();
    expect(session.complaints).toEqual([]);
  });

  test("creates an eval, compares models and a prompt over a file, and unfolds a row that failed", async () => {
    const { page, open, pick, service } = session;
    const content = { model: "parrot", messages: [{ role: "user", content: "{{question}}" }] };
    await service.post("/v1/prompts", { name: "ask", content, labels: ["production"] });
    await open("/evals");
    await page.getByText("No evals yet").waitFor();
    await page.getByRole("button", { name: "New eval" }).click();
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("Capitals");
    await page.getByRole("button", { name: "Add a grader" }).click();
    await page.getByLabel("Grader", { exact: true }).last().selectOption("text_similarity");
    await expectAccessible();
    await page.getByRole("button", { name: "Create eval" }).click();
    await page.getByText("No runs yet").waitFor();

    await page.getByRole("button", { name: "New run" }).click();
    const lines = ["Paris", "Lyon"].map((question) => JSON.stringify({ item: { question, answer: "Paris" } }));
    const file = { name: "rows.jsonl", mimeType: "application/jsonl", buffer: Buffer.from(lines.join("\n")) };
    await page.locator('input[type="file"]').setInputFiles(file);
    await page.getByRole("combobox", { name: "Models", exact: true }).click();
    for (const name of ["parrot", "other"]) await page.getByRole("option", { name, exact: true }).click();
    // Closes the list, which covers the next field.
    await page.keyboard.press("Tab");
    await pick("Prompts", "ask@production");
    await page.keyboard.press("Tab");
    await page.getByLabel("Variables of the prompts").fill('{"question": "{{item.question}}"}');
    await expectAccessible();
    await page.getByRole("button", { name: "Start 3 runs" }).click();
    const runs = page.getByRole("table").first();
    await runs.getByRole("row", { name: /other.*2 of 2/ }).waitFor();
    await runs.getByRole("row", { name: /parrot.*1 of 2.*1 failed/ }).waitFor();
    await runs.getByRole("row", { name: /ask@production.*1 of 2/ }).waitFor();
    await page.getByText("Not passed").click();
    const rows = page.getByRole("table").last();
    expect(await rows.getByRole("button").allTextContents()).toEqual(["Lyon"]);
    await rows.getByRole("button", { name: "Lyon" }).click();
    const answer = page.getByRole("region", { name: "Answer of parrot" });
    await answer.getByText(/^Fail/).waitFor();
    await answer.getByText("Lyon", { exact: true }).waitFor();
    await page.getByRole("region", { name: "Row", exact: true }).getByText('"answer": "Paris"').waitFor();
    await expectAccessible();

    await expectToFitPhone();
    await page.getByLabel(/^Compare other/).uncheck();
    await page.getByRole("columnheader", { name: "other", exact: true }).waitFor({ state: "detached" });
    expect(session.complaints).toEqual([]);
  });

  test("grades recorded requests, and opens the address of a run's report", async () => {
    const { page, open, admin, service } = session;
    const { data } = await admin("GET", "/projects");
    await admin("POST", `/projects/${data[0].id}/recording`, { record_content: "all" });
    const messages = [{ role: "user", content: "Where is Paris?" }];
    await expect
      .poll(async () => {
        await service.post("/v1/chat/completions", { model: "parrot", messages });
        return (await admin("GET", "/requests/search?query=Where")).data?.length;
      })
      .toBeGreaterThan(0);
    const [input, reference] = ["{{sample.output_text}}", "Paris"];
    const created = await service.post("/v1/evals", {
      name: "Recorded",
      data_source_config: { type: "custom", item_schema: { type: "object" } },
      testing_criteria: [{ type: "string_check", name: "named", operation: "like", input, reference }],
    });
    const { id } = (await created.json()) as { id: string };
    await open(`/evals/${id}`);
    await page.getByRole("button", { name: "New run" }).click();
    await page.getByLabel("Rows", { exact: true }).first().selectOption("recorded");
    await page.getByRole("button", { name: "Grade the answers" }).click();
    await page.getByRole("row", { name: /As answered.*(\d+) of \1/ }).waitFor();
    const list = await service.fetch(`/v1/evals/${id}/runs`, {
      headers: { authorization: `Bearer ${service.apiKey}` },
    });
    const [run] = ((await list.json()) as { data: { report_url: string }[] }).data;
    await page.goto(run?.report_url ?? "");
    await page.getByRole("heading", { name: "Recorded" }).waitFor();
    await page.getByRole("button", { name: "Where is Paris?" }).first().waitFor();
    expect(session.complaints).toEqual([]);
  });
});

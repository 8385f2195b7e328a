import { type Content, GoogleGenAI, type Part } from "@google/genai";
import type { Api } from "./apis.ts";
import { SAY, WEATHER } from "./apis.ts";

const MODES = { required: "ANY", get_weather: "ANY", none: "NONE" } as const;

/** Gemini's API through its official client. It has no marks for caches, nor calls one at a time. */
export const generateContent: Api = {
  name: "generateContent",
  lacks: ["marked", "isSequential", "written"],
  reasons: { stop: "STOP", length: "MAX_TOKENS", calls: "STOP", refused: "SAFETY" },
  async ask(service, model, wish) {
    const { say = SAY, system, image, pdf, tools, toolChoice, schema, effort, after } = wish;
    const blob = (mimeType: string, data: string | undefined) =>
      data === undefined ? [] : [{ inlineData: { mimeType, data } }];
    const parts = [...blob("image/png", image), ...blob("application/pdf", pdf), { text: say }];
    const results = (after?.results ?? []).map((text, index) => {
      const { id = "", name = "" } = after?.answer.calls[index] ?? {};
      return { functionResponse: { id, name, response: { result: text } } };
    });
    const contents: Content[] = [
      { role: "user", parts },
      ...(after === undefined ? [] : [after.answer.turn as Content, { role: "user", parts: results }]),
    ];
    const { description, name, parameters } = WEATHER;
    const allowed = toolChoice === "get_weather" ? { allowedFunctionNames: [name] } : {};
    const config = {
      ...(system !== undefined && { systemInstruction: system }),
      ...(wish.maxTokens !== undefined && { maxOutputTokens: wish.maxTokens }),
      ...(tools && { tools: [{ functionDeclarations: [{ name, description, parametersJsonSchema: parameters }] }] }),
      ...(toolChoice && { toolConfig: { functionCallingConfig: { mode: MODES[toolChoice], ...allowed } } }),
      ...(schema && { responseMimeType: "application/json", responseJsonSchema: schema }),
      ...(effort && { thinkingConfig: { includeThoughts: true, thinkingLevel: effort.toUpperCase() } }),
    };
    const { models } = new GoogleGenAI({ apiKey: service.apiKey, httpOptions: { baseUrl: service.origin } });
    const request = { model, contents, config } as Parameters<typeof models.generateContent>[0];
    const pieces = wish.stream
      ? await Array.fromAsync(await models.generateContentStream(request))
      : [await models.generateContent(request)];
    const answered: Part[] = pieces.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
    const calls = answered.flatMap(({ functionCall: call }) => call ?? []);
    const usage = pieces.at(-1)?.usageMetadata;
    const textOf = (isThought: boolean) =>
      answered.map(({ text = "", thought = false }) => (thought === isThought ? text : "")).join("");
    return {
      text: textOf(false),
      reasoning: textOf(true),
      refusal: "",
      calls: calls.map(({ id = "", name: called = "", args }) => ({ id, name: called, arguments: args })),
      reason: String(pieces.findLast(({ candidates }) => candidates?.[0]?.finishReason)?.candidates?.[0]?.finishReason),
      usage: {
        input: usage?.promptTokenCount ?? -1,
        cached: usage?.cachedContentTokenCount ?? 0,
        written: 0,
        output: (usage?.candidatesTokenCount ?? -1) + (usage?.thoughtsTokenCount ?? 0),
      },
      turn: { role: "model", parts: answered },
    };
  },
};

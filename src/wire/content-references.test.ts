import { describe, expect, test } from "vitest";
import { findReferences, findToolReferences, type ResolvedContent, withContents } from "./content-references.ts";

const PIXELS = Buffer.from("pixels");
const PNG: ResolvedContent = { bytes: PIXELS, mediaType: "image/png", filename: "a.png" };
const DATA = `data:image/png;base64,${PIXELS.toString("base64")}`;
const URL_OF = "https://example.com/a.png";

/** Each part, the path of its reference, and the part with content. */
const PARTS: [name: string, part: object, param: string, resolved: object][] = [
  [
    "an image of chat completions",
    { type: "image_url", image_url: { url: URL_OF, detail: "low" } },
    "image_url.url",
    { type: "image_url", image_url: { url: DATA, detail: "low" } },
  ],
  [
    "an image of Responses",
    { type: "input_image", image_url: URL_OF, detail: "low" },
    "image_url",
    { type: "input_image", image_url: DATA, detail: "low" },
  ],
  ["an uploaded image", { type: "input_image", file_id: "f" }, "file_id", { type: "input_image", image_url: DATA }],
  [
    "an uploaded file of Responses",
    { type: "input_file", file_id: "f" },
    "file_id",
    { type: "input_file", filename: "a.png", file_data: DATA },
  ],
  [
    "a file of Responses at an address",
    { type: "input_file", file_url: URL_OF, filename: "mine.pdf" },
    "file_url",
    { type: "input_file", filename: "mine.pdf", file_data: DATA },
  ],
  [
    "an uploaded file of chat completions",
    { type: "file", file: { file_id: "f" } },
    "file.file_id",
    { type: "file", file: { filename: "a.png", file_data: DATA } },
  ],
  [
    "a video of vLLM",
    { type: "video_url", video_url: { url: "file:///etc/passwd" } },
    "video_url.url",
    { type: "video_url", video_url: { url: DATA } },
  ],
  [
    "an image of Messages",
    { type: "image", source: { type: "url", url: URL_OF }, cache_control: { type: "ephemeral" } },
    "source.url",
    {
      type: "image",
      source: { type: "base64", media_type: "image/png", data: PIXELS.toString("base64") },
      cache_control: { type: "ephemeral" },
    },
  ],
  [
    "an uploaded document of Messages",
    { type: "document", source: { type: "file", file_id: "f" }, title: "https://example.com" },
    "source.file_id",
    {
      type: "document",
      source: { type: "base64", media_type: "image/png", data: PIXELS.toString("base64") },
      title: "https://example.com",
    },
  ],
];

describe.each(PARTS)("%s", (_name, part, field, resolved) => {
  test.each(["content", "output"])("is found and replaced in the %s of an item", (list) => {
    const entries = [
      { role: "user", content: "Hi." },
      { role: "user", call_id: "c", [list]: [{ type: "text" }, part] },
    ];
    const param = `messages[1].${list}[1].${field}`;
    expect(findReferences(entries, "messages").map((each) => each.param)).toEqual([param]);
    const before = structuredClone(entries);
    const after = withContents(entries, "messages", new Map([[param, PNG]]));
    expect(after[1]).toEqual({ ...entries[1], [list]: [{ type: "text" }, resolved] });
    expect(entries).toEqual(before);
    expect(findReferences(after, "messages")).toEqual([]);
  });

  test("is found inside a tool result of Messages", () => {
    const result = { type: "tool_result", tool_use_id: "t", content: [part] };
    const entries = [{ role: "user", content: [result] }];
    const param = `messages[0].content[0].content[0].${field}`;
    expect(findReferences(entries, "messages").map((each) => each.param)).toEqual([param]);
    const after = withContents(entries, "messages", new Map([[param, PNG]]));
    expect(after).toEqual([{ role: "user", content: [{ ...result, content: [resolved] }] }]);
  });
});

test("makes text of an uploaded text for Messages", () => {
  const entries = [{ role: "user", content: [{ type: "document", source: { type: "file", file_id: "f" } }] }];
  const text = { bytes: Buffer.from("Grüße"), mediaType: "text/markdown", filename: "a.md" };
  const [entry] = withContents(entries, "messages", new Map([["messages[0].content[0].source.file_id", text]]));
  expect(entry?.content[0]?.source).toEqual({ type: "text", media_type: "text/plain", data: "Grüße" });
});

test("finds the screenshot of a computer call", () => {
  const output = { type: "computer_screenshot", file_id: "f" };
  const entries = [{ type: "computer_call_output", call_id: "c", output }];
  const after = withContents(entries, "input", new Map([["input[0].output.file_id", PNG]]));
  expect(after[0]?.output).toEqual({ type: "computer_screenshot", image_url: DATA });
});

test("finds the image of a moderation", () => {
  const entries = [{ type: "text", text: URL_OF }, PARTS[0]?.[1]];
  expect(findReferences(entries, "input")).toEqual([{ kind: "url", url: URL_OF, param: "input[1].image_url.url" }]);
});

test.each([
  ["an unknown kind of part", { type: "video", video: [URL_OF] }, "video[0]"],
  [
    "an address in file_data",
    { type: "file", file: { file_data: "http:\\127.0.0.1", filename: "a" } },
    "file.file_data",
  ],
  ["an address after white space", { type: "video", video: " \u0000https://example.com" }, "video"],
  ["a file of an upstream's container", { type: "container_upload", file_id: "f" }, "file_id"],
])("names what it cannot replace: %s", (_name, part, field) => {
  const references = findReferences([{ role: "user", content: [part] }], "messages");
  expect(references).toEqual([{ kind: "opaque", param: `messages[0].content[0].${field}` }]);
});

test.each(["text", "input_text", "tool_use", "web_search_result", undefined])(
  "finds what an upstream fetches by the field in a part that says it is %s",
  (type) => {
    const parts = [
      { type, text: "Describe", image_url: URL_OF },
      { type, text: "Describe", video_url: { url: URL_OF }, uuid: "a" },
      { type, text: "Describe", file_url: URL_OF },
    ];
    const found = findReferences([{ role: "user", content: parts }], "messages");
    expect(found.map(({ param }) => param.replace("messages[0].content", ""))).toEqual([
      "[0].image_url",
      "[1].video_url.url",
      "[2].file_url",
    ]);
  },
);

test.each([
  ["a text", [{ role: "user", content: `${URL_OF} and file-1` }]],
  ["parts of text", [{ role: "user", content: [{ type: "input_text", text: URL_OF }] }]],
  ["citations", [{ role: "assistant", content: [{ type: "output_text", text: "", annotations: [{ url: URL_OF }] }] }]],
  ["arguments of a call", [{ role: "assistant", content: [{ type: "tool_use", input: { url: URL_OF } }] }]],
  ["a search that was made", [{ type: "web_search_call", action: { type: "open_page", url: URL_OF } }]],
  [
    "results of Anthropic's search",
    [
      {
        role: "assistant",
        content: [
          { type: "server_tool_use", input: { query: "tide" } },
          { type: "web_search_tool_result", content: [{ type: "web_search_result", url: URL_OF, title: "Tides" }] },
        ],
      },
    ],
  ],
  [
    "a page that Anthropic fetched",
    [
      {
        role: "assistant",
        content: [
          {
            type: "web_fetch_tool_result",
            content: {
              type: "web_fetch_result",
              url: URL_OF,
              content: { type: "document", source: { type: "text", media_type: "text/plain", data: "High." } },
            },
          },
        ],
      },
    ],
  ],
  ["the output of a command", [{ type: "shell_call_output", call_id: "c", output: [{ stdout: URL_OF }] }]],
  ["data", [{ role: "user", content: [{ type: "image_url", image_url: { url: DATA } }] }]],
  ["no list", "text"],
  ["broken parts", [null, 1, { content: [null, 2, { type: "image_url", image_url: null }] }]],
])("finds nothing in %s", (_name, entries) => {
  expect(findReferences(entries, "messages")).toEqual([]);
  expect(withContents(entries, "messages", new Map())).toBe(entries);
});

test("finds the addresses of hosted tools", () => {
  const tools = [
    { type: "function", name: "a", parameters: { properties: { server_url: { default: URL_OF } } } },
    { type: "mcp", server_url: URL_OF },
    { type: "code_interpreter", container: { type: "auto", file_ids: ["f"] } },
  ];
  expect(findToolReferences(tools, "tools")).toEqual([
    { kind: "url", url: URL_OF, param: "tools[1].server_url" },
    { kind: "opaque", param: "tools[2].container.file_ids" },
  ]);
  expect(findToolReferences([{ type: "url", url: URL_OF }], "mcp_servers")).toMatchObject([{ url: URL_OF }]);
});

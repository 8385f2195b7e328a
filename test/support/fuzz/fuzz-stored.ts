/** Generators of requests to stored responses, conversations and the console's session. */

import fc from "fast-check";
import { toBody } from "./fuzz-mutations.ts";
import { type FuzzRequest, text } from "./fuzz-uploads.ts";

/** Placeholders for ids of what earlier requests created, in paths and bodies. */
export const PLACEHOLDERS = ["PROJECT", "RESPONSE", "BACKGROUND", "CONVERSATION", "ITEM"] as const;
export type Placeholder = (typeof PLACEHOLDERS)[number];

const JSON_TYPE = "application/json";
const some = <Value>(arbitrary: fc.Arbitrary<Value>, maxLength = 4) => fc.array(arbitrary, { minLength: 1, maxLength });

const part = fc.oneof(
  fc.record({ type: fc.constantFrom("input_text", "output_text", "text"), text }),
  fc.record({ type: fc.constant("refusal"), refusal: text }),
  fc.record({ type: fc.constant("input_image"), image_url: fc.constant("data:image/png;base64,AAAA") }),
);
const callId = fc.constantFrom("call_a", "call_b");
/** Items of the Responses API, references to stored ones among them. */
export const inputItem: fc.Arbitrary<unknown> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ role: fc.constantFrom("user", "system", "developer", "assistant"), content: text }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("message"), role: fc.constant("user"), content: some(part) }) },
  fc.record({ type: fc.constant("item_reference"), id: fc.constantFrom("ITEM", "ITEM", "msg_none") }),
  fc.record({
    type: fc.constant("function_call"),
    call_id: callId,
    name: fc.constant("look"),
    arguments: fc.constant("{}"),
  }),
  fc.record({ type: fc.constant("function_call_output"), call_id: callId, output: text }),
  fc.record({ type: fc.constant("custom_tool_call"), call_id: callId, name: fc.constant("write"), input: text }),
  fc.record({ type: fc.constant("reasoning"), summary: fc.constant([]) }, { requiredKeys: ["type"] }),
);

const metadata = fc.dictionary(fc.stringMatching(/^[a-z]{1,9}$/), text, { maxKeys: 3 });
const newItems = fc.record({ items: some(inputItem), metadata }, { requiredKeys: [] });

const post = (path: string, valid: fc.Arbitrary<unknown>): fc.Arbitrary<FuzzRequest> =>
  toBody(valid).map((body) => ({ method: "POST", path, type: JSON_TYPE, body, isAdministration: false }));

const query = fc
  .dictionary(
    fc.constantFrom("limit", "after", "order", "stream", "starting_after", "include"),
    fc.oneof(
      fc.constantFrom("1", "2", "100", "asc", "desc", "true", "false", "0", "ITEM"),
      fc.integer().map(String),
      text,
    ),
    { maxKeys: 3 },
  )
  .map((fields) => {
    const wellFormed = Object.entries(fields).map(([key, value]) => [key, value.toWellFormed()]);
    return new URLSearchParams(Object.fromEntries(wellFormed)).toString();
  });

const resource = fc.constantFrom(
  "responses/RESPONSE",
  "responses/BACKGROUND",
  "responses/RESPONSE/input_items",
  "conversations/CONVERSATION",
  "conversations/CONVERSATION/items",
  "conversations/CONVERSATION/items/ITEM",
  "responses/none",
  "conversations/%00",
  "models",
  "models/m",
  "audio/voices",
  "audio/models",
);
const reading = fc
  .tuple(resource, query)
  .map(([path, search]): FuzzRequest => ({ method: "GET", path: `${path}?${search}`, isAdministration: false }));
const deletion = resource.map((path): FuzzRequest => ({ method: "DELETE", path, isAdministration: false }));

/** With ITEM for ids that another kind of resource has, too. */
export const stored: fc.Arbitrary<FuzzRequest> = fc.oneof(
  { weight: 3, arbitrary: post("conversations", newItems) },
  { weight: 3, arbitrary: post("conversations/CONVERSATION/items", fc.record({ items: some(inputItem) })) },
  { weight: 1, arbitrary: post("conversations/CONVERSATION", fc.record({ metadata })) },
  { weight: 1, arbitrary: post("responses/BACKGROUND/cancel", fc.constant({})) },
  { weight: 1, arbitrary: post("responses/RESPONSE/cancel", fc.constant({})) },
  { weight: 5, arbitrary: reading },
  { weight: 1, arbitrary: deletion },
);

const cookie = fc.oneof(text, fc.constant("x".repeat(43))).map((value) => {
  return `parlance_session=${encodeURIComponent(value.toWellFormed())}; __Host-parlance_session=${"x".repeat(43)}`;
});
/** Sign-ins with wrong keys and codes: an address may send few of them. */
export const session: fc.Arbitrary<FuzzRequest> = fc.oneof(
  toBody(fc.oneof(fc.record({ key: text }), fc.record({ code: text }))).map(
    (body): FuzzRequest => ({
      method: "POST",
      path: "/console/session",
      type: JSON_TYPE,
      body,
      headers: { "sec-fetch-site": "same-origin" },
      isAdministration: false,
    }),
  ),
  fc.tuple(fc.constantFrom("GET" as const, "DELETE" as const), cookie).map(
    ([method, sent]): FuzzRequest => ({
      method,
      path: "/console/session",
      headers: { cookie: sent, "sec-fetch-site": "same-origin" },
      isAdministration: false,
    }),
  ),
);

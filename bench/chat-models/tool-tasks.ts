/** Ten tasks with the tools of an assistant: which call a model has to make, and one that needs none. */

import type OpenAI from "openai";

type Tool = OpenAI.ChatCompletionFunctionTool;

export interface ToolTask {
  say: string;
  /** Undefined: the model answers without a tool. */
  call?: { name: string; arguments: Readonly<Record<string, RegExp>> };
  /** What the tool returns; the model answers with it. */
  result?: string;
  answer?: RegExp;
}

const text = (description: string) => ({ type: "string", description });

export const TOOLS: readonly Tool[] = [
  tool("get_weather", "Returns the current weather of a city", { city: text("Name of the city") }),
  tool("set_timer", "Starts a timer", { minutes: { type: "integer", description: "Its length" } }),
  tool("convert_currency", "Converts an amount of money", {
    amount: { type: "number" },
    from: text("ISO 4217 code, such as GBP"),
    to: text("ISO 4217 code, such as JPY"),
  }),
  tool("send_email", "Sends an e-mail", { to: text("Address"), text: text("What it says") }),
  tool("add_event", "Adds an event to the calendar", {
    title: text("What takes place"),
    date: text("As YYYY-MM-DD"),
    time: text("As HH:MM, of 24 hours"),
  }),
  tool("create_ticket", "Reports a fault to the service desk", {
    title: text("The fault in a few words"),
    priority: { type: "string", enum: ["low", "normal", "high"] },
  }),
  tool("search_files", "Finds files by their content", { query: text("Words"), extension: text("Such as txt") }),
  tool("read_file", "Returns the text of a file", { path: text("Its path") }),
];

export const TOOL_TASKS: readonly ToolTask[] = [
  { say: "What is the weather in Rome now?", call: { name: "get_weather", arguments: { city: /^Rome/ } } },
  { say: "Set a timer for a quarter of an hour.", call: { name: "set_timer", arguments: { minutes: /^15$/ } } },
  {
    say: "How much are 250 US dollars in euros?",
    call: { name: "convert_currency", arguments: { amount: /^250$/, from: /^USD$/, to: /^EUR$/ } },
  },
  {
    say: "Write to anna@example.com that today's meeting is cancelled.",
    call: { name: "send_email", arguments: { to: /^anna@example\.com$/, text: /cancel/i } },
  },
  {
    say: "Put dinner with Paul into my calendar: 3 May 2027, seven in the evening.",
    call: { name: "add_event", arguments: { title: /dinner/i, date: /^2027-05-03$/, time: /^19:00/ } },
  },
  {
    say: "The printer on the second floor is broken, and we need it urgently. Report it.",
    call: { name: "create_ticket", arguments: { title: /printer/i, priority: /^high$/ } },
  },
  {
    say: "What does notes/todo.txt say?",
    call: { name: "read_file", arguments: { path: /^\.?\/?notes\/todo\.txt$/ } },
  },
  {
    say: "Find PDF files about taxes.",
    call: { name: "search_files", arguments: { query: /tax/i, extension: /^\.?pdf$/i } },
  },
  {
    say: "Do I need an umbrella in Oslo right now?",
    call: { name: "get_weather", arguments: { city: /^Oslo/ } },
    result: '{"temperature_celsius": 4, "sky": "heavy rain"}',
    answer: /\b(yes|rain)/i,
  },
  { say: "What is the capital of France? You know it: use no tool.", answer: /Paris/ },
];

function tool(name: string, description: string, properties: Readonly<Record<string, object>>): Tool {
  const parameters = { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
  return { type: "function", function: { name, description, parameters } };
}

/** The functions that models get for the tools that OpenAI defines and the caller runs. */

export type CallerToolType =
  | "shell"
  | "local_shell"
  | "apply_patch"
  | "computer"
  | "computer_use_preview"
  | "tool_search";

export interface Definition {
  /** Name of the function that the model calls. */
  name: string;
  description: string;
  parameters: Readonly<Record<string, unknown>>;
}

const text = (description: string) => ({ type: "string", description });
const texts = (description: string) => ({ type: "array", items: { type: "string" }, description });
const milliseconds = { type: "integer", minimum: 1, description: "Time limit in milliseconds" };
const pixel = (description: string) => ({ type: "integer", description });

const SHELL: Definition = {
  name: "shell",
  description: "Runs shell commands, one after the other, and returns their output.",
  parameters: {
    type: "object",
    properties: {
      commands: texts("Commands to run"),
      timeout_ms: milliseconds,
      max_output_length: { type: "integer", minimum: 1, description: "Maximum characters of output to return" },
    },
    required: ["commands"],
    additionalProperties: false,
  },
};

const LOCAL_SHELL: Definition = {
  name: "local_shell",
  description: "Runs a command and returns its output.",
  parameters: {
    type: "object",
    properties: {
      command: texts('Program and its arguments, such as ["ls", "-l"]'),
      env: { type: "object", additionalProperties: { type: "string" }, description: "Environment variables to set" },
      timeout_ms: milliseconds,
      working_directory: text("Directory to run the command in"),
      user: text("User to run the command as"),
    },
    required: ["command"],
    additionalProperties: false,
  },
};

const APPLY_PATCH: Definition = {
  name: "apply_patch",
  description: "Creates, updates or deletes one file.",
  parameters: {
    type: "object",
    properties: {
      type: { type: "string", enum: ["create_file", "update_file", "delete_file"], description: "What to do" },
      path: text("Path of the file, relative to the workspace"),
      diff: text(
        "For create_file and update_file: a V4A diff, whose lines begin with '+', '-' or a space, in sections that begin with '@@'",
      ),
    },
    required: ["type", "path"],
    additionalProperties: false,
  },
};

const ACTIONS = ["click", "double_click", "drag", "keypress", "move", "screenshot", "scroll", "type", "wait"];

const COMPUTER: Definition = {
  name: "computer",
  description: "Controls the mouse and the keyboard of a computer, and takes screenshots.",
  parameters: {
    type: "object",
    properties: {
      type: { type: "string", enum: ACTIONS, description: "Action" },
      x: pixel("Pixels from the left; for click, double_click, move and scroll"),
      y: pixel("Pixels from the top"),
      button: { type: "string", enum: ["left", "right", "wheel", "back", "forward"], description: "For click" },
      scroll_x: pixel("For scroll: pixels to the right"),
      scroll_y: pixel("For scroll: pixels downwards"),
      keys: texts("For keypress: keys pressed together; for others: keys held meanwhile"),
      path: {
        type: "array",
        items: {
          type: "object",
          properties: { x: pixel("From the left"), y: pixel("From the top") },
          required: ["x", "y"],
          additionalProperties: false,
        },
        description: "For drag: the points that the mouse passes",
      },
      text: text("For type: the text"),
    },
    required: ["type"],
    additionalProperties: false,
  },
};

const TOOL_SEARCH: Definition = {
  name: "tool_search",
  description: "Searches for tools that can be called after the search.",
  parameters: { type: "object", properties: { query: text("What the tool should do") }, required: ["query"] },
};

export const DEFINITIONS: Readonly<Record<CallerToolType, Definition>> = {
  shell: SHELL,
  local_shell: LOCAL_SHELL,
  apply_patch: APPLY_PATCH,
  computer: COMPUTER,
  computer_use_preview: COMPUTER,
  tool_search: TOOL_SEARCH,
};

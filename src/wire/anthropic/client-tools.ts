/**
 * Tools that Anthropic defines and the client runs (bash, text editor, memory, computer): their published names and
 * inputs, as functions that any model can call.
 */

export interface ClientTool {
  name: string;
  description: string;
  parameters: Readonly<Record<string, unknown>>;
}

/** Version from which the text editor has no `undo_edit` and another name. */
const EDITOR_WITHOUT_UNDO = 20250429;
/** Version from which `insert` of the text editor takes `insert_text`. */
const EDITOR_WITH_INSERT_TEXT = 20250728;
const COMPUTER_WITH_SCROLL = 20250124;
const COMPUTER_WITH_ZOOM = 20251124;

const TYPE = /^(bash|text_editor|memory|computer)_(\d{8})$/;

/** Returns the function for a tool such as `bash_20250124`; undefined for other types. */
export function toClientTool(tool: Readonly<Record<string, unknown>>): ClientTool | undefined {
  const [, family, date] = TYPE.exec(String(tool.type)) ?? [];
  const version = Number(date);
  const name = typeof tool.name === "string" ? tool.name : undefined;
  switch (family) {
    case "bash":
      return { ...BASH, name: name ?? "bash" };
    case "memory":
      return { ...MEMORY, name: name ?? "memory" };
    case "text_editor":
      return {
        ...textEditor(version),
        name: name ?? (version < EDITOR_WITHOUT_UNDO ? "str_replace_editor" : "str_replace_based_edit_tool"),
      };
    case "computer":
      return { ...computer(version, tool), name: name ?? "computer" };
    default:
      return undefined;
  }
}

const text = (description: string) => ({ type: "string", description });
const oneOf = (values: readonly string[], description: string) => ({ type: "string", enum: values, description });
const wholeNumbers = (count: number, description: string) => ({
  type: "array",
  items: { type: "integer" },
  minItems: count,
  maxItems: count,
  description,
});

const LINES = wholeNumbers(2, "First and last line to show, from 1; -1 as the last line shows the file to its end");
const AFTER_LINE = { type: "integer", minimum: 0, description: "Line after which to insert; 0 is the beginning" };

const BASH: Omit<ClientTool, "name"> = {
  description: "Runs commands in a bash shell whose state persists between calls.",
  parameters: {
    type: "object",
    properties: {
      command: text("Command to run; required unless restart is true"),
      restart: { type: "boolean", description: "If true, restarts the shell" },
    },
    additionalProperties: false,
  },
};

const MEMORY: Omit<ClientTool, "name"> = {
  description: "Reads and changes files in the directory /memories, which persist between conversations.",
  parameters: {
    type: "object",
    properties: {
      command: oneOf(["view", "create", "str_replace", "insert", "delete", "rename"], "What to do"),
      path: text("Path of a file or directory, such as /memories/notes.md; for all commands except rename"),
      view_range: LINES,
      file_text: text("Content of the file to create"),
      old_str: text("Text to replace; it must occur once"),
      new_str: text("Text that replaces old_str"),
      insert_line: AFTER_LINE,
      insert_text: text("Text to insert"),
      old_path: text("Current path, for rename"),
      new_path: text("New path, for rename"),
    },
    required: ["command"],
    additionalProperties: false,
  },
};

function textEditor(version: number): Omit<ClientTool, "name"> {
  const commands = ["view", "create", "str_replace", "insert"];
  const insertText = version < EDITOR_WITH_INSERT_TEXT ? {} : { insert_text: text("Text to insert") };
  return {
    description: "Views, creates and edits text files; view of a directory lists it.",
    parameters: {
      type: "object",
      properties: {
        command: oneOf(version < EDITOR_WITHOUT_UNDO ? [...commands, "undo_edit"] : commands, "What to do"),
        path: text("Absolute path of the file or directory"),
        view_range: LINES,
        file_text: text("Content of the file to create"),
        old_str: text("Text to replace; it must occur once"),
        new_str: text(
          version < EDITOR_WITH_INSERT_TEXT
            ? "Text that replaces old_str, or that is inserted"
            : "Text that replaces old_str",
        ),
        insert_line: AFTER_LINE,
        ...insertText,
      },
      required: ["command", "path"],
      additionalProperties: false,
    },
  };
}

function computer(version: number, tool: Readonly<Record<string, unknown>>): Omit<ClientTool, "name"> {
  const { display_width_px: width, display_height_px: height } = tool;
  const hasScroll = version >= COMPUTER_WITH_SCROLL;
  const hasZoom = version >= COMPUTER_WITH_ZOOM && tool.enable_zoom === true;
  const size = Number.isInteger(width) && Number.isInteger(height) ? ` The screen has ${width}x${height} pixels.` : "";
  return {
    description: `Controls the mouse and the keyboard of a computer, and takes screenshots.${size}`,
    parameters: {
      type: "object",
      properties: {
        action: oneOf(
          [...ACTIONS, ...(hasScroll ? ACTIONS_WITH_SCROLL : []), ...(hasZoom ? ["zoom"] : [])],
          "What to do",
        ),
        coordinate: wholeNumbers(2, "x and y in pixels from the upper left corner"),
        text: text("Text to type, keys to press such as ctrl+s, or a key to hold while clicking or scrolling"),
        ...(hasScroll ? SCROLL_FIELDS : {}),
        ...(hasZoom ? { region: wholeNumbers(4, "x0, y0, x1 and y1 of the part to show") } : {}),
      },
      required: ["action"],
      additionalProperties: false,
    },
  };
}

const ACTIONS = [
  ...["key", "type", "mouse_move", "left_click", "left_click_drag", "right_click", "middle_click", "double_click"],
  ...["screenshot", "cursor_position"],
];
const ACTIONS_WITH_SCROLL = ["triple_click", "left_mouse_down", "left_mouse_up", "scroll", "hold_key", "wait"];
const SCROLL_FIELDS = {
  start_coordinate: wholeNumbers(2, "Where left_click_drag begins"),
  scroll_direction: oneOf(["up", "down", "left", "right"], "Direction of scroll"),
  scroll_amount: { type: "integer", minimum: 0, description: "Clicks of the wheel" },
  duration: { type: "number", minimum: 0, maximum: 100, description: "Seconds of hold_key or wait" },
};

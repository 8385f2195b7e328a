import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const STYLES = join(import.meta.dirname, "../../node_modules/@mantine/core");
/** Components whose looks are those of others. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  Autocomplete: ["Combobox", "Input", "Popover"],
  Drawer: ["ModalBase", "Overlay"],
  FileInput: ["Input"],
  JsonInput: ["Input"],
  Menu: ["Popover"],
  Modal: ["ModalBase", "Overlay"],
  MultiSelect: ["Combobox", "Input", "Pill", "PillsInput", "Popover"],
  NativeSelect: ["Input"],
  NumberInput: ["Input"],
  PasswordInput: ["Input"],
  SegmentedControl: ["FloatingIndicator"],
  Select: ["Combobox", "Input", "Popover"],
  Switch: ["InlineInput"],
  Checkbox: ["CheckboxIndicator", "InlineInput"],
  TagsInput: ["Combobox", "Input", "Pill", "PillsInput", "Popover"],
  Textarea: ["Input"],
  TextInput: ["Input"],
};

function read(name: string): string {
  return readFileSync(join(import.meta.dirname, name), "utf8");
}

const imported = [...read("styles.ts").matchAll(/@mantine\/core\/styles\/([\w-]+)\.css/g)].map(
  ([, name]) => name ?? "",
);

test("has the styles of every component that the console uses", () => {
  const names = globSync("**/*.tsx", { cwd: import.meta.dirname }).flatMap((file) =>
    [...read(file).matchAll(/import \{([^}]*)\} from "@mantine\/core"/g)].flatMap(([, list = ""]) =>
      list.split(",").map((name) => name.trim().replace(/^type /, "")),
    ),
  );
  expect(names.length).toBeGreaterThan(50);
  const needed = names.flatMap((name) => [name, ...(PARTS[name] ?? [])]);
  const styled = [...new Set(needed)].filter((name) => existsSync(join(STYLES, `styles/${name}.css`)));
  expect(styled.filter((name) => !imported.includes(name))).toEqual([]);
});

test("has the styles in Mantine's order, in which later ones override earlier ones", () => {
  const all = readFileSync(join(STYLES, "styles.css"), "utf8");
  const positions = imported.flatMap((name) => {
    const [hash] = /\.m_[0-9a-f]+/.exec(readFileSync(join(STYLES, `styles/${name}.css`), "utf8")) ?? [];
    return hash === undefined ? [] : [all.indexOf(hash)];
  });
  expect(positions).toEqual(positions.toSorted((a, b) => a - b));
});

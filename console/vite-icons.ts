/** Resolves `virtual:tabler/NAME` to the inner SVG of that icon, so that the bundle has only the icons that it shows. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

const SCHEME = "virtual:tabler/";

export function tablerIcons(): Plugin {
  const file = fileURLToPath(import.meta.resolve("@iconify-json/tabler/icons.json"));
  let icons: Record<string, { body: string } | undefined> | undefined;
  return {
    name: "tabler-icons",
    resolveId: (id) => (id.startsWith(SCHEME) ? `\0${id}` : undefined),
    load(id) {
      if (!id.startsWith(`\0${SCHEME}`)) return;
      icons ??= JSON.parse(readFileSync(file, "utf8")).icons;
      const name = id.slice(SCHEME.length + 1);
      const body = icons?.[name]?.body;
      if (body === undefined) this.error(`@iconify-json/tabler has no icon ${name}`);
      // The component sets the width of the lines.
      return `export default ${JSON.stringify(body.replaceAll(' stroke-width="2"', ""))}`;
    },
  };
}

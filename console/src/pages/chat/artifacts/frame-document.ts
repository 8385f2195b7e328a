import type { Artifact } from "../../../components/markdown/artifact.ts";

/** Prints what a script logs, and its errors. */
// untranslated: a document without texts
const CONSOLE = `<!doctype html><meta charset="utf-8"><style>
body { margin: 12px; font: 13px/1.5 ui-monospace, monospace; white-space: pre-wrap; color: #1f2328; background: #fff; }
.error { color: #b3261e; }
</style><body><script>
const print = (kind) => (...values) => {
  const line = document.createElement("div");
  line.className = kind;
  line.textContent = values.map((each) => typeof each === "object" ? JSON.stringify(each, null, 2) : String(each)).join(" ");
  document.body.append(line);
};
Object.assign(console, { log: print("log"), info: print("log"), warn: print("error"), error: print("error") });
addEventListener("error", ({ message }) => print("error")(message));
addEventListener("unhandledrejection", ({ reason }) => print("error")(String(reason)));
</script>`;

/** Returns the document that the frame writes. */
export function frameDocument({ kind, code }: Artifact): string {
  if (kind !== "script") return code;
  // untranslated: tags. An end tag within the script would end it.
  return `${CONSOLE}<script type="module">\n${code.replaceAll(/<\/(script)/gi, "<\\/$1")}\n</script>`;
}

import "@fontsource-variable/geist/wght.css";
import { createRoot } from "react-dom/client";
import { wasSignedIn } from "./api/sign-in.ts";
import { startLanguage } from "./i18n/change-language.ts";
import { startColorScheme } from "./shell/color-scheme.ts";
import { Entry } from "./shell/entry.tsx";

const nonce = document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.nonce;
// Where `get-nonce`, with which Mantine's modals add a style element, looks for it.
Object.assign(globalThis, { __webpack_nonce__: nonce });
const root = document.getElementById("root");
// untranslated: a fault of the build
if (root === null) throw new Error("index.html has no element #root");

startColorScheme();
// Beside the language and the session; its failure shows when the entry loads it.
if (wasSignedIn()) import("./app.tsx").catch(() => {});
// Without a top-level await, for which chunks that import this one would wait.
void startLanguage().then(() => createRoot(root).render(<Entry nonce={nonce ?? ""} />));

import "@fontsource-variable/geist/wght.css";
import "./styles.ts";
import "./console.css";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { startLanguage } from "./i18n/change-language.ts";

const nonce = document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.nonce;
// Where `get-nonce`, with which Mantine's modals add a style element, looks for it.
Object.assign(globalThis, { __webpack_nonce__: nonce });
const root = document.getElementById("root");
// untranslated: a fault of the build
if (root === null) throw new Error("index.html has no element #root");

// Without a top-level await, for which chunks that import this one would wait.
void startLanguage().then(() => createRoot(root).render(<App nonce={nonce ?? ""} />));

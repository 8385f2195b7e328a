import "@fontsource-variable/geist/wght.css";
import "./styles.ts";
import "./console.css";
import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { createRoot } from "react-dom/client";
import { queryClient } from "./api/query-client.ts";
import { router } from "./router.tsx";
import { cssVariables, theme } from "./theme.ts";

const nonce = document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.nonce;
// Where `get-nonce`, with which Mantine's modals add a style element, looks for it.
Object.assign(globalThis, { __webpack_nonce__: nonce });
const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no element #root");

createRoot(root).render(
  <MantineProvider
    theme={theme}
    cssVariablesResolver={cssVariables}
    defaultColorScheme="auto"
    getStyleNonce={() => nonce ?? ""}
  >
    <QueryClientProvider client={queryClient}>
      <Notifications position="bottom-right" />
      <RouterProvider router={router} />
    </QueryClientProvider>
  </MantineProvider>,
);

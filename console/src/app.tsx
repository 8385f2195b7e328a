import "./styles.ts";
import "./console.css";
import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { useEffect, useMemo, useRef } from "react";
import { queryClient } from "./api/query-client.ts";
import { replaceSession } from "./api/session.ts";
import type { Session } from "./api/sign-in.ts";
import { NotificationArea } from "./components/notify.tsx";
import { TooltipLayer } from "./components/tooltip-layer.tsx";
import { useLanguage } from "./i18n/change-language.ts";
import { router } from "./router.tsx";
import { createConsoleTheme, cssVariables } from "./theme.ts";

/** Makes a session that has just been read or begun that of the console. */
export function beginSession(session: Session): void {
  replaceSession(queryClient, session);
}

/** The console. Another language draws it again and mounts nothing, so that forms keep what was typed. */
export function App({ nonce }: { nonce: string }) {
  const language = useLanguage();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme has texts
  const theme = useMemo(createConsoleTheme, [language]);
  const shown = useRef(language);
  useEffect(() => {
    if (shown.current === language) return;
    shown.current = language;
    // What was read holds translated names, such as those of operations.
    void queryClient.invalidateQueries();
  }, [language]);
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queryClient}>
        <NotificationArea />
        <TooltipLayer />
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  );
}

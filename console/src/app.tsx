import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { useMemo } from "react";
import { queryClient } from "./api/query-client.ts";
import { NotificationArea } from "./components/notify.tsx";
import { TooltipLayer } from "./components/tooltip-layer.tsx";
import { useLanguage } from "./i18n/change-language.ts";
import { router } from "./router.tsx";
import { createConsoleTheme, cssVariables } from "./theme.ts";

/** The console. Another language draws it again and mounts nothing, so that forms keep what was typed. */
export function App({ nonce }: { nonce: string }) {
  const language = useLanguage();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme has texts
  const theme = useMemo(createConsoleTheme, [language]);
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

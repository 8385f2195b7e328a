import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { useMemo } from "react";
import { queryClient } from "./api/query-client.ts";
import { useLanguage } from "./i18n/change-language.ts";
import { router } from "./router.tsx";
import { createConsoleTheme, cssVariables } from "./theme.ts";

/** The console. Another language mounts its pages again, which so need not watch the language. */
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
        <Notifications position="bottom-right" />
        <RouterProvider key={language} router={router} />
      </QueryClientProvider>
    </MantineProvider>
  );
}

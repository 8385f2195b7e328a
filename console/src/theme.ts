import { type CSSVariablesResolver, createTheme, type MantineThemeOverride, rem } from "@mantine/core";
import { APRICOT, DARK, GRAY, PINE } from "./colors.ts";
import { t } from "./i18n/translate.ts";

const SANS = '"Geist Variable", system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const MONO = '"Geist Mono Variable", ui-monospace, SFMono-Regular, Menlo, Consolas, monospace';

/** The theme in the language of the console: it names buttons of Mantine for screen readers. */
export function createConsoleTheme(): MantineThemeOverride {
  const close = { "aria-label": t("Close") };
  const clear = { "aria-label": t("Clear") };
  const toggle = { "aria-label": t("Toggle password visibility") };
  // Its header is not one of the page.
  const title = { header: { role: "none" } };
  const dismiss = { "aria-label": t("Dismiss") };
  return createTheme({
    colors: { pine: PINE, apricot: APRICOT, gray: GRAY, dark: DARK },
    primaryColor: "pine",
    // White text on the lighter shades has less than the 4.5:1 contrast of WCAG AA.
    primaryShade: { light: 7, dark: 7 },
    fontFamily: SANS,
    fontFamilyMonospace: MONO,
    defaultRadius: "md",
    cursorType: "pointer",
    respectReducedMotion: true,
    fontSizes: { xs: rem(12), sm: rem(13.5), md: rem(15), lg: rem(17), xl: rem(20) },
    headings: {
      fontWeight: "600",
      sizes: { h1: { fontSize: rem(24) }, h2: { fontSize: rem(15.5) }, h3: { fontSize: rem(14) } },
    },
    components: {
      Button: { defaultProps: { size: "sm" } },
      TextInput: { defaultProps: { size: "sm" } },
      // A value out of range is refused at the field, not replaced by another one.
      NumberInput: { defaultProps: { clampBehavior: "none" } },
      FileInput: { defaultProps: { clearButtonProps: clear } },
      TagsInput: { defaultProps: { clearButtonProps: clear } },
      Autocomplete: { defaultProps: { clearButtonProps: clear, comboboxProps: { shadow: "md" } } },
      PasswordInput: { defaultProps: { visibilityToggleButtonProps: toggle } },
      Select: {
        defaultProps: {
          clearButtonProps: clear,
          size: "sm",
          checkIconPosition: "right",
          comboboxProps: { shadow: "md" },
        },
      },
      Table: { defaultProps: { verticalSpacing: "xs", horizontalSpacing: "sm" } },
      // Its other type puts `tabIndex` on an element that does not scroll.
      TableScrollContainer: { defaultProps: { type: "native" } },
      Card: { defaultProps: { withBorder: true, padding: "md", radius: "lg" } },
      Modal: { defaultProps: { centered: true, radius: "lg", closeButtonProps: close, attributes: title } },
      Drawer: { defaultProps: { closeButtonProps: close, attributes: title } },
      Notification: { defaultProps: { closeButtonProps: dismiss } },
    },
  });
}

/** Raises the contrast of dimmed and placeholder text, and of buttons below the pointer, to WCAG AA. */
export const cssVariables: CSSVariablesResolver = (given) => ({
  variables: {
    "--mantine-primary-color-filled-hover": PINE[8],
    "--mantine-color-pine-filled-hover": PINE[8],
    "--mantine-color-red-filled-hover": "#a61e1e",
  },
  light: {
    "--mantine-color-dimmed": given.colors.gray[7],
    "--mantine-color-placeholder": given.colors.gray[7],
    "--mantine-color-error": given.colors.red[9],
    "--mantine-color-default-border": GRAY[2],
    "--mantine-color-default-hover": GRAY[0],
    "--mantine-color-anchor": PINE[7],
    "--page-background": GRAY[0],
    "--surface-strong": GRAY[2],
    "--accent-text": PINE[8],
    "--mantine-color-pine-light-hover": PINE[1],
    "--mantine-color-pine-light-color": PINE[8],
    "--chart-1": PINE[5],
    "--chart-2": APRICOT[4],
    "--chart-3": "#7c72d8",
    "--chart-4": "#4f86c6",
    "--chart-5": "#c19a2e",
    "--chart-6": "#b3628f",
    "--chart-bad": "#d4504c",
    "--code-background": "#fbfaf7",
    "--code-foreground": GRAY[9],
    "--code-token-constant": "#8a4b12",
    "--code-token-string": "#2f6f3e",
    "--code-token-string-expression": "#2f6f3e",
    "--code-token-comment": "#6d6a63",
    "--code-token-keyword": "#8a2f6b",
    "--code-token-parameter": "#5b4a9e",
    "--code-token-function": PINE[8],
    "--code-token-punctuation": "#55524c",
    "--code-token-link": PINE[8],
    "--chart-muted": GRAY[4],
  },
  dark: {
    "--mantine-color-dimmed": "#a6aba8",
    "--mantine-color-placeholder": "#a6aba8",
    "--mantine-color-error": given.colors.red[4],
    "--mantine-color-default-border": "#2b3130",
    "--mantine-color-default-hover": "#222726",
    "--mantine-color-anchor": PINE[3],
    "--page-background": "#121514",
    "--surface-strong": DARK[5],
    "--accent-text": PINE[2],
    "--mantine-color-pine-light-color": PINE[2],
    "--mantine-color-red-light-color": given.colors.red[4],
    "--chart-1": PINE[4],
    "--chart-2": APRICOT[3],
    "--chart-3": "#9a90ee",
    "--chart-4": "#74a5dd",
    "--chart-5": "#d8b75a",
    "--chart-6": "#d68fb6",
    "--chart-bad": "#ec7370",
    "--code-background": "#171b1a",
    "--code-foreground": "#dadcd9",
    "--code-token-constant": "#f0b487",
    "--code-token-string": "#9fd39a",
    "--code-token-string-expression": "#9fd39a",
    "--code-token-comment": "#9aa19d",
    "--code-token-keyword": "#e6a3cd",
    "--code-token-parameter": "#bdb4f3",
    "--code-token-function": PINE[3],
    "--code-token-punctuation": "#a8adaa",
    "--code-token-link": PINE[3],
    "--chart-muted": "#737a77",
  },
});

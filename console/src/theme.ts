import { type CSSVariablesResolver, createTheme, rem } from "@mantine/core";

const SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif';
const MONO = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace';

/** Names the button for screen readers. */
const CLOSE = { "aria-label": "Close" };
const CLEAR = { "aria-label": "Clear" };

export const theme = createTheme({
  primaryColor: "cyan",
  // White text on the lighter shades has less than the 4.5:1 contrast of WCAG AA.
  primaryShade: { light: 9, dark: 9 },
  fontFamily: SANS,
  fontFamilyMonospace: MONO,
  defaultRadius: "md",
  cursorType: "pointer",
  respectReducedMotion: true,
  fontSizes: { xs: rem(12), sm: rem(13.5), md: rem(15), lg: rem(17), xl: rem(20) },
  headings: {
    fontWeight: "600",
    sizes: { h1: { fontSize: rem(22) }, h2: { fontSize: rem(17) }, h3: { fontSize: rem(15) } },
  },
  components: {
    Button: { defaultProps: { size: "sm" } },
    TextInput: { defaultProps: { size: "sm" } },
    FileInput: { defaultProps: { clearButtonProps: CLEAR } },
    TagsInput: { defaultProps: { clearButtonProps: CLEAR } },
    Select: {
      defaultProps: {
        clearButtonProps: CLEAR,
        size: "sm",
        checkIconPosition: "right",
        comboboxProps: { shadow: "md" },
      },
    },
    Table: { defaultProps: { verticalSpacing: "xs", horizontalSpacing: "sm" } },
    // Its other type puts `tabIndex` on an element that does not scroll.
    TableScrollContainer: { defaultProps: { type: "native" } },
    Card: { defaultProps: { withBorder: true, padding: "md", radius: "md" } },
    Modal: { defaultProps: { centered: true, radius: "md", closeButtonProps: CLOSE } },
    Drawer: { defaultProps: { closeButtonProps: CLOSE } },
    Notification: { defaultProps: { closeButtonProps: { "aria-label": "Dismiss" } } },
    Tooltip: { defaultProps: { withArrow: true, openDelay: 300 } },
  },
});

/** Raises the contrast of dimmed and placeholder text, and of buttons below the pointer, to WCAG AA. */
export const cssVariables: CSSVariablesResolver = (given) => ({
  variables: {
    "--mantine-primary-color-filled-hover": "#095c6b",
    "--mantine-color-cyan-filled-hover": "#095c6b",
    "--mantine-color-red-filled-hover": "#a61e1e",
  },
  light: {
    "--mantine-color-dimmed": given.colors.gray[7],
    "--mantine-color-placeholder": given.colors.gray[7],
    "--mantine-color-error": given.colors.red[9],
    "--page-background": given.colors.gray[0],
    "--surface-strong": given.colors.gray[2],
    "--accent-text": given.colors.cyan[9],
    "--mantine-color-cyan-light-hover": given.colors.cyan[1],
  },
  dark: {
    "--mantine-color-dimmed": "#a9abb0",
    "--mantine-color-placeholder": "#a9abb0",
    "--mantine-color-error": given.colors.red[4],
    "--mantine-color-anchor": given.colors.cyan[4],
    "--page-background": "#1b1c1e",
    "--surface-strong": given.colors.dark[5],
    "--accent-text": given.colors.cyan[3],
    "--mantine-color-cyan-light-color": given.colors.cyan[3],
    "--mantine-color-red-light-color": given.colors.red[4],
  },
});

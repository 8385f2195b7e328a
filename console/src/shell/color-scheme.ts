/** Where Mantine stores the theme that the person chose. */
const STORAGE_KEY = "mantine-color-scheme-value";

/** Shows the chosen theme before the console is loaded; without a choice, that of the system. */
export function startColorScheme(): void {
  try {
    const scheme = localStorage.getItem(STORAGE_KEY);
    if (scheme === "light" || scheme === "dark") document.documentElement.dataset.mantineColorScheme = scheme;
  } catch {
    // A browser may refuse storage.
  }
}

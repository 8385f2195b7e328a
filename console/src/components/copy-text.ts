import { t } from "../i18n/translate.ts";

/** Copies a text. Over plain HTTP from another machine there is no `navigator.clipboard`, but the older command. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const focused = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  area.readOnly = true;
  area.className = "copy-source";
  // A dialog holds the focus within itself.
  (focused?.closest("[role=dialog]") ?? document.body).append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  if (!isCopied) throw new Error(t("The browser does not let this page copy. Select the text instead."));
}

import { t } from "../i18n/translate.ts";
/** Resolves with the content of a file as a `data:` URL. */
export function toDataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error(t("{{name}} could not be read.", { name: file.name })));
    reader.readAsDataURL(file);
  });
}

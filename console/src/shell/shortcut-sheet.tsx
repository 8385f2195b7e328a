import { t } from "../i18n/translate.ts";
import "./shortcuts.css";
import { Dialog } from "../components/dialog.tsx";
import { SHORTCUTS } from "./shortcuts.ts";

interface ShortcutSheetProps {
  onClose: () => void;
}

/** All keys of the console. */
export function ShortcutSheet({ onClose }: ShortcutSheetProps) {
  return (
    <Dialog onClose={onClose} title={t("Keyboard shortcuts")} size="lg">
      <div className="shortcuts">
        {SHORTCUTS.map(({ title, shortcuts }) => (
          <section key={t(title)}>
            <h3>{t(title)}</h3>
            <dl>
              {shortcuts.map(({ keys, label }) => (
                <div key={t(label)}>
                  <dt>{t(label)}</dt>
                  <dd>
                    {keys.map((key) => (
                      <kbd key={key}>{key}</kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}

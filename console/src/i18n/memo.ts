import { type FunctionComponent, memo as reactMemo } from "react";
import { useLanguage } from "./change-language.ts";

/** React's `memo` for functions with texts: they also render when the language changes. */
export function memo<Props extends object>(render: FunctionComponent<Props>): FunctionComponent<Props> {
  // biome-ignore lint/correctness/noComponentHookFactories: called once, while its module loads
  return reactMemo(function Translated(props: Props) {
    useLanguage();
    return render(props);
  });
}

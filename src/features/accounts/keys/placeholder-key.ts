/** Keys that clients, examples and unset variables send in the place of one. */

const WORDS = [
  ...["empty", "none", "null", "undefined", "dummy", "fake", "test", "placeholder", "example", "changeme", "anything"],
  ...[
    "key",
    "token",
    "secret",
    "api[-_ ]?key",
    "ollama",
    "lm-studio",
    "not[-_]needed",
    "no-key(-required)?",
    "1234(5678)?",
  ],
];
/** Such as `sk-...` and `xxxx`. */
const FILLERS = ["x{3,40}", "\\.{3}", "…", "\\*{3,40}"];
/** Such as `YOUR_API_KEY` and `sk-your-key`. A key's random characters may begin so, too, but are more. */
const PHRASE = "(your|my|insert|replace)[-_ ].{0,30}";
/** Such as `<key>`, `{{key}}`, `$KEY` and `%KEY%`. */
const VARIABLE = "[<{[$%].{0,60}";

const PLACEHOLDER = new RegExp(`^(${VARIABLE}|(sk-)?(${[PHRASE, ...FILLERS, ...WORDS].join("|")}))$`, "i");

export const WAY_TO_A_KEY =
  "send the key that the first start of the service printed, or ask its operator for one (`parlance keys create`).";

export function isPlaceholder(key: string): boolean {
  return PLACEHOLDER.test(key);
}

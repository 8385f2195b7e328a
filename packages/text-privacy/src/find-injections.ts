/** Finds attempts to override a model's instructions by their usual wordings. */

import type { Match } from "./match.ts";

const INSTRUCTIONS =
  "(?:instructions?|prompts?|rules?|guidelines?|directives?|directions?|commands?|constraints?|training|programming|polic(?:y|ies)|context|messages?)";
const BEFORE =
  "(?:previous|prior|above|earlier|preceding|existing|original|initial|system|foregoing|old|current|developer'?s?)";
const ANY = "(?:all |any |every |each |the |your |my |of |these |those |this |and |other ){0,5}";

const PATTERNS: ReadonlyArray<readonly [type: string, pattern: RegExp]> = [
  [
    "INSTRUCTION_OVERRIDE",
    new RegExp(
      `\\b(?:ignore|disregard|forget|discard|override|bypass|skip|neglect|drop|do not (?:follow|obey|adhere to)|don'?t (?:follow|obey)|stop following|pay no attention to) ${ANY}(?:${BEFORE} )(?:and \\w{1,20} )?${INSTRUCTIONS}\\b`,
      "gi",
    ),
  ],
  [
    "INSTRUCTION_OVERRIDE",
    /\b(?:ignore|disregard|forget|discard|override) (?:everything|all|anything)(?: that| which)? (?:you (?:were|have been|'ve been) (?:told|given|taught|instructed)|(?:was|were|is|came|comes|written|said) (?:before|above|so far)|above|before this|I said|you know)/gi,
  ],
  [
    "INSTRUCTION_OVERRIDE",
    new RegExp(
      `\\b(?:ignore|disregard|forget|override) ${ANY}${INSTRUCTIONS} (?:above|before|so far|you (?:were|have been) given|that (?:came|were given) before)`,
      "gi",
    ),
  ],
  [
    "INSTRUCTION_OVERRIDE",
    /\b(?:new|updated|revised|real|actual) (?:system )?(?:instructions?|prompt|directives?)(?: (?:follow|begin|start)s?)?[ \t]{0,2}:/gi,
  ],
  [
    "INSTRUCTION_OVERRIDE",
    /\bfrom now on,? (?:you (?:are|will|must|should|have to)|ignore|act|behave|pretend|respond)\b[^.\n]{0,80}\b(?:no (?:rules|restrictions|limits|filters?|guidelines)|unrestricted|unfiltered|uncensored|without (?:any )?(?:restrictions?|limits?|filters?|rules|censorship))/gi,
  ],
  [
    "JAILBREAK",
    /\b(?:you are (?:now )?|act as |become |pretend (?:to be|you are) |enter |enable |activate |switch to |simulate )(?:a |an |the |in |into )?(?:DAN\b|do anything now|developer mode|god mode|jailbr(?:eak|oken)|evil (?:ai|twin|mode)|unrestricted|unfiltered|uncensored|STAN\b|AIM\b|DUDE\b|opposite mode)/gi,
  ],
  ["JAILBREAK", /\bdo anything now\b|\bjailbreak(?:ed)? mode\b/gi],
  [
    "JAILBREAK",
    /\b(?:without|no|free (?:of|from)|remove|disable|turn off|bypass|lift|ignore) (?:all |any |your |the |every ){0,3}(?:ethical|moral|safety|content|openai'?s?|anthropic'?s?|google'?s?) (?:guidelines?|restrictions?|filters?|polic(?:y|ies)|constraints?|limitations?|rules?|guardrails?|filtering|protocols?)/gi,
  ],
  [
    "PROMPT_EXTRACTION",
    /\b(?:reveal|show|print|output|repeat|display|disclose|leak|expose|dump|recite|tell me|give me|what (?:is|are|was|were)|write out|return)(?: me| us)? (?:the |your |all |of |full |entire |complete |exact |verbatim |hidden |secret |original |initial |internal ){1,6}(?:system (?:prompt|message|instructions?)|(?:initial|hidden|secret|internal) (?:prompt|instructions?)|prompt verbatim)/gi,
  ],
  [
    "PROMPT_EXTRACTION",
    /\brepeat (?:the |all |everything |every word |text |words )*(?:above|before this|preceding)[^.\n]{0,60}\b(?:verbatim|word for word|starting with|code ?block|including)/gi,
  ],
  // Tokens of chat templates, which only a service writes.
  [
    "ROLE_MARKER",
    /<\|(?:im_start|im_end|system|assistant|user|endoftext|start_header_id|end_header_id|eot_id|begin_of_text)\|>|<<\/?SYS>>|\[\/?INST\]|<\/?(?:system|assistant)_?(?:prompt|message|instructions?)?>(?=[^<]{0,200})/g,
  ],
  ["ROLE_MARKER", /^(?:#{2,4} ?)(?:system|instructions?|assistant)[ \t]{0,2}:/gim],
  [
    "INSTRUCTION_OVERRIDE",
    /\b(?:ignorier(?:e|en sie)|vergiss|vergessen sie|missachte) (?:alle |die |deine |ihre |bisherigen |vorherigen |obigen |vorigen |vorangegangenen ){1,5}(?:anweisungen|instruktionen|regeln|vorgaben|befehle|prompts?)/gi,
  ],
  [
    "INSTRUCTION_OVERRIDE",
    /\b(?:ignore[zr]?|oublie[zr]?) (?:toutes? |tous |les |tes |vos |ces ){1,4}(?:instructions|consignes|r[èe]gles|directives)(?: (?:pr[ée]c[ée]dentes?|ant[ée]rieures?|ci-dessus))?/gi,
  ],
  [
    "INSTRUCTION_OVERRIDE",
    /\b(?:ignora|olvida|descarta)d? (?:todas? |las |tus |sus |estas ){1,4}(?:instrucciones|reglas|indicaciones|directrices)(?: (?:anteriores|previas))?/gi,
  ],
  [
    "INSTRUCTION_OVERRIDE",
    /\b(?:ignora|dimentica) (?:tutte |le |tue |queste ){1,4}(?:istruzioni|regole|indicazioni)(?: (?:precedenti|sopra))?/gi,
  ],
  [
    "INSTRUCTION_OVERRIDE",
    /\b(?:negeer|vergeet) (?:alle |de |je |jouw |uw ){1,4}(?:vorige |eerdere |bovenstaande )?(?:instructies|regels|opdrachten)/gi,
  ],
];

/** Characters that are invisible, and tags that hide text from people but not from models. */
const HIDDEN = /[\u{E0020}-\u{E007E}]{4,}|[\u200B-\u200F\u2060-\u2064]{8,}/gu;

export function findInjections(text: string): Match[] {
  const matches: Match[] = [];
  const readable = spaced(text);
  for (const [type, pattern] of PATTERNS) {
    for (const { index, 0: value } of readable.matchAll(pattern)) {
      matches.push({ type, start: index, end: index + value.length, score: 0.8 });
    }
  }
  for (const { index, 0: value } of text.matchAll(HIDDEN)) {
    matches.push({ type: "HIDDEN_TEXT", start: index, end: index + value.length, score: 0.8 });
  }
  return matches.sort((a, b) => a.start - b.start);
}

/** Replaces, at the same offsets, line breaks and other white space by spaces, and typographic quotes by plain ones. */
function spaced(text: string): string {
  return text.replace(/[\t\r\u00a0\u2000-\u200a\u202f\u3000]|\n(?=[a-z])/g, " ").replace(/[\u2018\u2019]/g, "'");
}

/** Cues that a text mentions people under 18. The score of sexual/minors is the sexual score scaled by them. */

/** Cues that state it. */
const CERTAIN =
  /\b(?:under-?aged?|pre-?teens?|pre-?pubescent|minors?|child(?:ren)?|childlike|kids?|toddlers?|infants?|lolis?|lolitas?|shotas?|school-?(?:girl|boy|kid|children)s?|(?:little|small|young|younger) (?:girl|boy|daughter|son|sister|brother|cousin|niece|nephew)s?|(?:six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen)[- ](?:years?[- ]old|year-?olds?)|(?:[1-9]|1[0-7]) ?(?:-? ?(?:years?|yrs?)[- ]?olds?|y\/?o|yo)|(?:she|he|i|they|who)(?:'s| is| was|'m| am| were| just turned| had just turned) (?:only |just |barely )?(?:[1-9]|1[0-7]|thirteen|fourteen|fifteen|sixteen|seventeen)|aged? (?:[1-9]|1[0-7])|(?:elementary|primary|grade|middle|junior high)[- ]school(?:er)?s?|[1-9]th grader?s?|jailbait|cp)\b/;
/** Cues that also fit people of 18 or 19. */
const LIKELY =
  /\b(?:teens?|teen-?aged?|teenagers?|adolescents?|high[- ]school(?:er)?s?|puberty|pupils?|youngsters?|homework)\b/;
/** Cues that fit adults as often. */
const POSSIBLE =
  /\b(?:girls?|boys?|daughters?|sons?|nieces?|nephews?|step-?(?:daughter|son|sister|brother)s?|virgins?|barely legal|cheerleaders?|youths?|babysitters?)\b/;

const CERTAIN_SHARE = 0.9;
const LIKELY_SHARE = 0.65;
const POSSIBLE_SHARE = 0.25;
const ABSENT_SHARE = 0.02;

/** Returns the factor from the sexual score to that of sexual/minors. Takes deobfuscated text. */
export function minorCueShare(text: string): number {
  if (CERTAIN.test(text)) return CERTAIN_SHARE;
  if (LIKELY.test(text)) return LIKELY_SHARE;
  return POSSIBLE.test(text) ? POSSIBLE_SHARE : ABSENT_SHARE;
}

/** What cleaning, splitting and `<say-as>` need to know about a language. */
export interface TextConventions {
  /** Words for the marks of web and e-mail addresses. */
  address: { dot: string; slash: string; at: string; plus: string };
  /** Source of a pattern of abbreviations whose full stop does not end a sentence, without the full stop. */
  abbreviations: string;
  /** Writes an ordinal in digits, as the language's phonemizer reads it. */
  ordinal(digits: string): string;
}

const CONVENTIONS: Readonly<Record<string, TextConventions>> = {
  en: {
    address: { dot: "dot", slash: "slash", at: "at", plus: "plus" },
    abbreviations:
      "Mr|Mrs|Ms|Dr|Prof|St|Mt|Rev|Gen|Col|Lt|Sgt|Capt|Gov|Sen|Rep|Hon|Pres|Jr|Sr|No|Nos|Fig|vs|etc|approx|e\\.g|i\\.e|cf|al",
    ordinal: (digits) => `${digits}th`,
  },
  es: {
    address: { dot: "punto", slash: "barra", at: "arroba", plus: "más" },
    abbreviations: "Sr|Sra|Srta|Dr|Dra|Prof|Ud|Uds|núm|pág|págs|av|Av|avda|tel|aprox|p|ej|EE|a|d",
    ordinal: (digits) => `${digits}.º`,
  },
  fr: {
    address: { dot: "point", slash: "barre", at: "arobase", plus: "plus" },
    abbreviations: "M|MM|Dr|Me|Mme|p|ex|av|bd|tél|env|cf|J\\.-C",
    ordinal: (digits) => `${digits}e`,
  },
  hi: {
    address: { dot: "डॉट", slash: "स्लैश", at: "ऐट", plus: "प्लस" },
    abbreviations: "डॉ|श्री|प्रो|रु",
    ordinal: (digits) => `${digits}वाँ`,
  },
  it: {
    address: { dot: "punto", slash: "barra", at: "chiocciola", plus: "più" },
    abbreviations: "Sig|Sig\\.ra|Dott|dott|Dott\\.ssa|Dr|Prof|prof|Prof\\.ssa|Ing|Avv|es|pag|pagg|tel|ca|n|a|d",
    ordinal: (digits) => `${digits}°`,
  },
  ja: {
    address: { dot: "ドット", slash: "スラッシュ", at: "アット", plus: "プラス" },
    abbreviations: "\\d",
    ordinal: (digits) => `第${digits}`,
  },
  pt: {
    address: { dot: "ponto", slash: "barra", at: "arroba", plus: "mais" },
    abbreviations: "Sr|Sra|Dr|Dra|Prof|Profa|pág|págs|Av|R|tel|aprox|p|ex|n|a|d",
    ordinal: (digits) => `${digits}º`,
  },
  zh: {
    address: { dot: "点", slash: "斜杠", at: "艾特", plus: "加" },
    abbreviations: "\\d",
    ordinal: (digits) => `第${digits}`,
  },
};

/** Conventions of a language (ISO 639-1). */
export function conventionsOf(language: string): TextConventions {
  const conventions = CONVENTIONS[language];
  if (conventions === undefined) throw new Error(`No text conventions of the language ${language}`);
  return conventions;
}

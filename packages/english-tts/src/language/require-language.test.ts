import { expect, test } from "vitest";
import { toSegments } from "../text/to-segments.ts";
import { requireLanguage, spokenText } from "./require-language.ts";

test.each([
  ["Привет, как дела? Сегодня хорошая погода.", "Cyrillic script"],
  ["Καλημέρα σας", "Greek script"],
  ["Hello, это русский текст с одним словом.", "Cyrillic script"],
  ["Ich bin heute sehr müde und gehe ins Bett.", "German"],
  ["Die Sitzung beginnt um neun Uhr, und danach gehen wir alle zusammen essen.", "German"],
  ["Je suis très fatigué aujourd'hui et je vais me coucher avec un bon livre.", "French"],
  ["La réunion commence à neuf heures et nous avons besoin de vous dans la grande salle.", "French"],
  ["Mañana por la mañana vamos a ir a la playa con los niños y con el perro.", "Spanish"],
  ["Jeg har ikke været her før, men det er en meget smuk by.", "Danish"],
  ["Nem tudom, hogy hol van a pályaudvar, de majd megkérdezem valakitől.", "Hungarian"],
  ["Saya tidak tahu di mana stasiun itu, tetapi kami akan bertanya kepada mereka.", "Indonesian"],
  ["Bonjour, comment allez-vous ?", "French"],
  ["Je suis là.", "French"],
  ["Où est la gare ?", "French"],
  ["Hola, ¿cómo estás?", "Spanish"],
  ["No sé qué hacer.", "Spanish"],
  ["Quiero un café con leche.", "Spanish"],
  ["Eu não sei nada.", "Portuguese"],
  ["Ich liebe dich.", "German"],
  ["Dzień dobry, jak się masz?", "Polish"],
  ["Xin chào, bạn khỏe không?", "Vietnamese"],
  ["Habari ya asubuhi, na karibu sana katika nyumba yetu ya zamani kwa ajili ya chakula.", "Swahili"],
  ["Leo tutaenda sokoni.", "a language other than English"],
  ["Please tell Ivan: встреча завтра утром, до свидания.", "partly|Cyrillic script"],
  ["The sign says 本日は休業いたします today.", "Japanese script"],
  ["El libro que está sobre la mesa es de mi hermano y no lo puedes tocar.", "Spanish"],
])("rejects %j", async (text, finding) => {
  await expect(requireLanguage(text, ["en"])).rejects.toMatchObject({
    name: "TtsError",
    code: "unsupported_language",
    message: expect.stringMatching(new RegExp(`${finding}.*English \\(en\\)`)),
  });
});

test("does not take the tags of SSML for words", async () => {
  const text = '<speak><s>Привет</s><break strength="strong"/><s>Пока</s></speak>';
  const segments = toSegments(text, { maxInputCharacters: 4096, maxSentenceCharacters: 200 });
  await expect(requireLanguage(spokenText(segments), ["en"])).rejects.toThrow(/Cyrillic script/);
});

test.each([
  "Hello there.",
  "Jean-Claude Van Damme met Gérard Depardieu in Paris.",
  "The Champs-Élysées and the Côte d'Azur",
  "My name is José Hernández García de la Vega.",
  "San Francisco, Los Angeles, San Diego and Sacramento",
  "Buenos Aires, Montevideo, Santiago de Chile, Rio de Janeiro, Belo Horizonte",
  "Wolfgang Amadeus Mozart, Ludwig van Beethoven, Johann Sebastian Bach",
  "Le Monde, Le Figaro, La Croix, Les Échos, Libération",
  "Que sera, sera. C'est la vie.",
  "We ate coq au vin and pain au chocolat.",
  'She said "je ne sais quoi" and then "c\'est la vie", and nobody knew what she meant by that.',
  "Dr. Müller lives in Düsseldorf on the Königsallee.",
  "Spaghetti alla carbonara, tagliatelle al ragù, tiramisù",
  "no no no no no no",
  "x x x x x x x x",
  "la la la la la da da da dum de dum de da",
  "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore et dolore.",
  "const x = 5; return x;",
  "The word 日本語 is Japanese, and Привет is Russian.",
  "π",
  "Guten Tag.",
  "Ciao bella",
  "Press any key",
  "npm install parlance",
  "Red alert, red alert",
  "El Niño hits Peru",
  "Café latte, grande",
  "Dinner menu: risotto, gnocchi, pizza",
  "Dragons eat granite on Mondays.",
  "Hakuna matata, my friend!",
  "He sang La vie en rose and left.",
  "She wrote Доброе утро at the top of a long letter about the weather, the harvest and her family.",
  "The angles α, β, γ and δ",
  "Men die at war, so was an old man in also by then.",
])("accepts %j", async (text) => {
  await expect(requireLanguage(text, ["en"])).resolves.toBeUndefined();
});

test.each([
  ["es", "Me gustaría pedir la sopa de pescado y un vaso de agua."],
  ["pt", "Não se esqueça de fechar as janelas antes de sair."],
])("accepts %s for a voice that speaks it although its function words are French too", async (language, text) => {
  await expect(requireLanguage(text, [language])).resolves.toBeUndefined();
});

test.each(["es", "fr", "it", "pt"])("refuses English for a voice that speaks %s", async (language) => {
  const text = "I would like to know when the next train to the city leaves from here.";
  await expect(requireLanguage(text, [language])).rejects.toThrow("The text appears to be English.");
});

test("names the voices that speak the language of the text", async () => {
  const voicesOf = (language: string) => (language === "de" ? ["anna", "bernd"] : []);
  await expect(requireLanguage("Ich bin heute sehr müde und gehe ins Bett.", ["es"], voicesOf)).rejects.toThrow(
    "The languages of this voice are: Spanish (es). Use one of the voices that speak it: anna, bernd.",
  );
});

test("names the languages of a voice that speaks others", async () => {
  const german = "Ich bin heute sehr müde und gehe ins Bett.";
  await expect(requireLanguage(german, ["de"])).resolves.toBeUndefined();
  const message = "The text appears to be German. The languages of this voice are: French (fr), Italian (it).";
  await expect(requireLanguage(german, ["fr", "it"])).rejects.toThrow(message);
});

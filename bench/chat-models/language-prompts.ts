/** Everyday questions in five languages, six each, with what an answer of that language has in it. */

export const LANGUAGE_PROMPTS: Readonly<Record<string, readonly (readonly [question: string, answer: RegExp])[]>> = {
  German: [
    ["Wie heißt die Hauptstadt von Österreich?", /Wien/],
    ["Was ist das Gegenteil von „kalt“? Antworte mit einem Wort.", /\b(warm|heiß)/i],
    ["Wie viele Tage hat eine Woche?", /\b(sieben|7)\b/i],
    ["Übersetze ins Englische: „Der Hund schläft.“", /dog (is sleeping|sleeps)/i],
    ["Lisa ist 9 Jahre alt, ihr Bruder ist 4 Jahre älter. Wie alt ist ihr Bruder?", /\b(13|dreizehn)\b/i],
    ["Welcher Monat folgt auf März?", /April/],
  ],
  French: [
    ["Quelle est la capitale de la Belgique ?", /Bruxelles/],
    ["Quel est le contraire de « grand » ? Réponds en un mot.", /\bpetit/i],
    ["Combien de jours y a-t-il dans une semaine ?", /\b(sept|7)\b/i],
    ["Traduis en anglais : « Le chat boit du lait. »", /cat (is drinking|drinks)( some)? milk/i],
    ["Paul a 12 pommes et en donne 5. Combien lui en reste-t-il ?", /\b(7|sept)\b/i],
    ["Quel mois vient après juillet ?", /août/i],
  ],
  Spanish: [
    ["¿Cuál es la capital de Perú?", /Lima/],
    ["¿Cuál es lo contrario de «alto»? Responde con una palabra.", /\bbaj[oa]/i],
    ["¿Cuántos días tiene una semana?", /\b(siete|7)\b/i],
    ["Traduce al inglés: «La niña lee un libro.»", /girl (is reading|reads) a book/i],
    ["Ana tiene 8 euros y gasta 3. ¿Cuánto le queda?", /\b(5|cinco)\b/i],
    ["¿Qué mes viene después de enero?", /febrero/i],
  ],
  Portuguese: [
    ["Qual é a capital de Portugal?", /Lisboa/],
    ["Qual é o contrário de «rápido»? Responda com uma palavra.", /\b(lento|devagar)/i],
    ["Quantos dias tem uma semana?", /\b(sete|7)\b/i],
    ["Traduza para o inglês: «O menino come pão.»", /boy (is eating|eats)( some)? bread/i],
    ["Um livro custa 15 reais. Quanto custam dois livros?", /\b(30|trinta)\b/i],
    ["Que mês vem depois de abril?", /maio/i],
  ],
  Chinese: [
    ["日本的首都是哪里？", /东京/],
    ["“大”的反义词是什么？只回答一个字。", /小/],
    ["一个星期有几天？", /七|7/],
    ["翻译成英文：“我喜欢喝茶。”", /I (like|love|enjoy)( to drink| drinking)? tea/i],
    ["小明有10个苹果，吃了4个，还剩几个？", /6|六/],
    ["三月之后是几月？", /四月|4月/],
  ],
};

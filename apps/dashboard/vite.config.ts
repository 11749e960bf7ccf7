/**
 * The build of the console: one origin and nothing inlined, so that the hub's
 * Content-Security-Policy needs no exception.
 */
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defaultClientConditions, defineConfig, type Plugin } from 'vite';

/** The hub that `npm run dev:dashboard` talks to. */
const hub = process.env['FLOTILLA_HUB'] ?? 'http://127.0.0.1:8080';
/**
 * GraphiQL has its fonts as data inside of its style sheet, which `font-src 'self'` forbids. The
 * console has fonts already.
 */
const withoutInlinedFonts: Plugin = {
  name: 'without-inlined-fonts',
  enforce: 'pre',
  transform: (code, id) =>
    /graphiql[/\\]dist[/\\]style\.css$/.test(id) ? code.replaceAll(/@font-face\s*{[^}]*}/g, '') : undefined,
};

const proxied = Object.fromEntries(['/graphql', '/api'].map((path) => [path, { target: hub, ws: true }]));

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [withoutInlinedFonts, react()],
  // The sources of libs/client, so that the console is built while the compiler works.
  resolve: { conditions: ['@flotilla/source', ...defaultClientConditions] },
  server: { proxy: proxied },
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // ECharts and GraphiQL, which come with the pages that need them.
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      // "use client" and its kin mean nothing in one bundle for browsers.
      onLog: (level, log, report) => {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') report(level, log);
      },
    },
  },
});

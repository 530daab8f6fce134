import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** `npm run build` puts the page into dist/web, from where the server hands it out. */
export default defineConfig({
  root: 'web',
  plugins: [react()],
  build: { outDir: '../dist/web', emptyOutDir: true, target: 'es2023', sourcemap: false, assetsInlineLimit: 0 },
  server: { proxy: { '/api': 'http://127.0.0.1:4114' } },
});

import { svelte } from '@sveltejs/vite-plugin-svelte';
import { svelteTesting } from '@testing-library/svelte/vite';
import { defineConfig } from 'vitest/config';

export default defineConfig(({ mode }) => ({
	// The scripted kernel is for development, tests and pictures; the product does not hold it.
	define: { __FAKE__: JSON.stringify(mode !== 'production') },
	// The window serves the page from a scheme of its own, so every address is relative.
	base: './',
	plugins: [svelte(), svelteTesting()],
	build: {
		outDir: mode === 'fake' ? 'test-results/fake' : 'dist',
		target: 'es2022',
		// Fonts stay files: as data in the style sheet each would be loaded at every start.
		assetsInlineLimit: 0,
		chunkSizeWarningLimit: 900,
	},
	server: { strictPort: true },
	preview: { strictPort: true },
	test: {
		environment: 'happy-dom',
		include: ['src/**/*.test.ts'],
		setupFiles: ['src/waiting.setup.ts'],
		testTimeout: 30_000,
		// The contrast of the colours is computed from the sheet itself.
		css: { include: [/tokens\.css/] },
		restoreMocks: true,
	},
}));

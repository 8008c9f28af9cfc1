import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    include: ['test/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'test/agents/**'],
    // Only what hangs is to end: bounded work may take as long as a busy machine needs.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    pool: 'forks',
    // By itself it leaves a core to whoever is at the keyboard.
    maxWorkers: 2,
  },
})

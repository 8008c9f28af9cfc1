import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    include: ['test/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'test/agents/**'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // By itself it leaves a core to whoever is at the keyboard.
    maxWorkers: 2,
  },
})

import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/enter-clean-room.ts'],
    include: ['test/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'test/agents/**'],
    // Only what hangs is to end: bounded work may take as long as a busy machine needs.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    pool: 'forks',
    // One more than two cores: some files wait most of the time, for a lease to expire or a server to give up.
    maxWorkers: 3,
  },
})

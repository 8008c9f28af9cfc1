import { defineConfig } from 'vitest/config'

/** These change what belongs to the whole process, such as its modules or its environment: each gets a process of its own. */
const ALONE = [
  'test/embedded/**/*.test.ts',
  'test/startup/**/*.test.ts',
  'test/clean-room.test.ts',
  'test/store-rule/**/*.test.ts',
]

const common = {
  setupFiles: ['test/support/enter-clean-room.ts'],
  exclude: ['**/node_modules/**', 'test/agents/**'],
  // Only what hangs is to end: bounded work may take as long as a busy machine needs.
  testTimeout: 600_000,
  hookTimeout: 600_000,
  pool: 'forks' as const,
}

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    // One more than two cores: some files wait most of the time, for a lease to expire or a server to give up.
    maxWorkers: 3,
    projects: [
      {
        test: {
          ...common,
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: [...common.exclude, ...ALONE],
          // The sources are loaded once in each worker, and not once in each file: a third of the whole time.
          isolate: false,
        },
      },
      { test: { ...common, name: 'alone', include: ALONE } },
    ],
  },
})

import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that are known to take long, or to wait long: they begin first, so that nobody waits for one of them at the end. */
const LONG = [
  'test/embedded/replaced-folder.test.ts',
  'test/embedded/replaced-moment.test.ts',
  'test/embedded/killed-maker.test.ts',
  'test/linear/linear.test.ts',
  'test/readme-commands.test.ts',
  'test/adapters/store-contract/pglite.test.ts',
  'test/adapters/store-contract/postgres.test.ts',
  'test/adapters/store-contract/pooled.test.ts',
  'test/adapters/store-contract/shared.test.ts',
  'test/documentation.test.ts',
  'test/features.test.ts',
  'test/set-back/set-back-runs.test.ts',
  'test/faults/half-open-connection.test.ts',
  'test/faults/reply-lost.test.ts',
  'test/partitions/partitions.test.ts',
  'test/kill/orphans.test.ts',
]

/** The long files of each project first; the others as they would be. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number => {
      const place = LONG.findIndex((name) => moduleId.endsWith(name))
      return place < 0 ? LONG.length : place
    }
    // Those that are alone come first: a worker that is shared lasts until one of them is next.
    const isAlone = ({ project }: TestSpecification): number => (project.config.isolate ? 0 : 1)
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => isAlone(a) - isAlone(b) || placeOf(a) - placeOf(b))
  }
}

/**
 * Files whose tests leave nothing behind in their process, no module, timer or variable: a worker loads the sources once
 * and takes one of these after the other. Every other file has a process of its own.
 */
const SHARED = [
  ...[
    'audit',
    'cases',
    'chaos',
    'cli',
    'commands',
    'config',
    'decisions',
    'doctor',
    'domain',
    'doors',
    'failover',
    'fleet',
  ],
  ...[
    'hints',
    'hook-client',
    'hooks',
    'install',
    'linear',
    'look-back',
    'memory-file',
    'model',
    'origins',
    'partitions',
    'pressure',
  ],
  ...['processes', 'races', 'replay', 'retention', 'run-tools', 'runner', 'runtimes', 'secrets', 'set-back'],
  ...['telemetry', 'terminal', 'text-of-others', 'thread'],
].map((folder) => `test/${folder}/**/*.test.ts`)

/**
 * Files of shared folders that move the clock. The clock of the library never goes back, so it would stand still in the files
 * after them, where a lease is waited for: each has a process of its own.
 */
const MOVES_THE_CLOCK = [
  'test/retention/pruner.test.ts',
  'test/runner/outages.test.ts',
  'test/runner/run-parts.test.ts',
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
    // More than two cores: some files wait most of the time, for a lease to expire or a server to give up.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...common,
          name: 'shared',
          include: SHARED,
          exclude: [...common.exclude, ...MOVES_THE_CLOCK],
          isolate: false,
        },
      },
      { test: { ...common, name: 'clock', include: MOVES_THE_CLOCK } },
      {
        test: {
          ...common,
          name: 'alone',
          include: ['test/**/*.test.ts'],
          exclude: [...common.exclude, ...SHARED],
        },
      },
    ],
  },
})

import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const CUCUMBER = path.join(ROOT, 'node_modules/@cucumber/cucumber/bin/cucumber.js')
const RUN_MS = 600_000

/** Those parts of Cucumber's messages that this file asks about. */
interface Envelope {
  readonly gherkinDocument?: { readonly uri: string; readonly feature?: { readonly children: readonly Child[] } }
  readonly pickle?: { readonly id: string; readonly name: string; readonly steps: readonly PickleStep[] }
  readonly stepDefinition?: { readonly id: string; readonly pattern: { readonly source: string } }
  readonly parameterType?: { readonly name: string }
  readonly testCase?: { readonly id: string; readonly pickleId: string; readonly testSteps: readonly TestStep[] }
  readonly testCaseStarted?: { readonly id: string; readonly testCaseId: string }
  readonly testStepFinished?: {
    readonly testCaseStartedId: string
    readonly testStepId: string
    readonly testStepResult: { readonly status: string }
  }
}

interface Child {
  readonly rule?: { readonly children: readonly Child[] }
  readonly scenario?: { readonly examples: readonly { readonly tableBody: readonly unknown[] }[] }
}

interface PickleStep {
  readonly id: string
  readonly text: string
  readonly type: string
}

interface TestStep {
  readonly id: string
  readonly pickleStepId?: string
  readonly stepDefinitionIds?: readonly string[]
}

interface Run {
  readonly exitCode: number
  readonly output: string
  readonly envelopes: readonly Envelope[]
}

let directory: string

beforeAll(async () => {
  // Inside the package, so that planted step files find Cucumber; `reports` is ignored by git.
  await mkdir(path.join(ROOT, 'reports'), { recursive: true })
  directory = await mkdtemp(path.join(ROOT, 'reports/features-test-'))
})

afterAll(() => rm(directory, { recursive: true }))

/** Runs Cucumber as `npm run features` does, and reads the messages it wrote. */
const runFeatures = async (...args: readonly string[]): Promise<Run> => {
  const messages = path.join(directory, `${randomUUID()}.ndjson`)
  const command = ['--import', 'tsx', CUCUMBER, '--format', `message:${messages}`, ...args]
  const { exitCode, output } = await new Promise<Omit<Run, 'envelopes'>>((resolve) => {
    execFile(process.execPath, command, { cwd: ROOT, maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
      resolve({ exitCode: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr }),
    )
  })
  const text = await readFile(messages, 'utf8').catch(() => '')
  const lines = text.split('\n').filter((line) => line !== '')
  return { exitCode, output, envelopes: lines.map((line) => JSON.parse(line) as Envelope) }
}

const pick = <Key extends keyof Envelope>({ envelopes }: Run, key: Key): readonly NonNullable<Envelope[Key]>[] =>
  envelopes.flatMap((envelope) => envelope[key] ?? [])

/** How many scenarios a feature has, outlines counted by their examples. */
const countScenarios = (children: readonly Child[]): number =>
  children.reduce((sum, { rule, scenario }) => sum + (rule ? countScenarios(rule.children) : countOf(scenario)), 0)

const countOf = (scenario: Child['scenario']): number => {
  if (scenario === undefined) return 0
  if (scenario.examples.length === 0) return 1
  return scenario.examples.reduce((sum, { tableBody }) => sum + tableBody.length, 0)
}

/** Each scenario that ran, with how each of its steps ended, hooks left out. */
const outcomes = (run: Run) => {
  const pickles = new Map(pick(run, 'pickle').map((pickle) => [pickle.id, pickle]))
  const cases = new Map(pick(run, 'testCase').map((testCase) => [testCase.id, testCase]))
  const finished = pick(run, 'testStepFinished')
  return pick(run, 'testCaseStarted').map(({ id, testCaseId }) => {
    const testCase = cases.get(testCaseId)
    const pickle = pickles.get(testCase?.pickleId ?? '')
    const ended = finished.filter(({ testCaseStartedId }) => testCaseStartedId === id)
    const statuses = new Map(ended.map(({ testStepId, testStepResult }) => [testStepId, testStepResult.status]))
    const steps = (testCase?.testSteps ?? []).flatMap((testStep) => {
      const step = pickle?.steps.find((candidate) => candidate.id === testStep.pickleStepId)
      return step === undefined ? [] : [{ ...step, status: statuses.get(testStep.id) ?? 'not run' }]
    })
    return { name: pickle?.name ?? 'unknown', steps, statuses: [...statuses.values()] }
  })
}

describe('the living documentation', () => {
  let run: Run

  beforeAll(async () => {
    run = await runFeatures()
  }, RUN_MS)

  it('passes', () => {
    expect(run.exitCode, run.output).toBe(0)
  })

  it('reads every feature file there is', async () => {
    const files = await readdir(path.join(ROOT, 'features'), { recursive: true })
    const features = files.filter((file) => file.endsWith('.feature')).map((file) => path.join('features', file))
    const read = pick(run, 'gherkinDocument').map(({ uri }) => uri)
    expect(read.toSorted()).toStrictEqual(features.toSorted())
  })

  it('carries out every scenario, every step of it', () => {
    const features = pick(run, 'gherkinDocument').map(({ feature }) => feature?.children ?? [])
    const written = features.reduce((sum, children) => sum + countScenarios(children), 0)
    const ran = outcomes(run)
    expect(written).toBeGreaterThan(0)
    expect(ran).toHaveLength(written)
    expect(ran.filter(({ steps }) => steps.length === 0).map(({ name }) => name)).toStrictEqual([])
    expect(new Set(ran.flatMap(({ statuses }) => statuses))).toStrictEqual(new Set(['PASSED']))
    expect(new Set(ran.flatMap(({ steps }) => steps.map(({ status }) => status)))).toStrictEqual(new Set(['PASSED']))
  })

  it('looks at something at the end of every scenario', () => {
    const aimless = outcomes(run).filter(({ steps }) => steps.at(-1)?.type !== 'Outcome')
    expect(aimless.map(({ name }) => name)).toStrictEqual([])
  })

  it('uses every step definition and every parameter type', () => {
    const used = new Set(
      pick(run, 'testCase').flatMap(({ testSteps }) => testSteps.flatMap((step) => step.stepDefinitionIds ?? [])),
    )
    const definitions = pick(run, 'stepDefinition')
    const patterns = definitions.map(({ pattern }) => pattern.source)
    const types = pick(run, 'parameterType').map(({ name }) => name)
    expect(definitions.filter(({ id }) => !used.has(id)).map(({ pattern }) => pattern.source)).toStrictEqual([])
    expect(types.filter((name) => !patterns.some((source) => source.includes(`{${name}}`)))).toStrictEqual([])
  })
})

describe('a scenario looks at what was kept, not at what a command answered', () => {
  it(
    'every scenario fails, in a Then step, when the ports find nothing',
    async () => {
      const run = await runFeatures('--world-parameters', '{"blind":true}')
      const first = outcomes(run).map(({ name, steps }) => ({
        name,
        failed: steps.find(({ status }) => status === 'FAILED'),
      }))
      expect(first.length).toBeGreaterThan(0)
      expect(first.filter(({ failed }) => failed?.type !== 'Outcome')).toStrictEqual([])
    },
    RUN_MS,
  )
})

const PLANTED_STEPS = `import { Given } from '@cucumber/cucumber'
Given('a pending step', () => 'pending')
Given('a skipped step', () => 'skipped')
Given('an ambiguous step', () => {})
Given(/^an ambiguous step$/, () => {})
Given('a failing step', () => { throw new Error('planted') })
Given('a good step', () => {})
`

describe('a scenario that was not carried out fails the run', () => {
  const plant = async (step: string): Promise<Run> => {
    const name = step.replaceAll(' ', '-')
    const [feature, steps] = [path.join(directory, `${name}.feature`), path.join(directory, `${name}.mjs`)]
    await writeFile(feature, `Feature: planted\n  Scenario: planted\n    Given ${step}\n`)
    await writeFile(steps, PLANTED_STEPS)
    return runFeatures('--import', steps, feature)
  }

  it.each(['an undefined step', 'a pending step', 'a skipped step', 'an ambiguous step', 'a failing step'])(
    '%s',
    async (step) => {
      const run = await plant(step)
      expect(pick(run, 'testCaseStarted')).toHaveLength(1)
      expect(run.exitCode, run.output).not.toBe(0)
    },
    RUN_MS,
  )

  it(
    'a good step passes, so it is not the planting that fails',
    async () => {
      const run = await plant('a good step')
      expect(pick(run, 'testCaseStarted')).toHaveLength(1)
      expect(run.exitCode, run.output).toBe(0)
    },
    RUN_MS,
  )
})

import { tmpdir } from 'node:os'
import { describe, expect, it } from 'vitest'
import { agentSdkReader } from '../../src/adapters/claude/readers/agent-sdk-reader.ts'
import { claudeCommandRuntime } from '../../src/adapters/claude/runtime/claude-command-runtime.ts'
import { execReader } from '../../src/adapters/codex/readers/exec-reader.ts'
import { commandRuntime } from '../../src/adapters/runtime/command-runtime.ts'
import { functionRuntime } from '../../src/adapters/runtime/function-runtime.ts'
import { AGENT_ENDS, type AgentReport, type AgentStop } from '../../src/domain/run/agent-end.ts'
import { windowReaders } from '../../src/main/runtimes.ts'
import type { AgentRuntime, RuntimeEnd, RuntimeStep } from '../../src/ports/agent/agent-runtime.ts'

const WINDOW_READERS = await windowReaders()

const stepsOf = async (runtime: AgentRuntime): Promise<readonly RuntimeStep<unknown>[]> => {
  const steps: RuntimeStep<unknown>[] = []
  const workspace = { workingDirectory: tmpdir() }
  const agent = runtime.start({ prompt: 'Fix it', signal: new AbortController().signal, workspace })
  for await (const step of agent.steps) steps.push(step)
  return steps
}

const endOf = async (runtime: AgentRuntime): Promise<RuntimeEnd | undefined> => (await stepsOf(runtime)).at(-1)?.end

/** A program that writes these lines and then does what the last words say. */
const program = (records: readonly (object | string)[], last = ''): readonly string[] => {
  const text = records.map((record) => (typeof record === 'string' ? record : JSON.stringify(record))).join('\n')
  return [process.execPath, '-e', `process.stdout.write(${JSON.stringify(text)}, () => { ${last} })`]
}
const byCommand = (records: readonly (object | string)[], last?: string) =>
  commandRuntime({ command: program(records, last), readers: WINDOW_READERS })

const byFunction = (records: readonly unknown[], read = agentSdkReader, thrown?: Error) =>
  functionRuntime<unknown>({
    backend: 'mine',
    start: async function* () {
      yield* records
      if (thrown !== undefined) throw thrown
    },
    read,
  })

const ANSWER = { type: 'assistant', session_id: 's', message: { id: 'm', content: [{ type: 'text', text: 'Hm.' }] } }
const result = (more: object) => ({ type: 'result', session_id: 's', ...more })
const GOOD = result({ subtype: 'success', is_error: false, result: 'Done.' })
const BAD = result({ subtype: 'success', is_error: true, result: 'The key is not valid.' })

const BADLY = 'process.exitCode = 3'
const TOO_LONG = `process.stdout.write('x'.repeat(65 * 1024 * 1024) + '\\n')`

describe('the end of a program', () => {
  type Cell = readonly [records: readonly object[], last: string, end: object]
  const HOW_BAD = 'The command ended with exit code 3.'
  const CELLS: Readonly<Record<AgentStop, Record<AgentReport, Cell>>> = {
    well: {
      success: [[ANSWER, GOOD], '', { type: 'idle' }],
      error: [[ANSWER, BAD], '', { type: 'failed', message: 'The key is not valid.' }],
      nothing: [[ANSWER], '', { type: 'idle' }],
      'a line that was cut': [[ANSWER], TOO_LONG, { type: 'failed', message: /ended without a result.* cut/ }],
      'no known line': [[{ no: 'record' }], '', { type: 'failed', message: /no line of a known format/ }],
    },
    badly: {
      success: [[ANSWER, GOOD], BADLY, { type: 'failed', message: HOW_BAD }],
      error: [[ANSWER, BAD], BADLY, { type: 'failed', message: `The key is not valid. ${HOW_BAD}` }],
      nothing: [[ANSWER], BADLY, { type: 'failed', message: HOW_BAD }],
      'a line that was cut': [[ANSWER], `${TOO_LONG}; ${BADLY}`, { type: 'failed', message: HOW_BAD }],
      'no known line': [[{ no: 'record' }], BADLY, { type: 'failed', message: HOW_BAD }],
    },
  }
  const cells = (Object.keys(AGENT_ENDS) as AgentStop[]).flatMap((how) =>
    (Object.keys(AGENT_ENDS[how]) as AgentReport[]).map((said) => [how, said] as const),
  )

  it.each(cells)('that stopped %s and said %s', async (how, said) => {
    const [records, last, { message, ...end }] = CELLS[how][said] as unknown as [
      object[],
      string,
      { message?: unknown },
    ]
    const found = await endOf(byCommand(records, `process.stdout.write('\\n'); ${last}`))
    expect(found).toMatchObject(end)
    if (message instanceof RegExp) expect((found as { message: string }).message).toMatch(message)
    else expect((found as { message?: string }).message).toBe(message)
  })

  it('by a signal is a failure, whatever it said', async () => {
    const killed = `process.kill(process.pid, 'SIGKILL')`
    expect(await endOf(byCommand([ANSWER, GOOD], killed))).toMatchObject({
      message: 'The command was ended by SIGKILL.',
    })
  })

  it('is read from a last line without a line break, and from broken UTF-8', async () => {
    expect(await endOf(byCommand([ANSWER, BAD]))).toMatchObject({ type: 'failed', message: 'The key is not valid.' })
    const broken = `process.stdout.write(Buffer.concat([Buffer.from('\\n'), Buffer.from(${JSON.stringify(
      JSON.stringify(BAD),
    )}.replace('key', 'k\\u00ffy'), 'latin1')]))`
    expect(await endOf(byCommand([ANSWER], broken))).toMatchObject({ message: 'The k\ufffdy is not valid.' })
  })

  it('with words on the error output only is a failure with these words', async () => {
    const end = await endOf(byCommand([], `console.error('no licence')`))
    expect(end).toMatchObject({ type: 'failed', message: expect.stringMatching(/known format.* It said: no licence$/) })
  })

  it('leaves a line that was too long on record, as cut', async () => {
    const steps = await stepsOf(
      byCommand(
        [ANSWER],
        `process.stdout.write('\\n'); ${TOO_LONG}; console.log(${JSON.stringify(JSON.stringify(GOOD))})`,
      ),
    )
    const texts = steps.flatMap((step) => step.texts.map(({ text }) => text))
    expect(texts).toContainEqual(expect.stringMatching(/^This line of the agent was cut.* It begins: x{1000}$/))
    expect(steps.at(-1)?.end).toEqual({ type: 'idle' })
  })
})

describe('what agents report', () => {
  it.each<[string, object, object]>([
    ['a result without a subtype', result({ is_error: false }), { type: 'idle' }],
    ['an error without a subtype', result({ is_error: true, result: 'Oh.' }), { type: 'failed', message: 'Oh.' }],
    ['too many turns', result({ subtype: 'error_max_turns' }), { type: 'failed', message: /all the turns/ }],
    ['an error at work', result({ subtype: 'error_during_execution', errors: ['Bang.'] }), { message: 'Bang.' }],
    ['a full window', result({ is_error: true, result: 'Prompt is too long' }), { type: 'overflow' }],
    ['an abort', result({ subtype: 'error', terminal_reason: 'aborted_streaming' }), { type: 'interrupted' }],
  ])('%s, to a program and to a function', async (_, record, { message, ...end }: { message?: unknown }) => {
    for (const runtime of [byCommand([ANSWER, record]), byFunction([ANSWER, record])]) {
      const found = await endOf(runtime)
      expect(found).toMatchObject(end)
      if (message !== undefined) expect((found as { message: string }).message).toMatch(message as string)
    }
  })

  const STARTED = { type: 'turn.started' }
  const failed = (message: string) => ({ type: 'turn.failed', error: { message } })
  it.each<[string, readonly object[], object]>([
    ['a turn that is completed', [STARTED, { type: 'turn.completed' }], { type: 'idle' }],
    ['a turn that failed', [STARTED, failed('No quota.')], { type: 'failed', message: 'No quota.' }],
    ['a turn that failed without a word', [STARTED, { type: 'turn.failed' }], { type: 'failed' }],
    ['an error', [STARTED, { type: 'error', message: 'Lost.' }], { type: 'failed', message: 'Lost.' }],
    [
      'an error and another try',
      [STARTED, { type: 'error', message: 'x' }, { type: 'turn.completed' }],
      { type: 'idle' },
    ],
    ['a full window', [STARTED, failed("Codex ran out of room in the model's context window")], { type: 'overflow' }],
  ])('as Codex does: %s, to a program and to a function', async (_, records, end) => {
    expect(await endOf(byCommand(records))).toMatchObject(end)
    expect(await endOf(byFunction(records, execReader))).toMatchObject(end)
  })

  it('before anybody knows the format', async () => {
    expect(await endOf(byCommand([{ type: 'error', message: 'No key.' }]))).toMatchObject({ message: 'No key.' })
  })
})

describe('the end of a function', () => {
  it('that throws after it reported an error has the words of the report', async () => {
    const end = await endOf(byFunction([ANSWER, BAD], agentSdkReader, new Error('exit code 1')))
    expect(end).toEqual({ type: 'failed', message: 'The key is not valid. exit code 1' })
  })

  it('that throws because its prompt was too long is an overflow', async () => {
    const thrown = new Error('400 prompt is too long: 210000 tokens > 200000 maximum')
    expect(await endOf(byFunction([ANSWER], agentSdkReader, thrown))).toMatchObject({ type: 'overflow' })
  })

  it('that throws anything else rejects with it, also after a success', async () => {
    for (const records of [[ANSWER], [ANSWER, GOOD]])
      await expect(endOf(byFunction(records, agentSdkReader, new Error('Bang.')))).rejects.toThrow('Bang.')
  })
})

describe('the claude command', () => {
  it('leaves a line that was too long on record, as cut', async () => {
    const [command = '', ...args] = program([], `${TOO_LONG}; console.log(${JSON.stringify(JSON.stringify(GOOD))})`)
    const steps = await stepsOf(claudeCommandRuntime({ command, args: [...args, '--'] }) as AgentRuntime)
    expect(steps[0]?.texts).toEqual([
      { role: 'assistant', text: expect.stringMatching(/^This line of the agent was cut/) },
    ])
    expect(steps.at(-1)?.end).toEqual({ type: 'idle' })
  })
})

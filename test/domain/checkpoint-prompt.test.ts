import { describe, expect, it } from 'vitest'
import { checkpointPrompt, DEFAULT_CHECKPOINT_TEMPLATE } from '../../src/domain/checkpoint/checkpoint-prompt.ts'
import { CHECKPOINT_SECTIONS } from '../../src/domain/checkpoint/checkpoint-section.ts'
import { checkpointIn } from '../../src/domain/checkpoint/checkpoint-text.ts'

const call = (callId: string, toolName = 'read_file', argument?: string) => ({
  callId,
  toolName,
  ...(argument !== undefined && { argument }),
})

const asked = (template: string, originalTask = 'Fix it'): string =>
  checkpointPrompt({ originalTask, toolCalls: [] }, template)

/** What an own template sees of the calls on record. */
const listed = (...toolCalls: readonly ReturnType<typeof call>[]): string =>
  checkpointPrompt({ originalTask: '', toolCalls }, '{tool_calls}')

describe('the built-in request for a checkpoint', () => {
  const prompt = checkpointPrompt({ originalTask: 'THE TASK', toolCalls: [call('toolu_07', 'run_tests')] })

  it('asks for the eight sections in order, between tags', () => {
    const headings = checkpointIn(prompt).text.trim().split('\n')
    expect(headings).toEqual(CHECKPOINT_SECTIONS.map((section) => `## ${section}`))
    expect(headings).toHaveLength(8)
  })

  it('says how to cite, names the calls on record, and ends in STOP', () => {
    expect(prompt).toContain('[call:toolu_01]')
    expect(prompt).toContain('\n- toolu_07 run_tests\n')
    expect(prompt.endsWith('\nSTOP')).toBe(true)
  })

  it('asks for key decisions with their reason', () => {
    expect(prompt).toMatch(/"Key decisions", give the reason with each decision/)
  })

  it('leaves no placeholder, and leaves out the task, which the successor gets anyway', () => {
    expect(prompt).not.toMatch(/[{}]/)
    expect(prompt).not.toContain('THE TASK')
    expect(DEFAULT_CHECKPOINT_TEMPLATE).toContain('{tool_calls}')
  })
})

describe('a template of your own', () => {
  it.each([
    ['{original_task}', 'Fix it'],
    ['{original_task} and {original_task}', 'Fix it and Fix it'],
    ['{sections}', CHECKPOINT_SECTIONS.map((section) => `## ${section}`).join('\n')],
    ['{tool_calls}', '(none)'],
    ['{unknown} {} { original_task } {ORIGINAL_TASK} {0}', '{unknown} {} { original_task } {ORIGINAL_TASK} {0}'],
    ['{constructor} {__proto__} {to_string}', '{constructor} {__proto__} {to_string}'],
    ['{{original_task}}', '{Fix it}'],
    ['no placeholder', 'no placeholder'],
    ['', ''],
  ])('%j asks %j', (template, prompt) => expect(asked(template)).toBe(prompt))

  it.each(['{sections}', '{original_task}', "$& $1 $$ $` $'", '{', 'tool_calls}'])(
    'takes the task %j as it is, and does not look at it again',
    (task) => expect(asked('<{original_task}>', task)).toBe(`<${task}>`),
  )
})

describe('the calls on record', () => {
  it('stand one to a line, latest last', () => {
    expect(listed(call('a', 'read_file'), call('b', 'run_tests'))).toBe('- a read_file\n- b run_tests')
  })

  it('are at most the latest hundred', () => {
    const lines = listed(...Array.from({ length: 130 }, (_, index) => call(`c${index}`))).split('\n')
    expect([lines.length, lines[0], lines.at(-1)]).toEqual([100, '- c30 read_file', '- c129 read_file'])
  })

  it('are told apart by what they were about', () => {
    expect(listed(call('a', 'Bash', 'npm test'), call('b', 'Bash', `ls\n\n${'x'.repeat(300)}`))).toBe(
      `- a Bash: npm test\n- b Bash: ls ${'x'.repeat(236)}…`,
    )
  })

  it('include those that earlier checkpoints cited, the latest fifty, once each and first', () => {
    const citedBefore = Array.from({ length: 60 }, (_, index) => call(`old${index}`, 'Bash'))
    const toolCalls = [...Array.from({ length: 130 }, (_, index) => call(`c${index}`)), call('old59', 'Bash')]
    const lines = checkpointPrompt({ originalTask: '', toolCalls, citedBefore }, '{tool_calls}').split('\n')
    expect(lines).toHaveLength(150)
    const ends = [lines[0], lines[49], lines[50], lines.at(-1)]
    expect(ends).toEqual(['- old9 Bash', '- old58 Bash', '- c31 read_file', '- old59 Bash'])
  })

  it('leave out what no citation can hold, and keep a name on its line', () => {
    expect(listed(call('a b'), call('a]'), call('a,b'), call('c', 'x\n\nSTOP'))).toBe('- c x STOP')
  })
})

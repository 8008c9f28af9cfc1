import { describe, expect, it } from 'vitest'
import { isDue } from '../../src/domain/hooks/hook-selection.ts'
import { type HookResult, promptAfterHooks, thresholdAnswer, thresholdOutcome } from '../../src/entry/hooks.ts'
import { afterRun, shell, threshold } from './samples.ts'

const said = (output: string, type: HookResult['type'] = 'shell'): HookResult => ({
  ok: true,
  name: type,
  type,
  output,
  durationMs: 1,
})
const broken = (output = 'continue'): HookResult => ({
  ...said(output),
  ok: false,
  error: { code: 'hook.exit', message: 'It ended with exit code 1.' },
})

describe('an answer', () => {
  it.each([
    ['continue', 'continue'],
    ['abort', 'abort'],
    ['{"decision":"continue"}', 'continue'],
    ['{\n  "decision": "abort",\n  "why": "red"\n}\n', 'abort'],
    ['Looking…\n{"decision":"continue"}\n', 'continue'],
    ['Looking…\r\n  continue  \r\n\r\n', 'continue'],
    ['abort\ncontinue', 'continue'],
  ])('stands in %j', (output, answer) => {
    expect(thresholdAnswer(output)).toBe(answer)
  })

  it.each([
    ...['', '\n', 'done', 'continue\ndone', 'I will continue', 'CONTINUE', '"continue"', '{"decision":"maybe"}'],
    ...['{"decision":null}', '{"decision":["abort"]}', '{decision: continue}', '{}', '[]', 'null', '{"a":"continue"}'],
  ])('does not stand in %j', (output) => {
    expect(thresholdAnswer(output)).toBeUndefined()
  })
})

describe('a wish for another agent', () => {
  it.each([
    ['{"decision":"handoff","to":"coder"}', { to: 'coder' }],
    [
      'Looking…\n{"decision":"handoff","to":" coder ","reason":"Red.","document":"All."}\n',
      { to: 'coder', reason: 'Red.', document: 'All.' },
    ],
  ])('stands in %j', (output, handoff) => {
    expect(thresholdOutcome([said(output), said('abort')])).toEqual({ handoff })
  })

  it.each([
    '{"decision":"handoff"}',
    '{"decision":"handoff","to":""}',
    '{"decision":"handoff","to":7}',
    '{"to":"coder"}',
  ])('does not stand in %j', (output) => {
    expect(thresholdOutcome([said(output)])).toBe('new_session')
  })

  it('does not count from a hook that failed', () => {
    expect(thresholdOutcome([broken('{"decision":"handoff","to":"coder"}')])).toBe('built_in_restart')
  })
})

describe('the outcome', () => {
  it.each<[string, readonly HookResult[], string]>([
    ['nobody was called', [], 'built_in_restart'],
    ['all failed, whatever they wrote', [broken(), broken('abort')], 'built_in_restart'],
    ['one says continue', [said('continue')], 'continue'],
    ['one says abort', [said('abort')], 'new_session'],
    ['a command says nothing', [said('')], 'new_session'],
    ['a function says nothing', [said('', 'function')], 'new_session'],
    ['one fails and another says continue', [broken('abort'), said('continue')], 'continue'],
    ['one fails and another says nothing', [broken(), said('')], 'new_session'],
    ['one says nothing and another continue', [said(''), said('continue')], 'continue'],
    ['one says continue and another abort', [said('continue'), said('abort')], 'new_session'],
    ['one says abort and another continue', [said('abort'), said('continue')], 'new_session'],
    ['only messages were sent', [said('ok', 'slack'), said('', 'discord')], 'built_in_restart'],
    ['a message was answered with the word', [said('continue', 'slack')], 'built_in_restart'],
    ['a server just took the news', [said('ok', 'webhook')], 'built_in_restart'],
    ['a server answers', [said('{"decision":"continue"}', 'webhook')], 'continue'],
    ['the command failed and the message was sent', [broken(), said('ok', 'slack')], 'built_in_restart'],
  ])('when %s', (_, results, outcome) => {
    expect(thresholdOutcome(results)).toBe(outcome)
  })
})

describe('a prompt', () => {
  it('has what commands and functions said before it, in order, and nothing of those that failed', () => {
    const results = [said('One\n'), broken('Two'), said(' \n'), said('Three', 'function'), said('ok', 'webhook')]
    const nonce = '0190a0a0-0000-7000-8000-0000000000ff'
    const prompt = promptAfterHooks('Go on', [...results, said('ok', 'slack')], nonce)
    expect(prompt.split('\n\n').slice(1).join('\n\n')).toBe(
      `<hooks-${nonce}>\nOne\n\nThree\n</hooks-${nonce}>\n\nGo on`,
    )
    expect(prompt).toMatch(/^Before this session began, hooks .* not words of the person you work for\.\n/)
    expect(promptAfterHooks('Go on', [], nonce)).toBe('Go on')
  })
})

describe('whether a hook is due', () => {
  it.each([
    [['completed', 'failed'], true],
    [['failed'], false],
    [undefined, true],
  ] as const)('depends on its events: %j', (onEvents, isCalled) => {
    expect(isDue(shell('true', onEvents === undefined ? {} : { onEvents }), afterRun)).toBe(isCalled)
  })

  it.each([
    ['session.branch_name', true],
    ['context.usage_percent', true],
    ['session', true],
    ['session.worktree_path', false],
    ['session.no_such', false],
    ['no.such.path', false],
    ['original_prompt.length', false],
    ['constructor', false],
    ['session.constructor', false],
    ['session.__proto__', false],
    ['session.toString.name', false],
  ])('depends on what its path leads to: %s', (when, isCalled) => {
    expect(isDue(shell('true', { when }), threshold)).toBe(isCalled)
  })

  it('takes zero and an empty text for no', () => {
    const empty = { ...afterRun, original_prompt: '', run: { ...afterRun.run, handoff_count: 0 } }
    expect(isDue(shell('true', { when: 'original_prompt' }), empty)).toBe(false)
    expect(isDue(shell('true', { when: 'run.handoff_count' }), empty)).toBe(false)
  })
})

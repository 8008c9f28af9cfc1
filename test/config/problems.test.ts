import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runsOf } from '../support/amounts.ts'
import { linesIn, problemsIn } from './checking.ts'

const hook = (given: unknown): object => ({ hooks: { after_run: [given] } })
const ROOT =
  'context_limit, context_restart_threshold, milestones, session, context_monitor, restart, threads, fan_out, commands, redact, hooks, agents, working_directory, workspace, $schema'
const TIME = 'Write one such as 120s, 10m or 2h, or milliseconds.'
const REMAINING = 'Write what must remain: 0.1 restarts when a tenth of the window is left.'
const PERCENT = 'Write a number such as 50. To switch a milestone off, use null under milestones.'
const SOME_TEXT = 'Write some text, in quotes if it looks like a number, or leave it out.'
const ADDRESS = `Write one such as https://example.org/hook, or \${NAME} for a variable.`
const COMMAND = 'it is neither a command line nor a list of words | Write one such as "npm test" or [npm, test].'

describe('what is wrong', () => {
  it.each<readonly [object, string]>([
    [[], ` | a list stands where keys are expected | Known keys: ${ROOT}.`],
    [
      { session: 3 },
      'session | 3 stands where keys are expected | Known keys: context_threshold, context_handoff_threshold, context_restart_threshold, max_handoffs_per_job, mode, timeout.',
    ],
    [
      { milestones: null },
      'milestones | nothing stands where keys are expected | Known keys: warning, critical, restart.',
    ],
    [{ milestones: [] }, 'milestones | the list is empty | Write a list such as [0.5, 0.65, 0.85], or leave it out.'],
    [{ milestones: { warning: 50 } }, 'milestones.warning | 50 is not a fraction | Write 0.5 for 50 %.'],
    [{ milestones: [50, 0.65] }, 'milestones[0] | 50 is not a fraction | Write 0.5 for 50 %.'],
    [
      { milestones: { warning: 0 } },
      'milestones.warning | 0 is not a fraction above 0 and up to 1 | Write a number such as 0.85.',
    ],
    [
      { milestones: { warning: true } },
      'milestones.warning | true is not a fraction above 0 and up to 1 | Write a number such as 0.85.',
    ],
    [
      { milestones: { warning: Number.NaN } },
      'milestones.warning | NaN is not a fraction above 0 and up to 1 | Write a number such as 0.85.',
    ],
    [
      { session: { context_threshold: 10 } },
      'session.context_threshold | 10 is not a fraction | Write 0.1 for 10 % remaining.',
    ],
    [
      { session: { context_threshold: 1 } },
      `session.context_threshold | 1 is not a fraction from 0 up to, but not, 1 | ${REMAINING}`,
    ],
    [
      { session: { context_threshold: null } },
      `session.context_threshold | nothing is not a fraction from 0 up to, but not, 1 | ${REMAINING}`,
    ],
    [
      { session: { max_handoffs_per_job: -1 } },
      'session.max_handoffs_per_job | -1 is not a number of restarts | Write a whole number, 0 or more.',
    ],
    [
      { session: { max_handoffs_per_job: 1.5 } },
      'session.max_handoffs_per_job | 1.5 is not a number of restarts | Write a whole number, 0 or more.',
    ],
    [
      { context_monitor: { enabled: 'yes' } },
      'context_monitor.enabled | "yes" is neither true nor false | Write true or false.',
    ],
    [
      { context_monitor: { warning_percentage: 0.57 } },
      'context_monitor.warning_percentage | 0.57 looks like a fraction | This key takes a percentage: write 57 for 57 %.',
    ],
    [
      { context_monitor: { critical_percentage: 101 } },
      `context_monitor.critical_percentage | 101 is not a percentage above 1 and up to 100 | ${PERCENT}`,
    ],
    [
      { context_monitor: { warning_percentage: null } },
      `context_monitor.warning_percentage | nothing is not a percentage above 1 and up to 100 | ${PERCENT}`,
    ],
    [{ context_limit: '200k' }, 'context_limit | "200k" is not a number of tokens | Write a whole number, 1 or more.'],
    [{ context_limit: 0 }, 'context_limit | 0 is not a number of tokens | Write a whole number, 1 or more.'],
    [{ restart: { policy: 'atuo' } }, 'restart.policy | "atuo" is not known | Use one of: manual, advise, auto.'],
    [{ restart: { policy: 'advice' } }, 'restart.policy | "advice" is not known | Did you mean "advise"?'],
    [
      { restart: { when_exhausted: 'carry on' } },
      'restart.when_exhausted | "carry on" is not known | Did you mean "carry_on"?',
    ],
    [
      { restart: { deadline: 120 } },
      'restart.deadline | 120 is a number of milliseconds, less than a second | Write "120s" for 120 seconds.',
    ],
    [{ restart: { deadline: '2 hours' } }, `restart.deadline | "2 hours" is not a length of time | ${TIME}`],
    [{ restart: { deadline: '0s' } }, `restart.deadline | "0s" is not a length of time | ${TIME}`],
    [{ restart: { deadline: -5000 } }, `restart.deadline | -5000 is not a length of time | ${TIME}`],
    [{ restart: { deadline: '366d' } }, 'restart.deadline | "366d" is too long | Write at most 365d.'],
    [{ restart: { checkpoint_timeout: '25h' } }, 'restart.checkpoint_timeout | "25h" is too long | Write at most 1d.'],
    [
      { commands: { retention: '59m' } },
      'commands.retention | "59m" is too short | Write one such as 7d, at least 1h and at most 365d, or forever.',
    ],
    [
      { commands: { retention: 'never' } },
      'commands.retention | "never" cannot be used | Write one such as 7d, at least 1h and at most 365d, or forever.',
    ],
    [
      { threads: { file: '../CLAUDE.md' } },
      'threads.file | it is not the name of a file in the workspace | Write one such as CLAUDE.local.md.',
    ],
    [
      { threads: { markers: { begin: '<a>', end: '<a>' } } },
      'threads.markers | both markers are the same | Write a pair such as <summary> and </summary>.',
    ],
    [
      { threads: { budget_tokens: 2001 } },
      'threads.budget_tokens | 2001 is too much for a summary | Write 2000 or less.',
    ],
    [
      { threads: { offer_at: 'warnin' } },
      'threads.offer_at | there is no milestone "warnin" | Use one of: warning, critical, restart.',
    ],
    [{ restart: { template: ' ' } }, `restart.template | " " is not a text | ${SOME_TEXT}`],
    [{ workspace: { branch: 7 } }, 'workspace.branch | 7 is not a text | Write the name of a branch, such as main.'],
    [
      { hooks: { on_error: 'x' } },
      'hooks.on_error | "x" is not a list | Write a list such as [{ type: shell, command: npm test }].',
    ],
    [
      hook('npm test'),
      'hooks.after_run[0] | it is not a hook | Write keys, such as type: shell and command: npm test.',
    ],
    [
      hook({ type: 'web_hook', url: 'https://x.org' }),
      'hooks.after_run[0].type | the type of the hook is not known | Did you mean "webhook"?',
    ],
    [
      hook({}),
      'hooks.after_run[0].type | the type of the hook is not known | Use one of: shell, webhook, slack, discord, function.',
    ],
    [hook({ type: 'shell' }), `hooks.after_run[0].command | ${COMMAND}`],
    [hook({ type: 'shell', command: ['npm', 1] }), `hooks.after_run[0].command | ${COMMAND}`],
    [hook({ type: 'shell', command: [] }), `hooks.after_run[0].command | ${COMMAND}`],
    [
      hook({ type: 'webhook', url: 'http://x.org' }),
      `hooks.after_run[0].url | it is not an https address | ${ADDRESS}`,
    ],
    ...['http://127.0.0.1.x.org', 'http://localhost.x.org', 'ftp://localhost'].map((url): [object, string] => [
      hook({ type: 'webhook', url }),
      `hooks.after_run[0].url | it is not an https address | ${ADDRESS}`,
    ]),
    [
      hook({ type: 'webhook', url: 'https://x.org', secret: 'a\nb' }),
      `hooks.after_run[0].secret | it is not a text on one line | Write one line; \${NAME} stands for a variable.`,
    ],
    [hook({ type: 'discord' }), `hooks.after_run[0].url | it is not an https address | ${ADDRESS}`],
    [
      hook({ type: 'webhook', url: 'https://x.org', method: 'GET' }),
      'hooks.after_run[0].method | "GET" is not known | Use one of: POST, PUT, PATCH.',
    ],
    [
      hook({ type: 'webhook', url: 'https://x.org', headers: 1 }),
      'hooks.after_run[0].headers | it is not a section of headers | Write names and values, such as X-Team: core.',
    ],
    [
      hook({ type: 'webhook', url: 'https://x.org', headers: { 'a b': 'c' } }),
      'hooks.after_run[0].headers.a b | it is not the name of a header | Use letters, digits and hyphens.',
    ],
    [
      hook({ type: 'webhook', url: 'https://x.org', headers: { A: 'b\nc' } }),
      `hooks.after_run[0].headers.A | it is not a text on one line | Write one line; \${NAME} stands for a variable.`,
    ],
    [
      hook({ type: 'function' }),
      'hooks.after_run[0].run | it is not a function | Give one from a program; a file cannot hold one.',
    ],
    [
      hook({ type: 'shell', command: 'x', on_events: ['complete'] }),
      'hooks.after_run[0].on_events[0] | "complete" is not known | Did you mean "completed"?',
    ],
    [
      hook({ type: 'shell', command: 'x', on_events: [] }),
      'hooks.after_run[0].on_events | the list is empty | Write a list such as [completed, failed], or leave it out.',
    ],
    [
      hook({ type: 'shell', command: 'x', when: 'a b' }),
      'hooks.after_run[0].when | it is not a dot path | Write names with dots between them, such as session.branch_name.',
    ],
    [
      hook({ type: 'shell', command: 'x', url: 'https://x.org' }),
      'hooks.after_run[0].url | there is no such key | Use one of: type, name, on_events, when, continue_on_error, timeout, command.',
    ],
  ])('is said, and what to do: %j', async (object, expected) => {
    expect(await linesIn(object)).toEqual([expected])
  })

  it.each([
    [{ sesion: {} }, 'sesion', 'Did you mean "session"?'],
    [{ contextMonitor: {} }, 'contextMonitor', 'Did you mean "context_monitor"?'],
    [{ session: { 'context-treshold': 0.1 } }, 'session.context-treshold', 'Did you mean "context_threshold"?'],
    [{ context_threshold: 0.1 }, 'context_threshold', 'Did you mean "session.context_threshold"?'],
    [{ session: { policy: 'auto' } }, 'session.policy', 'Did you mean "restart.policy"?'],
    [{ hooks: { after_runs: [] } }, 'hooks.after_runs', 'Did you mean "after_run"?'],
    [{ banana: 1 }, 'banana', `Use one of: ${ROOT}.`],
  ])('with an unknown key comes the nearest known one: %j', async (object, path, advice) => {
    expect(await problemsIn(object)).toEqual([{ path, problem: 'there is no such key', advice }])
  })

  it('is all reported at once', async () => {
    const object = {
      one: 1,
      two: 2,
      context_limit: 'x',
      restart: { policy: 'x', deadline: 'x', extra: 'x' },
      ...hook({ type: 'shell', comand: 'x', timeout: 'x' }),
    }
    expect((await problemsIn(object)).map(({ path }) => path).toSorted()).toEqual([
      'context_limit',
      'hooks.after_run[0].comand',
      'hooks.after_run[0].command',
      'hooks.after_run[0].timeout',
      'one',
      'restart.deadline',
      'restart.extra',
      'restart.policy',
      'two',
    ])
  })

  it('never shows an address, a header or a secret', async () => {
    const wrong = { url: 'http://user:hidden@x.org', headers: { 'X-Key': 'hidden\n' }, secret: 'hidden\n' }
    const problems = await problemsIn(hook({ type: 'webhook', ...wrong }))
    expect(problems).toHaveLength(3)
    expect(JSON.stringify(problems)).not.toContain('hidden')
  })

  it('is one message for a log as well', async () => {
    await expect(async () => {
      const { readConfiguration } = await import('../../src/entry/index.ts')
      await readConfiguration({ sesion: {} })
    }).rejects.toMatchObject({
      name: 'ConfigurationError',
      code: 'configuration.invalid',
      message: 'The configuration cannot be used.\nsesion: there is no such key. Did you mean "session"?',
    })
  })
})

const KEYS = [
  'session',
  'context_monitor',
  'milestones',
  'restart',
  'hooks',
  'workspace',
  'context_limit',
  'after_run',
  'agents',
  'working_directory',
]
const INNER = [
  'name',
  'runtime',
  'strategy',
  'branch_pattern',
  'context_restart_threshold',
  'context_handoff_threshold',
  'context_threshold',
  'enabled',
  'warning',
  'restart',
  'policy',
  'deadline',
  'type',
  'command',
  '__proto__',
  'constructor',
  'toString',
]

describe('any JSON', () => {
  const anything = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom(null, 0, 0.5, 50, 'shell', 'auto', '10m', [], {}, [0.5, 0.7]),
  )
  const inner = fc.dictionary(fc.oneof(fc.constantFrom(...INNER), fc.string()), fc.oneof(anything, fc.array(anything)))
  const content = fc.dictionary(
    fc.oneof(fc.constantFrom(...KEYS), fc.string()),
    fc.oneof(anything, inner, fc.array(inner)),
  )

  it('is used, or refused with problems that say what to do, and nothing else happens', async () => {
    await fc.assert(
      fc.asyncProperty(content, async (made) => {
        const object = JSON.parse(JSON.stringify(made)) as object
        for (const { problem, advice } of await problemsIn(object)) {
          expect([problem, advice]).toEqual([expect.stringMatching(/\S/), expect.stringMatching(/\S.*[.?]$/)])
        }
      }),
      { numRuns: runsOf(500) },
    )
  })

  it('that names a prototype is refused, and no prototype is touched', async () => {
    for (const text of ['{"__proto__": {"a": 1}}', '{"session": {"__proto__": {"a": 1}}}', '{"constructor": {}}']) {
      expect((await problemsIn(JSON.parse(text) as object)).map(({ problem }) => problem)).toEqual([
        'there is no such key',
      ])
    }
    expect(({} as { a?: unknown }).a).toBeUndefined()
  })
})

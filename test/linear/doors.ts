import { agentSdkReader } from '../../src/adapters/claude/readers/agent-sdk-reader.ts'
import { commandIn, isByClaude } from '../../src/adapters/claude/readers/claude-origin.ts'
import { transcriptReader } from '../../src/adapters/claude/readers/transcript-reader.ts'
import { plain, plainLines, wrapped } from '../../src/adapters/cli/render/text.ts'
import { execReader } from '../../src/adapters/codex/readers/exec-reader.ts'
import { rolloutReader } from '../../src/adapters/codex/readers/rollout-reader.ts'
import { hidingSecrets } from '../../src/adapters/doctor/report-secrets.ts'
import { trimmedPayload } from '../../src/adapters/hook-client/trimmed-payload.ts'
import { capped } from '../../src/adapters/hooks/capped-output.ts'
import { chatText } from '../../src/adapters/hooks/chat-message.ts'
import { jsonDocument } from '../../src/adapters/install/json-document.ts'
import { ownHookIn } from '../../src/adapters/install/own-hook.ts'
import { tomlServerIn } from '../../src/adapters/install/toml-server.ts'
import { safeText, shortAnswer } from '../../src/adapters/mcp/safe-answer.ts'
import { fromStoredText, toStorableText } from '../../src/adapters/postgres/rows/text-codec.ts'
import { citedIn } from '../../src/domain/checkpoint/checkpoint-citation.ts'
import { reviewCheckpoint } from '../../src/domain/checkpoint/checkpoint-review.ts'
import { outlineOf } from '../../src/domain/checkpoint/checkpoint-statement.ts'
import { checkpointIn } from '../../src/domain/checkpoint/checkpoint-text.ts'
import { redactPrompt } from '../../src/domain/checkpoint/fenced-prompt.ts'
import { wordsIn } from '../../src/domain/history/look-back-search.ts'
import { handoffAnswer, thresholdAnswer } from '../../src/domain/hooks/hook-answer.ts'
import { hookContextOf } from '../../src/domain/hooks/hook-prompt.ts'
import { cutText } from '../../src/domain/kernel/cut-text.ts'
import { forTerminal, named, onOneLine } from '../../src/domain/kernel/safe-text.ts'
import { contentOf, hasSummary, heldIn } from '../../src/domain/memory-block/block-content.ts'
import { findBlock } from '../../src/domain/memory-block/marked-text.ts'
import { saysTooLong } from '../../src/domain/run/agent-end.ts'
import { hasLanded } from '../../src/domain/run/soft-landing-text.ts'
import { hideSecrets } from '../../src/domain/secrets/hide-secrets.ts'
import { editedSummary, shorter } from '../../src/domain/summary/summary-budget.ts'
import { plainText } from '../../src/domain/summary/summary-parts.ts'
import { statementsIn } from '../../src/domain/summary/summary-statements.ts'
import { argumentIn, keptArgument } from '../../src/domain/turn/tool-argument.ts'
import type { WindowReader } from '../../src/ports/agent/window-reader.ts'
import { askedWords, wordsOf } from '../../src/ports/store/word-search.ts'
import { sha256 } from '../../src/ports/system/sha256.ts'
import { TextLines } from '../../src/processes/text-lines.ts'

const MARKERS = { begin: '<!-- begin -->', end: '<!-- end -->' }

const readers: Readonly<Record<string, WindowReader>> = { agentSdkReader, transcriptReader, execReader, rolloutReader }

/** The records in which an agent can say a text, as each runtime writes them. */
const records = (text: string): readonly object[] => [
  ...[text, [{ type: 'text', text }], [{ type: 'tool_result', tool_use_id: 't', content: text }]].map((content) => ({
    type: 'user',
    session_id: 's',
    sessionId: 's',
    uuid: 'u',
    message: { role: 'user', content },
  })),
  { type: 'assistant', session_id: 's', sessionId: 's', message: { id: 'm', content: [{ type: 'text', text }] } },
  {
    type: 'assistant',
    session_id: 's',
    message: { id: 'm', content: [{ type: 'tool_use', id: 't', name: 'Bash', input: { command: text } }] },
  },
  { type: 'result', session_id: 's', is_error: true, result: text, errors: [text] },
  { type: 'item.completed', item: { id: 'i', type: 'agent_message', text } },
  { type: 'turn.failed', error: { message: text } },
  ...['user', 'assistant', 'developer'].map((role) => ({
    type: 'response_item',
    payload: { type: 'message', role, content: [{ type: 'input_text', text }] },
  })),
  { type: 'response_item', payload: { type: 'function_call_output', call_id: 'c', output: text } },
]

const readBy = (reader: WindowReader) => (text: string) => {
  for (const record of records(text)) {
    reader.recognises(record)
    reader.read(record)
    reader.words?.(record)
    reader.ending?.(record)
  }
}

const quietly = (work: () => unknown): void => {
  try {
    work()
  } catch {
    // what is refused was read too
  }
}

/**
 * Everything in `src` that takes a text of others apart: each is tried with texts without end. Add yours here, under the name
 * that a failure is to have. Patterns that are written as literals are found and tried without being listed.
 */
export const DOORS: Readonly<Record<string, (text: string) => unknown>> = {
  ...Object.fromEntries(Object.entries(readers).map(([name, reader]) => [name, readBy(reader)])),
  TextLines: (text) => {
    const lines = new TextLines(64 * 1024 * 1024)
    for (let at = 0; at < text.length; at += 65_536) for (const _ of lines.take(text.slice(at, at + 65_536)));
    return [...lines.end()]
  },
  'JSON of a line': (text) => quietly(() => JSON.parse(text)),
  saysTooLong,
  hasLanded,
  argumentIn: (text) => [argumentIn({ command: text }), argumentIn({ patch: text }), keptArgument(text)],
  cutText: (text) => cutText(text, 1_000, sha256),
  checkpointIn,
  'checkpointIn a fence': (text) => checkpointIn(`\`\`\`${text}`),
  outlineOf: (text) => outlineOf(text, new Set()),
  reviewCheckpoint: (text) => reviewCheckpoint(text, { knownCalls: new Set() }),
  citedIn,
  redactPrompt: (text) => redactPrompt(text, { redact: (part) => part, nonce: '0123456789abcdef' }),
  thresholdAnswer,
  handoffAnswer,
  plainText,
  statementsIn,
  'statementsIn a heading': (text) => statementsIn(`# ${text}`),
  editedSummary,
  shorter: (text) => shorter(text, text.length - 1),
  findBlock: (text) => findBlock(text, MARKERS),
  heldIn: (text) => heldIn(text, MARKERS),
  contentOf: (summary) =>
    contentOf({ threadKey: 'k', sourceThreadId: 's', expiresAt: new Date(0) as never, summary } as never, MARKERS),
  hasSummary,
  hideSecrets: (text) => hideSecrets(text, { values: ['known to be secret'] }),
  isOwnPrompt: (text) => [isByClaude(text), commandIn(text)],
  trimmedPayload: (text) => trimmedPayload('user-prompt-submit', { prompt: text, cwd: text }),
  hookContextOf: (text) => hookContextOf([{ stdout: text } as never], { nonce: '0123456789abcdef', around: text }),
  onOneLine,
  named,
  plain,
  plainLines,
  forTerminal,
  wrapped: (text) => wrapped(text, 80),
  safeText,
  shortAnswer: (text) => shortAnswer(text),
  chatText: (text) => chatText(text, {}),
  capped: (text) => capped(text),
  hidingSecrets: hidingSecrets([]),
  toStorableText: (text) => fromStoredText(toStorableText(text)),
  wordsOf: (text) => [wordsOf(text), askedWords(text), wordsIn(text)],
  jsonDocument: (text) => quietly(() => jsonDocument(`{"a": "${text}`)),
  tomlServerIn: (text) => quietly(() => tomlServerIn(text)),
  ownHookIn,
}

/** Texts to repeat without end; those of a pattern are made from the pattern. */
export const PUMPS: readonly string[] = [
  ...[
    ' ',
    '\t',
    '\n',
    '\r\n',
    '\r',
    '\u2028',
    'a',
    'A',
    '0',
    '-',
    '=',
    '_',
    '*',
    '#',
    '`',
    '~',
    '.',
    ',',
    ':',
    '"',
    "'",
  ],
  ...[
    '\\',
    '/',
    '<',
    '>',
    '[',
    ']',
    '{',
    '}',
    '(',
    '@',
    '$',
    '\ufffd',
    '\u0000',
    '\ud83d\ude00',
    '\ud83d',
    '\u200d',
    'e\u0301',
  ],
  ...[
    '. ',
    '# \n',
    '- a\n',
    '- [ ] a. b\n',
    '```\n',
    '````\na\n',
    '**a** ',
    '<checkpoint>',
    '</checkpoint>',
    '[call:a]',
  ],
  ...[
    '[a](b) ',
    '<a>',
    '<!-- batonpass thread=',
    '<!-- begin -->',
    'x hook ',
    '[a]\n',
    'a = [\n',
    'https://a:',
    '[[',
    '{"a":',
  ],
  ...[
    '<system-reminder>',
    '<command-args>',
    '<system-reminder></system-reminder>',
    '*** Add File: a\n',
    'Goal:\n',
    '# Goal\n',
  ],
  ...[
    'sk-',
    'AKIA',
    'password=',
    'a_token: "',
    'password="a1b2c3d4e5" ',
    'A_KEY=',
    '--token ',
    ' -u a:',
    '[hidden:key]',
  ],
  ...[
    'authorization: ',
    'bearer a1',
    'cookie: ',
    'eyJ.',
    '://a:',
    '://a:b@',
    'hooks.slack.com/services/',
    '12345678:AA',
  ],
  ...['-----BEGIN PRIVATE KEY-----', '-----END PRIVATE KEY-----', '-----BEGIN ', 'known to be secret', '\ufe0f'],
]

/** Patterns that are made at run time cannot be read from the source: the door behind which each is tried, or why it need not be. */
export const MADE: Readonly<Record<string, string>> = {
  'adapters/claude/readers/claude-origin.ts': 'agentSdkReader',
  'adapters/hooks/chat-message.ts': 'chatText',
  'adapters/install/edits.ts': 'no text of others: names of our own files, escaped',
  'adapters/postgres/health/schema-drift.ts': 'no text of others: definitions that the server wrote',
  'adapters/postgres/health/schema-repair.ts': 'no text of others: our own migrations',
  'adapters/postgres/migrate/sql-statements.ts': 'no text of others: our own migrations',
  'adapters/postgres/rows/text-codec.ts': 'toStorableText',
  'domain/checkpoint/fenced-prompt.ts': 'redactPrompt',
  'domain/hooks/hook-prompt.ts': 'hookContextOf',
  'domain/kernel/safe-text.ts': 'onOneLine',
  'domain/secrets/hidden-text.ts': 'hideSecrets',
  'domain/secrets/key-formats.ts': 'hideSecrets',
  'domain/secrets/redaction-settings.ts': "no text of others: it tries a person's own pattern with no text",
  'domain/secrets/runs.ts': 'hideSecrets',
  'domain/secrets/secret-values.ts': 'hideSecrets',
  'domain/turn/only-tags.ts': 'agentSdkReader',
  'ports/store/word-search.ts': 'wordsOf',
}

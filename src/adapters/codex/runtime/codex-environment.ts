import { homedir } from 'node:os'
import { join } from 'node:path'
import type { CodexOptions } from './codex-sdk.ts'

/** Where Codex runs: the environment it is given, and the folder it keeps its threads in. */
export interface CodexPlace {
  readonly codex: CodexOptions
  readonly home: string
}

/** Variables that a program needs on any system. Keys and tokens are not among them. */
const HARMLESS: readonly string[] = [
  ...['PATH', 'HOME', 'CODEX_HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TERM', 'TZ', 'TMPDIR'],
  ...[
    'HTTP_PROXY',
    'HTTPS_PROXY',
    'NO_PROXY',
    'http_proxy',
    'https_proxy',
    'no_proxy',
    'SSL_CERT_FILE',
    'SSL_CERT_DIR',
  ],
  ...['XDG_CONFIG_HOME', 'XDG_CACHE_HOME', 'XDG_DATA_HOME', 'XDG_RUNTIME_DIR'],
  ...['SystemRoot', 'SystemDrive', 'ComSpec', 'PATHEXT', 'TEMP', 'TMP', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA'],
]

/**
 * Decides where Codex runs. The SDK would pass on all of our own environment when it is given none, secrets included,
 * so it is always given one.
 */
export const placeOf = (
  given: CodexOptions = {},
  home: string | undefined = undefined,
  own: NodeJS.ProcessEnv = process.env,
): CodexPlace => {
  const inherited = given.env ?? harmlessIn(own)
  // A home that only we knew of would be one where Codex writes nothing.
  const env = home === undefined ? inherited : { ...inherited, CODEX_HOME: home }
  return { codex: { ...given, env }, home: env.CODEX_HOME || join(env.HOME || env.USERPROFILE || homedir(), '.codex') }
}

/** Without addresses that hold a password, as those of proxies may. */
const harmlessIn = (own: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    HARMLESS.map((name) => [name, own[name] ?? ''] as const).filter(
      ([, value]) => value !== '' && !/:\/\/[^/]*@/.test(value),
    ),
  )

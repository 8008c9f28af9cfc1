import type { CheckedConfiguration } from '../../../domain/run/run-configuration.ts'
import { type Batonpass, createBatonpass } from '../../../main/batonpass.ts'
import { openMigrator, openStore } from '../../../main/open-store.ts'
import type { BatonpassOptions, StoreOptions } from '../../../main/options.ts'
import type { Redactor } from '../../../main/redaction.ts'
import type { Store } from '../../../ports/store/store.ts'
import type { Logger } from '../../../ports/system/logger.ts'
import type { AuditService } from '../../../services/audit/audit-service.ts'
import type { HandoffHistory } from '../../../services/history/handoff-history.ts'
import type { Invocation } from '../invocation/invocation.ts'
import { plain } from '../render/text.ts'
import { lineLogger } from '../terminal/line-logger.ts'
import { textFlag } from './flag-values.ts'
import { redactorIn, sayHidden } from './hidden-secrets.ts'
import { type StoreUse, storeFor } from './store-options.ts'

/** The library on a store, and the redactor that hides secrets in what it records and in what is shown. */
export interface OpenedBatonpass {
  readonly batonpass: Batonpass
  readonly redactor: Redactor
}

/** The parts of a store that a command may open. Each loads only what it is made of. */
export interface StoreParts {
  /** The store itself, for what the history does not answer. */
  readonly store: { readonly store: Store }
  /** Questions about what happened. */
  readonly history: { readonly history: HandoffHistory }
  /** The same, and the audit log. */
  readonly audit: { readonly history: HandoffHistory; readonly audit: AuditService }
  /** The schema, whatever stands there: it is migrated and not read. */
  readonly schema: Awaited<ReturnType<typeof openMigrator>>
  /** The library for a command that plays scripted words: no configuration counts, and there is nothing to hide. */
  readonly scripted: { readonly batonpass: Batonpass }
  /** The library for a command that records what it reads: secrets in it are hidden. */
  readonly recorder: OpenedBatonpass
  /** The library as the configuration says. Warnings go to the notes, and at the end how much was hidden. */
  readonly threads: OpenedBatonpass
  /** The library as the configuration says, with hooks and the networks they may reach. `--verbose` shows its log. */
  readonly runner: OpenedBatonpass
}

/** The parts that a command wants opened. */
export interface StoreWanted<Part extends keyof StoreParts> extends StoreUse {
  readonly part: Part
  /** The store, where the command has chosen it before. */
  readonly chosen?: StoreOptions
  /** The configuration that the flags name, as the command has read it. */
  readonly checked?: CheckedConfiguration | undefined
  /** How long a change of the schema waits for tables that others use. */
  readonly lockWaitMs?: number | undefined
}

/** Everything there is to open a part with. The store is chosen when it is opened: what is wrong before that, says so first. */
interface Opening {
  readonly invocation: Invocation
  readonly wanted: StoreWanted<keyof StoreParts>
  readonly choose: () => StoreOptions
}

type Closing<Parts> = Parts & AsyncDisposable

/**
 * Opens the store that the flags choose, or the part of it that a command needs: the only way in which commands do.
 * Warnings of the store go to the notes, the program is told which store it is, and leaving the block closes everything.
 */
export const openFor = <Part extends keyof StoreParts>(
  invocation: Invocation,
  wanted: StoreWanted<Part>,
): Promise<Closing<StoreParts[Part]>> => {
  const { chosen, to } = wanted
  const choose = (): StoreOptions =>
    chosen === undefined ? storeFor(invocation, wanted) : { ...chosen, ...(to === 'read' && { mustExist: true }) }
  return OPENERS[wanted.part]({ invocation, wanted, choose })
}

const OPENERS: { readonly [Part in keyof StoreParts]: (opening: Opening) => Promise<Closing<StoreParts[Part]>> } = {
  store: async ({ choose }) => {
    const store = await openStore(choose())
    return closing({ store }, store)
  },
  history: async ({ choose }) => {
    const History = await historyClass()
    const store = await openStore(choose())
    return closing({ history: new History({ store }) }, store)
  },
  audit: async ({ choose }) => {
    const [History, { AuditService: Audit }, { sha256 }] = await Promise.all([
      historyClass(),
      import('../../../services/audit/audit-service.ts'),
      import('../../../ports/system/sha256.ts'),
    ])
    const store = await openStore(choose())
    return closing({ history: new History({ store }), audit: new Audit({ store, sha256 }) }, store)
  },
  schema: async ({ choose, wanted: { lockWaitMs } }) =>
    openMigrator({ ...choose(), ...(lockWaitMs !== undefined && { lockWaitMs }) }),
  scripted: async ({ choose }) => {
    const batonpass = await createBatonpass(choose())
    return closing({ batonpass }, batonpass)
  },
  recorder: async (opening) => {
    const redactor = await redactorIn(opening.invocation)
    return opened(opening, redactor, {})
  },
  threads: async (opening) => {
    const { invocation, wanted } = opening
    const redactor = await redactorIn(invocation, wanted.checked)
    const found = await opened(opening, redactor, {
      ...configured(invocation),
      logger: await redacted(warningsOnly(invocation), redactor),
    })
    return closing(found, {
      [Symbol.asyncDispose]: async () => {
        sayHidden(invocation, redactor)
        await found[Symbol.asyncDispose]()
      },
    })
  },
  runner: async (opening) => {
    const { invocation, wanted } = opening
    const { allowedNetworks } = await import('./network-flags.ts')
    const redactor = await redactorIn(invocation, wanted.checked)
    const allowNetworks = allowedNetworks(invocation)
    const isVerbose = invocation.values.verbose === true
    return opened(opening, redactor, {
      ...configured(invocation),
      ...(isVerbose && { logger: await redacted(lineLogger(invocation.notes), redactor) }),
      ...(allowNetworks && { allowNetworks }),
    })
  },
}

/** Loaded by the commands that ask it, and by no others. */
const historyClass = async () => (await import('../../../services/history/handoff-history.ts')).HandoffHistory

const closing = <Parts extends object>(parts: Parts, what: AsyncDisposable): Closing<Parts> => ({
  ...parts,
  [Symbol.asyncDispose]: () => what[Symbol.asyncDispose](),
})

const opened = async (
  { choose }: Opening,
  redactor: Redactor,
  options: BatonpassOptions & { readonly config?: string },
): Promise<Closing<OpenedBatonpass>> => {
  const batonpass = await createBatonpass({ ...choose(), ...options, redact: redactor.redact })
  return closing({ batonpass, redactor }, batonpass)
}

/** The file with the agents is a whole configuration too. */
const configured = (invocation: Invocation): { readonly config?: string } => {
  const config = textFlag(invocation, 'agents') ?? textFlag(invocation, 'config')
  return config === undefined ? {} : { config }
}

const redacted = async (logger: Logger, { redactAll }: Redactor): Promise<Logger> =>
  (await import('../../../services/commands/safe-logger.ts')).redactedLogger(logger, redactAll)

/** A log for people who asked for none: they are shown what may need them. */
const warningsOnly = ({ notes }: Invocation): Logger => {
  const quiet = (): void => {}
  const warn: Logger['warn'] = (fields, message) =>
    notes.line(`Warning: ${plain(message)} (${plain(Object.values(fields).map(String).join(', '))})`)
  return { debug: quiet, info: quiet, warn, error: warn }
}
